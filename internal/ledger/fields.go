package ledger

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
	t := reflect.TypeOf(v).Elem()
	known := make(map[string]bool, t.NumField())
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		known[strings.ToLower(name)] = true
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
