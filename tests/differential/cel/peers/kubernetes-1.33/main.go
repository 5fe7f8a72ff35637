// Command kubernetes-1.33 answers in the environment of an API server of that version, with the cel-go it was built
// from.
package main

import (
	"github.com/google/cel-go/cel"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"muster.dev/differential/cel/answering"
)

func kubernetes(world *answering.World) (*answering.Environment, error) {
	declarations, err := world.Declarations()
	if err != nil {
		return nil, err
	}
	set, err := environment.MustBaseEnvSet(version.MajorMinor(1, 33), true).Extend(
		environment.VersionedOptions{IntroducedVersion: version.MajorMinor(1, 0), EnvOptions: declarations})
	if err != nil {
		return nil, err
	}
	env, err := set.Env(environment.NewExpressions)
	if err != nil {
		return nil, err
	}
	return &answering.Environment{
		Env:       env,
		Options:   []cel.ProgramOption{cel.InterruptCheckFrequency(100)},
		Estimator: &library.CostEstimator{SizeEstimator: world},
	}, nil
}

func main() {
	answering.Serve(map[string]answering.Maker{"kubernetes-1.33": kubernetes})
}
