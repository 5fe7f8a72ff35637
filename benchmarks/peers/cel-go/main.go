// Command cel-go-peer evaluates expressions over ManagedClusters the way Kubernetes does: constants folded, cost
// counted, a cost limit of 1,000,000, interruption checked. It reads {"expressions": {...}, "clusters": [...],
// "scores": [...]} from the file named by its argument and prints, as JSON, microseconds of CPU time per evaluation
// and how many clusters matched, for every expression. benchmarks/cel.py runs it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"syscall"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/ext"
	"k8s.io/apiserver/pkg/cel/library"
)

const (
	costLimit = 1000000
	chunk     = 1000 // clusters; the best pass over each chunk counts
	repeats   = 7
)

type input struct {
	Expressions map[string]string `json:"expressions"`
	Clusters    []map[string]any  `json:"clusters"`
}

type result struct {
	Micros  float64 `json:"micros"`
	Matches int     `json:"matches"`
	Error   string  `json:"error,omitempty"`
}

func cpu() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	seconds := func(t syscall.Timeval) float64 { return float64(t.Sec) + float64(t.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}

func scores(args ...ref.Val) ref.Val {
	cluster, ok := args[0].(traits.Mapper)
	if !ok {
		return types.NewErr("no such overload")
	}
	all, found := cluster.Find(types.String("@scores"))
	if !found {
		return types.NewErr("no scores")
	}
	return all.(traits.Mapper).Get(args[1])
}

func parseJSON(arg ref.Val) ref.Val {
	var value any
	if err := json.Unmarshal([]byte(arg.(types.String)), &value); err != nil {
		return types.NewErr("failed to parse json: %v", err)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

func environment() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable("managedCluster", cel.MapType(cel.StringType, cel.DynType)),
		cel.OptionalTypes(),
		ext.Strings(ext.StringsVersion(2)),
		library.Lists(), library.Regex(), library.URLs(), library.Quantity(),
		library.SemverLib(library.SemverVersion(1)),
		cel.Function("scores", cel.MemberOverload("cluster_scores",
			[]*cel.Type{cel.DynType, cel.StringType}, cel.ListType(cel.DynType), cel.FunctionBinding(scores))),
		cel.Function("parseJSON", cel.MemberOverload("parse_json_string",
			[]*cel.Type{cel.StringType}, cel.DynType, cel.UnaryBinding(parseJSON))),
	)
}

func measure(env *cel.Env, expression string, clusters []map[string]any) result {
	ast, issues := env.Compile(expression)
	if issues != nil && issues.Err() != nil {
		return result{Error: issues.Err().Error()}
	}
	program, err := env.Program(ast,
		cel.EvalOptions(cel.OptOptimize, cel.OptTrackCost),
		cel.CostLimit(costLimit),
		cel.CostTracking(&library.CostEstimator{}),
		cel.InterruptCheckFrequency(100),
	)
	if err != nil {
		return result{Error: err.Error()}
	}
	chunks := (len(clusters) + chunk - 1) / chunk
	best := make([]float64, chunks)
	matches := 0
	for repeat := 0; repeat < repeats; repeat++ {
		matches = 0
		for index := range best {
			started := cpu()
			for _, cluster := range clusters[index*chunk : min((index+1)*chunk, len(clusters))] {
				value, _, err := program.ContextEval(context.Background(), map[string]any{"managedCluster": cluster})
				if err == nil && value == types.True {
					matches++
				}
			}
			if took := cpu() - started; repeat == 0 || took < best[index] {
				best[index] = took
			}
		}
	}
	total := 0.0
	for _, took := range best {
		total += took
	}
	return result{Micros: total / float64(len(clusters)) * 1e6, Matches: matches}
}

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var in input
	if err := json.Unmarshal(text, &in); err != nil {
		panic(err)
	}
	env, err := environment()
	if err != nil {
		panic(err)
	}
	results := map[string]result{}
	for name, expression := range in.Expressions {
		results[name] = measure(env, expression, in.Clusters)
	}
	encoded, err := json.Marshal(results)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(encoded))
}
