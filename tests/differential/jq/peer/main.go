// Answers what gojq makes of a query: one JSON line in, one JSON line out.
//
// A question is {"query", "input", "zone"}: the input is JSON text, the zone the name of the local time zone. The answer
// has the outputs with their types, what gojq prints for each, and the error with its class; see answers.go. Bounded:
// so many outputs, so much time, so much memory. What cannot be stopped (one call of a native function that never comes
// back) ends the process, and whoever asked starts it again.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"log"
	"os"
	"runtime"
	"sync/atomic"
	"time"
	_ "time/tzdata"

	"github.com/itchyny/gojq"
)

const (
	mostOutputs = 100
	patience    = 500 * time.Millisecond
	hardStop    = 3 * time.Second
	mostMemory  = 1 << 30
	mostVisits  = 200_000
	mostLevels  = 200
)

type question struct {
	Query string `json:"query"`
	Input string `json:"input"`
	Zone  string `json:"zone"`
}

func main() {
	asked := new(atomic.Int64)
	go watch(asked)
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asking question
		if err := json.Unmarshal(line, &asking); err != nil {
			log.Fatal(err)
		}
		asked.Store(time.Now().UnixNano())
		body, err := json.Marshal(answerTo(asking))
		if err != nil {
			log.Fatal(err)
		}
		asked.Store(0)
		if _, err := out.Write(append(body, '\n')); err != nil {
			log.Fatal(err)
		}
		// At once: what ends the process must not take an answer with it.
		if err := out.Flush(); err != nil {
			log.Fatal(err)
		}
	}
}

// watch ends the process when a question takes too long or too much memory to be stopped otherwise.
func watch(asked *atomic.Int64) {
	var memory runtime.MemStats
	for range time.Tick(50 * time.Millisecond) {
		since := asked.Load()
		if since != 0 && time.Now().UnixNano()-since > int64(hardStop) {
			os.Exit(3)
		}
		if runtime.ReadMemStats(&memory); memory.HeapAlloc > mostMemory {
			os.Exit(4)
		}
	}
}

func answerTo(asking question) (given answer) {
	defer func() {
		if fault := recover(); fault != nil {
			given = answer{Class: "panic"}
		}
	}()
	zone, err := time.LoadLocation(asking.Zone)
	if err != nil {
		log.Fatal(err)
	}
	time.Local = zone
	query, err := gojq.Parse(asking.Query)
	if err != nil {
		return answer{Class: "parse", Error: written(err.Error())}
	}
	code, err := gojq.Compile(query)
	if err != nil {
		return answer{Class: "compile", Error: written(err.Error())}
	}
	ctx, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	return collected(code.RunWithContext(ctx, inputOf(asking.Input)))
}

func collected(outputs gojq.Iter) answer {
	given := answer{Class: "ended", Outputs: []any{}, Texts: []any{}}
	for {
		value, more := outputs.Next()
		if !more {
			return given
		}
		if fault, failed := value.(error); failed {
			return given.failed(fault)
		}
		if len(given.Outputs) == mostOutputs {
			given.Class = "more"
			return given
		}
		if tooLarge(value) {
			given.Class = "large"
			return given
		}
		given.add(value)
	}
}
