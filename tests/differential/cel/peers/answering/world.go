package answering

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/checker"
)

// World is what expressions are evaluated over: declared variables, sets of values for them, and how large they may be.
type World struct {
	Variables map[string]string // name to type, as cel-go writes types
	Sets      []map[string]any
	sizes     map[string][2]uint64
}

func readWorld(path string) (*World, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var read struct {
		Variables map[string]string            `json:"variables"`
		Sets      []map[string]json.RawMessage `json:"sets"`
		Sizes     map[string][2]uint64         `json:"sizes"`
	}
	if err := json.Unmarshal(data, &read); err != nil {
		return nil, err
	}
	world := &World{Variables: read.Variables, sizes: read.Sizes}
	for _, set := range read.Sets {
		values := map[string]any{}
		for name, raw := range set {
			if values[name], err = decode(raw); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		world.Sets = append(world.Sets, values)
	}
	return world, nil
}

// Declarations are the variables of the world, without those named.
func (world *World) Declarations(except ...string) ([]cel.EnvOption, error) {
	var options []cel.EnvOption
names:
	for name, text := range world.Variables {
		for _, left := range except {
			if name == left {
				continue names
			}
		}
		declared, err := typeOf(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		options = append(options, cel.Variable(name, declared))
	}
	return options, nil
}

var simple = map[string]*cel.Type{
	"bool": cel.BoolType, "bytes": cel.BytesType, "double": cel.DoubleType, "dyn": cel.DynType, "int": cel.IntType,
	"string": cel.StringType, "uint": cel.UintType, "google.protobuf.Duration": cel.DurationType,
	"google.protobuf.Timestamp": cel.TimestampType,
}

func typeOf(text string) (*cel.Type, error) {
	if found := simple[text]; found != nil {
		return found, nil
	}
	if inner, ok := strings.CutPrefix(text, "list("); ok {
		element, err := typeOf(strings.TrimSuffix(inner, ")"))
		return cel.ListType(element), err
	}
	if inner, ok := strings.CutPrefix(text, "map("); ok {
		key, value, _ := strings.Cut(strings.TrimSuffix(inner, ")"), ", ")
		keyType, err := typeOf(key)
		if err != nil {
			return nil, err
		}
		valueType, err := typeOf(value)
		return cel.MapType(keyType, valueType), err
	}
	return nil, fmt.Errorf("no type %s", text)
}

// decode reads a value in the form that encode writes: [type, content]; plain JSON stands under "json".
func decode(raw json.RawMessage) (any, error) {
	var parts []json.RawMessage
	if err := json.Unmarshal(raw, &parts); err != nil {
		return nil, err
	}
	var kind, text string
	if err := json.Unmarshal(parts[0], &kind); err != nil {
		return nil, err
	}
	if kind == "json" {
		decoder := json.NewDecoder(bytes.NewReader(parts[1]))
		decoder.UseNumber()
		var value any
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		return numbers(value), nil
	}
	if err := json.Unmarshal(parts[1], &text); err != nil {
		return nil, err
	}
	switch kind {
	case "int":
		return strconv.ParseInt(text, 10, 64)
	case "uint":
		return strconv.ParseUint(text, 10, 64)
	case "double":
		return strconv.ParseFloat(text, 64)
	case "bytes":
		return base64.StdEncoding.DecodeString(text)
	case "google.protobuf.Timestamp":
		return time.Parse(time.RFC3339Nano, text)
	case "google.protobuf.Duration":
		nanoseconds, err := strconv.ParseInt(text, 10, 64)
		return time.Duration(nanoseconds), err
	}
	return nil, fmt.Errorf("no value of %s", kind)
}

// numbers makes int64 of whole numbers and float64 of others, as Kubernetes does with objects.
func numbers(value any) any {
	switch typed := value.(type) {
	case json.Number:
		if whole, err := typed.Int64(); err == nil {
			return whole
		}
		fraction, _ := typed.Float64()
		return fraction
	case []any:
		for index, element := range typed {
			typed[index] = numbers(element)
		}
	case map[string]any:
		for key, element := range typed {
			typed[key] = numbers(element)
		}
	}
	return value
}

// EstimateSize answers from the table of sizes.
func (world *World) EstimateSize(element checker.AstNode) *checker.SizeEstimate {
	path := element.Path()
	if len(path) == 0 {
		return nil
	}
	size, known := world.sizes[strings.Join(path, ".")]
	if !known {
		return nil
	}
	return &checker.SizeEstimate{Min: size[0], Max: size[1]}
}

// EstimateCallCost leaves all calls to cel-go.
func (*World) EstimateCallCost(string, string, *checker.AstNode, []checker.AstNode) *checker.CallEstimate {
	return nil
}
