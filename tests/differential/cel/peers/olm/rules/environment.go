// Package rules makes the environment that the Operator Lifecycle Manager gives to the rules of olm.constraint.
package rules

import (
	"errors"
	"reflect"
	"unsafe"

	"github.com/google/cel-go/cel"
	"github.com/operator-framework/api/pkg/constraints"
	"muster.dev/differential/cel/answering"
)

// environmentOf takes out what the package keeps to itself, since it lets rules be evaluated only if they are boolean.
func environmentOf(holder *constraints.CelEnvironment) (*cel.Env, error) {
	field := reflect.ValueOf(holder).Elem().FieldByName("env")
	if !field.IsValid() {
		return nil, errors.New("constraints.CelEnvironment has no field env")
	}
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem().Interface().(*cel.Env), nil
}

// Environment is an answering.Maker.
func Environment(world *answering.World) (*answering.Environment, error) {
	env, err := environmentOf(constraints.NewCelEnvironment())
	if err != nil {
		return nil, err
	}
	declarations, err := world.Declarations(constraints.PropertiesKey)
	if err != nil {
		return nil, err
	}
	if env, err = env.Extend(declarations...); err != nil {
		return nil, err
	}
	return &answering.Environment{
		Env:       env,
		Options:   []cel.ProgramOption{cel.CostLimit(1000000), cel.CostTracking(nil), cel.InterruptCheckFrequency(100)},
		Estimator: world,
	}, nil
}
