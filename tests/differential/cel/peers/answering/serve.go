// Package answering is what the peers of tests/differential/cel share: it reads one question per line, compiles and
// evaluates the expression with the real cel-go in the environment asked for, and prints one answer per line. It does
// not know which environments there are; each peer brings its own, with the versions of the modules it was built from.
package answering

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
)

const patience = 10 * time.Second

// Environment is what a peer offers under one name. Without an Estimator nothing is estimated.
type Environment struct {
	Env       *cel.Env
	Options   []cel.ProgramOption
	Estimator checker.CostEstimator
}

// Maker makes an environment with the variables of the world declared.
type Maker func(world *World) (*Environment, error)

type question struct {
	Environment string `json:"environment"`
	Expression  string `json:"expression"`
	Set         int    `json:"set"`
}

type answer struct {
	Issues   *string    `json:"issues,omitempty"`   // the expression does not compile
	Creation *string    `json:"creation,omitempty"` // it compiles, and no program can be made of it
	Type     string     `json:"type,omitempty"`
	Value    any        `json:"value,omitempty"`
	Error    *string    `json:"error,omitempty"`
	Cost     *uint64    `json:"cost,omitempty"`
	Estimate *[2]uint64 `json:"estimate,omitempty"`
	Panic    string     `json:"panic,omitempty"`
}

// Serve answers until its input ends. The only argument of the program names the file with the world.
func Serve(makers map[string]Maker) {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "give the file with variables, values and sizes")
		os.Exit(2)
	}
	world, err := readWorld(os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	made := map[string]*Environment{}
	input := bufio.NewReaderSize(os.Stdin, 1<<20)
	output := bufio.NewWriter(os.Stdout)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked question
		if err := json.Unmarshal(line, &asked); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		environment := made[asked.Environment]
		if environment == nil {
			maker := makers[asked.Environment]
			if maker == nil {
				fmt.Fprintln(os.Stderr, "no environment", asked.Environment)
				os.Exit(2)
			}
			if environment, err = maker(world); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(2)
			}
			made[asked.Environment] = environment
		}
		encoded, err := json.Marshal(respond(environment, asked.Expression, world.Sets[asked.Set]))
		if err != nil {
			encoded, _ = json.Marshal(answer{Panic: "cannot be written: " + err.Error()})
		}
		output.Write(encoded)
		output.WriteByte('\n')
		if input.Buffered() == 0 {
			output.Flush()
		}
	}
}

func respond(environment *Environment, expression string, variables map[string]any) (given answer) {
	defer func() {
		if fault := recover(); fault != nil {
			given.Panic = fmt.Sprint(fault) // with whatever was known before: type and estimate
		}
	}()
	ast, issues := environment.Env.Compile(expression)
	if issues != nil && issues.Err() != nil {
		text := issues.Err().Error()
		return answer{Issues: &text}
	}
	given.Type = ast.OutputType().String()
	if environment.Estimator != nil {
		if cost, err := environment.Env.EstimateCost(ast, environment.Estimator); err == nil {
			given.Estimate = &[2]uint64{cost.Min, cost.Max}
		}
	}
	program, err := environment.Env.Program(ast, environment.Options...)
	if err != nil {
		text := err.Error()
		given.Creation = &text
		return given
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	value, details, err := program.ContextEval(ctx, variables)
	if details != nil {
		given.Cost = details.ActualCost()
	}
	if err != nil {
		text := err.Error()
		given.Error = &text
		return given
	}
	given.Value = encode(value)
	return given
}
