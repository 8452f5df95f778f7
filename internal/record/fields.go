package record

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// Fields are fields of a record that this version does not know, and keeps.
type Fields map[string]json.RawMessage

// Unknown returns an object's fields that v, a pointer to a struct, lacks.
func Unknown(data []byte, v any) (Fields, error) {
	var all Fields
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	known := make(map[string]bool)
	for _, name := range members(reflect.TypeOf(v).Elem()) {
		known[name] = true
	}
	for key := range all {
		if known[strings.ToLower(key)] { // encoding/json ignores case
			delete(all, key)
		}
	}
	return all, nil
}

// Encode returns the struct v as a line of JSON, without a newline. The unknown
// fields follow, sorted.
func Encode(v any, unknown Fields) ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	line := bytes.TrimSuffix(out.Bytes(), []byte("}\n"))
	for _, name := range slices.Sorted(maps.Keys(unknown)) {
		key, err := json.Marshal(name)
		if err != nil {
			return nil, fmt.Errorf("encode record: %w", err)
		}
		var value bytes.Buffer
		if err := json.Compact(&value, unknown[name]); err != nil {
			return nil, fmt.Errorf("encode record: field %s: %w", name, err)
		}
		if len(line) > 1 {
			line = append(line, ',')
		}
		line = append(append(append(line, key...), ':'), value.Bytes()...)
	}
	return append(line, '}'), nil
}

// maxValues bounds the values of a record: in lists and objects they take far
// more memory than text.
const maxValues = 1 << 15

// Decode decodes a record that may be untrusted into v, a pointer to a zero
// value, which refers to text then.
func Decode(text string, v any) error {
	_, err := decode(text, v)
	return err
}

// decode is Decode, and reports whether the record may have fields that v lacks.
func decode(text string, v any) (unknown bool, err error) {
	if len(text) > maxValues && values(text) > maxValues {
		return true, fmt.Errorf("the record has more than %d values", maxValues)
	}
	if plainly(text, v) {
		return false, nil
	}
	reflect.ValueOf(v).Elem().SetZero()
	return true, json.Unmarshal([]byte(text), v)
}

// values roughly counts a JSON text's values by what begins or separates them.
func values(text string) int {
	n, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == ',' || c == '[' || c == '{'):
			n++
		}
	}
	return n
}
