package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"log"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/itchyny/gojq"
)

// answer is what a query gave. Class is ended, more (outputs were left), large (a value was too large to be told), parse,
// compile, run, halt, time or panic. Texts are the outputs printed, with numbers as numbers; Copied says that gojq itself
// prints one of them otherwise, because it copies the text of a number that it only passed through. Value is what
// `catch` receives of a failed run.
type answer struct {
	Class   string `json:"class"`
	Outputs []any  `json:"outputs,omitempty"`
	Texts   []any  `json:"texts,omitempty"`
	Copied  bool   `json:"copied,omitempty"`
	Error   any    `json:"error,omitempty"`
	Value   any    `json:"value,omitempty"`
}

func (given *answer) add(value any) {
	plain := numbered(value)
	text := printed(plain)
	given.Outputs = append(given.Outputs, typed(plain))
	given.Texts = append(given.Texts, written(text))
	given.Copied = given.Copied || printed(value) != text
}

func printed(value any) string {
	text, err := gojq.Marshal(value)
	if err != nil {
		log.Fatal(err)
	}
	return string(text)
}

func (given answer) failed(fault error) answer {
	if errors.Is(fault, context.DeadlineExceeded) {
		given.Class = "time"
		return given
	}
	given.Class = "run"
	var value any = fault.Error()
	var halt *gojq.HaltError
	var raised gojq.ValueError
	switch {
	case errors.As(fault, &halt):
		given.Class, value = "halt", halt.Value()
	case errors.As(fault, &raised):
		value = raised.Value()
	}
	if tooLarge(value) {
		given.Class = "large"
		return given
	}
	given.Error, given.Value = written(fault.Error()), typed(numbered(value))
	return given
}

// typed is a value with its types: integers {"i": digits}, floats {"f": shortest text}, objects {"o": [[key, value], …]};
// the rest as it is.
func typed(value any) any {
	switch value := value.(type) {
	case nil, bool:
		return value
	case int:
		return map[string]any{"i": strconv.Itoa(value)}
	case *big.Int:
		return map[string]any{"i": value.String()}
	case float64:
		return map[string]any{"f": strconv.FormatFloat(value, 'g', -1, 64)}
	case string:
		return written(value)
	case []any:
		items := make([]any, len(value))
		for at, item := range value {
			items[at] = typed(item)
		}
		return items
	case map[string]any:
		keys := make([]string, 0, len(value))
		for key := range value {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		fields := make([]any, len(keys))
		for at, key := range keys {
			fields[at] = []any{written(key), typed(value[key])}
		}
		return map[string]any{"o": fields}
	default:
		log.Fatalf("a value of type %T", value)
		return nil
	}
}

// written is a text, or {"b": base64} when it is not UTF-8.
func written(text string) any {
	if utf8.ValidString(text) {
		return text
	}
	return map[string]any{"b": base64.StdEncoding.EncodeToString([]byte(text))}
}

// tooLarge says whether a value has too much in it to be told, or too many levels for the reader.
func tooLarge(value any) bool {
	return visits(value, mostVisits, mostLevels) < 0
}

// visits is what is left of so many after a walk over the value; values are graphs, so the walk has to end early.
func visits(value any, left, levels int) int {
	left--
	if levels < 0 {
		return -1
	}
	switch value := value.(type) {
	case string:
		left -= len(value) >> 4
	case *big.Int:
		left -= value.BitLen() >> 3
	case []any:
		for _, item := range value {
			if left < 0 {
				break
			}
			left = visits(item, left, levels-1)
		}
	case map[string]any:
		for key, item := range value {
			if left < 0 {
				break
			}
			left = visits(item, left-len(key)>>4, levels-1)
		}
	}
	return left
}

// inputOf decodes JSON as Muster does.
func inputOf(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		log.Fatal(err)
	}
	return numbered(value)
}

// numbered is the value with every copied number read: integers of any size, everything else as floats.
func numbered(value any) any {
	switch value := value.(type) {
	case json.Number:
		return number(value)
	case []any:
		items := make([]any, len(value))
		for at, item := range value {
			items[at] = numbered(item)
		}
		return items
	case map[string]any:
		fields := make(map[string]any, len(value))
		for key, item := range value {
			fields[key] = numbered(item)
		}
		return fields
	}
	return value
}

func number(text json.Number) any {
	if whole, err := strconv.Atoi(text.String()); err == nil {
		return whole
	}
	if !strings.ContainsAny(text.String(), ".eE") {
		if long, ok := new(big.Int).SetString(text.String(), 10); ok {
			return long
		}
	}
	float, err := text.Float64()
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		log.Fatal(err)
	}
	return float
}
