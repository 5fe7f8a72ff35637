// Runs queries over a file of agents with gojq: every query compiled once, every agent decoded before the clock starts.
// Started by benchmarks/jq.py: `peer agents.ndjson < queries.json`. Prints microseconds, matches and errors as JSON.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"syscall"

	"github.com/itchyny/gojq"
)

// cpuMicroseconds is the processor time of the whole process, garbage collection included.
func cpuMicroseconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		log.Fatal(err)
	}
	total := func(t syscall.Timeval) float64 { return float64(t.Sec)*1e6 + float64(t.Usec) }
	return total(usage.Utime) + total(usage.Stime)
}

func main() {
	var queries map[string]string
	if err := json.NewDecoder(os.Stdin).Decode(&queries); err != nil {
		log.Fatal(err)
	}
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	var agents []any
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var agent any
		if err := json.Unmarshal(lines.Bytes(), &agent); err != nil {
			log.Fatal(err)
		}
		agents = append(agents, agent)
	}
	results := map[string][3]float64{}
	for name, text := range queries {
		query, err := gojq.Parse(text)
		if err != nil {
			log.Fatal(err)
		}
		code, err := gojq.Compile(query)
		if err != nil {
			log.Fatal(err)
		}
		var best [3]float64
		for round := 0; round < 3; round++ {
			var yes, failed float64
			start := cpuMicroseconds()
			for _, agent := range agents {
				value, _ := code.Run(agent).Next()
				if _, bad := value.(error); bad {
					failed++
				} else if value == true {
					yes++
				}
			}
			took := (cpuMicroseconds() - start) / float64(len(agents))
			if round == 0 || took < best[0] {
				best = [3]float64{took, yes, failed}
			}
		}
		results[name] = best
	}
	if err := json.NewEncoder(os.Stdout).Encode(results); err != nil {
		log.Fatal(err)
	}
}
