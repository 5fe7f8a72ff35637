// Command olm answers what the Operator Lifecycle Manager makes of catalogs, subscriptions and constraints.
//
// One question per line: a resolution, or the text of one olm.constraint. Catalogs reach the published resolver through
// its own registry source, so bundles become entries by its code; what is installed is a virtual source, as the
// cluster's is. The resolver takes its input in the random order of a Go map, so a resolution is run several times.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/operator-framework/api/pkg/constraints"
)

type question struct {
	Resolve    *resolution `json:"resolve"`
	Constraint *string     `json:"constraint"`
	Runs       int         `json:"runs"`
}

type outcome struct {
	Installed []installed `json:"installed,omitempty"`
	Kind      string      `json:"kind,omitempty"` // NotSatisfiable, InputError
	Text      string      `json:"text,omitempty"`
	Reasons   []string    `json:"reasons,omitempty"` // the sentences of NotSatisfiable
}

type answer struct {
	Outcomes   []outcome               `json:"outcomes,omitempty"` // one per run
	Constraint *constraints.Constraint `json:"constraint,omitempty"`
	Error      string                  `json:"error,omitempty"`
	Panic      string                  `json:"panic,omitempty"`
	Unanswered string                  `json:"unanswered,omitempty"`
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := bufio.NewWriter(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		body, err := json.Marshal(answered(line))
		if err != nil {
			body, _ = json.Marshal(answer{Unanswered: err.Error()})
		}
		_, _ = out.Write(append(body, '\n'))
		if lines.Buffered() == 0 {
			_ = out.Flush()
		}
	}
}

func answered(line []byte) (result answer) {
	defer func() {
		if cause := recover(); cause != nil {
			result = answer{Panic: fmt.Sprint(cause)}
		}
	}()
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return answer{Unanswered: err.Error()}
	}
	switch {
	case asked.Constraint != nil:
		parsed, err := constraints.Parse(json.RawMessage(*asked.Constraint))
		if err != nil {
			return answer{Error: err.Error()}
		}
		return answer{Constraint: &parsed}
	case asked.Resolve != nil:
		return answer{Outcomes: asked.Resolve.run(max(asked.Runs, 1))}
	default:
		return answer{Unanswered: "neither a resolution nor a constraint"}
	}
}
