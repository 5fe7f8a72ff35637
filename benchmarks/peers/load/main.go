// A client that puts load on an API server over HTTPS and says what it got: rates, times, delays of events, and whether
// anything that was acknowledged is missing.
//
// It reads a job as one line of JSON, gets ready and prints "ready". The next line makes it begin. When it is done it
// prints the outcome as one line of JSON. Whoever starts it measures the server between these two.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Job is what to do, and where.
type Job struct {
	Address   string   `json:"address"`
	Authority string   `json:"authority"`
	Token     string   `json:"token"`
	Work      string   `json:"work"`    // create, status, renew, get, list or churn
	Path      string   `json:"path"`    // of the collection
	Prefix    string   `json:"prefix"`  // of the names of objects
	Bodies    []string `json:"bodies"`  // objects to create: NAME and TICK are filled in
	Clients   int      `json:"clients"` // connections that send
	Watchers  int      `json:"watchers"`
	Rate      float64  `json:"rate"` // requests a second altogether; 0 is as many as there can be
	Seconds   float64  `json:"seconds"`
	Count     int      `json:"count"`  // requests of each client, in place of seconds
	Settle    float64  `json:"settle"` // seconds that events may take after the last answer

	parts [][2]string
}

// Outcome is what came of it. Times are in milliseconds.
type Outcome struct {
	Answers  int     `json:"answers"`
	Errors   int     `json:"errors"`
	Problem  string  `json:"problem"`
	Seconds  float64 `json:"seconds"`
	P50      float64 `json:"p50"`
	P99      float64 `json:"p99"`
	Least    float64 `json:"least"`
	Bytes    int     `json:"bytes"` // of the last answer
	Events   int64   `json:"events"`
	Missing  int64   `json:"missing"` // events that a watcher should have got and has not
	Disorder int64   `json:"disorder"`
	Again    int64   `json:"again"` // connections of watchers that were lost and opened again
	DelayP50 float64 `json:"delay_p50"`
	DelayP99 float64 `json:"delay_p99"`
	Lost     int     `json:"lost"` // acknowledged, and not there
	CPU      float64 `json:"cpu"`  // seconds that this client took
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run() error {
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	job := &Job{}
	line, err := input.ReadBytes('\n')
	if err != nil {
		return err
	}
	if err := json.Unmarshal(line, job); err != nil {
		return err
	}
	for _, body := range job.Bodies {
		head, tail, _ := strings.Cut(body, "NAME")
		job.parts = append(job.parts, [2]string{head, tail})
	}
	server, err := newServer(job)
	if err != nil {
		return err
	}
	clients, watchers, watching, err := prepared(job, server)
	if err != nil {
		return err
	}
	fmt.Println("ready")
	if _, err := input.ReadBytes('\n'); err != nil {
		return err
	}
	before := cpu()
	outcome := worked(job, clients, watchers)
	for _, watcher := range watchers {
		watcher.end()
	}
	watching.Wait()
	for _, watcher := range watchers {
		outcome.Disorder += watcher.disorder
		outcome.Again += watcher.again
		if watcher.problem != "" && !strings.Contains(watcher.problem, "closed") {
			outcome.Problem = watcher.problem
		}
	}
	outcome.delays(watchers)
	outcome.CPU = cpu() - before
	if job.Work == "renew" {
		now, err := listed(server, job.Path)
		if err != nil {
			return err
		}
		outcome.Lost = lost(clients, now)
	}
	return json.NewEncoder(os.Stdout).Encode(outcome)
}

// prepared opens all connections, and begins to watch.
func prepared(job *Job, server *Server) ([]*Client, []*Watcher, *sync.WaitGroup, error) {
	clients := make([]*Client, job.Clients)
	for number := range clients {
		connection, err := connect(server)
		if err != nil {
			return nil, nil, nil, err
		}
		clients[number] = &Client{job: job, number: number, connection: connection}
	}
	watching := &sync.WaitGroup{}
	if job.Work == "create" || job.Work == "churn" && job.Watchers == 0 {
		return clients, nil, watching, nil
	}
	now, err := listed(server, job.Path+"?limit=2000") // by name: those that it looks after come first
	if err != nil {
		return nil, nil, nil, err
	}
	for which, item := range now.Items {
		if !strings.HasPrefix(item.Metadata.Name, job.Prefix) {
			continue
		}
		client := clients[which%len(clients)]
		client.names = append(client.names, item.Metadata.Name)
		client.revisions = append(client.revisions, item.Metadata.ResourceVersion)
		client.renewed = append(client.renewed, "")
	}
	for _, client := range clients {
		if len(client.names) == 0 && job.Work != "list" && job.Work != "churn" {
			return nil, nil, nil, fmt.Errorf("too few objects are named %s…", job.Prefix)
		}
	}
	watchers := make([]*Watcher, job.Watchers)
	opened := make(chan error, 1)
	for which := range watchers {
		watcher := &Watcher{server: server, path: job.Path, prefix: []byte(job.Prefix)}
		watcher.revision = number([]byte(now.Metadata.ResourceVersion))
		watchers[which] = watcher
		watching.Add(1)
		go watcher.run(opened, watching.Done)
		if err := <-opened; err != nil {
			return nil, nil, nil, err
		}
	}
	return clients, watchers, watching, nil
}

// worked has every client send until its time is over, and waits for the events.
func worked(job *Job, clients []*Client, watchers []*Watcher) *Outcome {
	outcome := &Outcome{}
	started := time.Now()
	until := started.Add(time.Duration(job.Seconds * 1e9))
	var sending sync.WaitGroup
	for number, client := range clients {
		sending.Add(1)
		go func() {
			defer sending.Done()
			pace := pacer{due: started}
			if job.Rate > 0 {
				pace.pause = time.Duration(float64(len(clients)) / job.Rate * 1e9)
				pace.due = started.Add(time.Duration(float64(number) / job.Rate * 1e9))
			}
			for count := 0; ; count++ {
				pace.wait()
				if job.Count > 0 && count >= job.Count || job.Count == 0 && !time.Now().Before(until) {
					return
				}
				client.one()
			}
		}()
	}
	sending.Wait()
	outcome.Seconds = time.Since(started).Seconds()
	var latencies []int32
	changes := int64(0)
	for _, client := range clients {
		outcome.Answers += client.answers
		outcome.Errors += client.errors
		outcome.Bytes = len(client.connection.answer)
		changes += int64(client.changes)
		latencies = append(latencies, client.latencies...)
		if client.problem != "" {
			outcome.Problem = client.problem
		}
	}
	outcome.P50, outcome.P99 = quantiles(latencies)
	if len(latencies) > 0 {
		outcome.Least = float64(latencies[0]) / 1000
	}
	settled(job, watchers, changes, outcome)
	return outcome
}

// settled waits until every watcher has seen every change, as long as that may take.
func settled(job *Job, watchers []*Watcher, changes int64, outcome *Outcome) {
	until := time.Now().Add(time.Duration(job.Settle * 1e9))
	for {
		outcome.Events, outcome.Missing = 0, 0
		for _, watcher := range watchers {
			seen := watcher.events.Load()
			outcome.Events += seen
			outcome.Missing += max(0, changes-seen)
		}
		if outcome.Missing == 0 || time.Now().After(until) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func (o *Outcome) delays(watchers []*Watcher) {
	var all []int32
	for _, watcher := range watchers {
		all = append(all, watcher.delays...)
	}
	o.DelayP50, o.DelayP99 = quantiles(all)
}

// quantiles sorts microseconds and gives two of them in milliseconds.
func quantiles(values []int32) (float64, float64) {
	if len(values) == 0 {
		return 0, 0
	}
	sort.Slice(values, func(one, other int) bool { return values[one] < values[other] })
	at := func(share float64) float64 { return float64(values[int(float64(len(values)-1)*share)]) / 1000 }
	return at(0.5), at(0.99)
}

func cpu() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return 0
	}
	seconds := func(value syscall.Timeval) float64 { return float64(value.Sec) + float64(value.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
