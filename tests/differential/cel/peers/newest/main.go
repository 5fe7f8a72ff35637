// Command newest answers in every environment, all of them built with one cel-go, the newest that an API server has:
// what that server offers to new expressions when it is told to be compatible with an older version, OCM's and OLM's
// environments with it, and "standard", which is cel-go with all of its extensions.
package main

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/library"
	"muster.dev/differential/cel/answering"
	"muster.dev/differential/cel/ocm/placement"
	"muster.dev/differential/cel/olm/rules"
)

const (
	oldest = 28
	newest = 37
)

func kubernetes(minor uint) answering.Maker {
	return func(world *answering.World) (*answering.Environment, error) {
		declarations, err := world.Declarations()
		if err != nil {
			return nil, err
		}
		set, err := environment.MustBaseEnvSet(version.MajorMinor(1, minor)).Extend(
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
}

func standard(world *answering.World) (*answering.Environment, error) {
	declarations, err := world.Declarations()
	if err != nil {
		return nil, err
	}
	env, err := cel.NewEnv(append(declarations,
		cel.OptionalTypes(), cel.EnableIdentifierEscapeSyntax(), cel.EnableErrorOnBadPresenceTest(true),
		ext.Strings(), ext.Math(), ext.Lists(), ext.Sets(), ext.Encoders(), ext.Bindings(), ext.Regex(),
		ext.Network(), ext.TwoVarComprehensions())...)
	if err != nil {
		return nil, err
	}
	return &answering.Environment{
		Env:       env,
		Options:   []cel.ProgramOption{cel.CostLimit(1000000), cel.CostTracking(nil), cel.InterruptCheckFrequency(100)},
		Estimator: world,
	}, nil
}

func main() {
	makers := map[string]answering.Maker{"standard": standard, "ocm": placement.Environment, "olm": rules.Environment}
	for minor := uint(oldest); minor <= newest; minor++ {
		makers[fmt.Sprintf("kubernetes-1.%d", minor)] = kubernetes(minor)
	}
	answering.Serve(makers)
}
