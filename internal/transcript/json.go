package transcript

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// maxNested is how deep JSON may be nested, as in encoding/json. gjson goes down
// it by calling itself, and the stack ends the program.
const maxNested = 10_000

// Valid reports whether data is JSON, nested no deeper than encoding/json
// allows.
func Valid(data []byte) bool {
	if bytes.Count(data, []byte("["))+bytes.Count(data, []byte("{")) > maxNested {
		return json.Valid(data)
	}
	return gjson.ValidBytes(data)
}

// Unquote returns a JSON string as encoding/json decodes it, like a hook's
// payload; "" for other values. gjson differs on lone surrogates and invalid
// UTF-8. The result may share v's memory; see [Kept].
func Unquote(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if !strings.Contains(v.Raw, `\u`) && utf8.ValidString(v.Str) {
		return v.Str
	}
	var s string
	if err := json.Unmarshal([]byte(v.Raw), &s); err != nil {
		return ""
	}
	return s
}

// Kept is [Unquote] with a copy, which keeps no long line in memory.
func Kept(v gjson.Result) string { return strings.Clone(Unquote(v)) }

// Count returns a count of tokens or bytes; 0 if v can't be one.
func Count(v gjson.Result) int64 {
	const most = 1 << 40 // so that no sum overflows
	if n := v.Num; v.Type == gjson.Number && n > 0 && n < most {
		return int64(n)
	}
	return 0
}

// Moment returns the time that text is, zero if it is none.
func Moment(text string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, text)
	return t
}

// Stamp returns a time as clients in JavaScript write it.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Plain reports whether no object in v repeats a field, or is too deep.
func Plain(v gjson.Result, depth int) bool {
	if !v.IsObject() && !v.IsArray() {
		return true
	}
	ok := depth > 0
	if v.IsObject() && ok {
		_, ok = Members(v)
	}
	if ok {
		v.ForEach(func(_, v gjson.Result) bool {
			ok = Plain(v, depth-1)
			return ok
		})
	}
	return ok
}

// Members returns the fields of an object; ok is false if one is repeated.
func Members(v gjson.Result) (parts map[string]gjson.Result, ok bool) {
	parts, ok = make(map[string]gjson.Result), true
	v.ForEach(func(k, v gjson.Result) bool {
		_, twice := parts[k.Str]
		parts[k.Str] = v
		ok = !twice
		return ok
	})
	return parts, ok
}
