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

// Fields are the fields of a JSON record that this version does not know. They are kept when the
// record is written again.
type Fields map[string]json.RawMessage

// Unknown returns the fields of a JSON object that are missing in v, a pointer to the struct that
// the object was decoded into.
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
		if known[strings.ToLower(key)] { // encoding/json ignores the case of names
			delete(all, key)
		}
	}
	return all, nil
}

// Encode writes v, a struct, as one line of JSON without a newline. The unknown fields follow,
// sorted by name.
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

// maxValues is how many values a record may have: those of a list or an object take far more memory
// than their text.
const maxValues = 1 << 15

// Decode decodes a record that a stranger may have written.
func Decode(data []byte, v any) error {
	if len(data) > maxValues && values(data) > maxValues {
		return fmt.Errorf("the record has more than %d values", maxValues)
	}
	return json.Unmarshal(data, v)
}

// values is about how many values a JSON text has: it counts what begins or separates them.
func values(data []byte) int {
	n, inString := 0, false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
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
