package answering

import (
	"encoding/base64"
	"fmt"
	"reflect"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

const largest = 20000 // parts of a value; above it only its type is told

// encode writes a value as [type, content], so that an int is no double and a timestamp no text.
func encode(value ref.Val) any {
	left := largest
	encoded := encodePart(value, &left)
	if left < 0 {
		return []any{"large", value.Type().TypeName()}
	}
	return encoded
}

func encodePart(value ref.Val, left *int) any {
	*left--
	if *left < 0 {
		return nil
	}
	switch typed := value.(type) {
	case types.Null:
		return []any{"null_type", ""}
	case types.Bool:
		return []any{"bool", strconv.FormatBool(bool(typed))}
	case types.Int:
		return []any{"int", strconv.FormatInt(int64(typed), 10)}
	case types.Uint:
		return []any{"uint", strconv.FormatUint(uint64(typed), 10)}
	case types.Double:
		return []any{"double", strconv.FormatFloat(float64(typed), 'g', -1, 64)}
	case types.String:
		if !utf8.ValidString(string(typed)) {
			return []any{"invalid string", base64.StdEncoding.EncodeToString([]byte(typed))}
		}
		return []any{"string", string(typed)}
	case types.Bytes:
		return []any{"bytes", base64.StdEncoding.EncodeToString(typed)}
	case types.Timestamp:
		return []any{"google.protobuf.Timestamp", typed.Time.UTC().Format(time.RFC3339Nano)}
	case types.Duration:
		return []any{"google.protobuf.Duration", strconv.FormatInt(int64(typed.Duration), 10)}
	case *types.Optional:
		if !typed.HasValue() {
			return []any{"optional_type", []any{}}
		}
		return []any{"optional_type", []any{encodePart(typed.GetValue(), left)}}
	case traits.Lister:
		elements := []any{}
		for it := typed.Iterator(); it.HasNext() == types.True && *left >= 0; {
			elements = append(elements, encodePart(it.Next(), left))
		}
		return []any{"list", elements}
	case traits.Mapper:
		entries := []any{}
		for it := typed.Iterator(); it.HasNext() == types.True && *left >= 0; {
			key := it.Next()
			entries = append(entries, []any{encodePart(key, left), encodePart(typed.Get(key), left)})
		}
		return []any{"map", entries}
	case ref.Type:
		return []any{"type", typed.TypeName()}
	}
	return []any{"opaque", value.Type().TypeName(), text(value)}
}

// text shows a value of a library the way its own Go type does.
func text(value ref.Val) string {
	native := value.Value()
	if named, ok := native.(interface{ String() string }); ok {
		return named.String()
	}
	if content := reflect.Indirect(reflect.ValueOf(native)); content.Kind() == reflect.Struct {
		if name := content.FieldByName("Name"); name.IsValid() && name.Kind() == reflect.String {
			return name.String()
		}
	}
	return fmt.Sprintf("%T", native)
}
