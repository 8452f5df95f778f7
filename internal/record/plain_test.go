package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// full gives every field of a value that JSON knows something other than its zero.
func full(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(-1234567)
	case reflect.String:
		v.SetString("two lines\nwith \"quotes\", a \t tab, \\, <, \u00e9 and the like")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		full(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		full(v.Index(0))
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		full(key)
		full(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		switch to := v.Addr().Interface().(type) {
		case *object.Hash:
			*to = object.NewHash(gittest.Hash("0123456789abcdef"))
		case *time.Time:
			*to = time.Date(2026, 11, 30, 1, 2, 3, 456_000_000, time.UTC)
		default:
			for i := range v.NumField() {
				if f := v.Type().Field(i); f.IsExported() && f.Tag.Get("json") != "-" {
					full(v.Field(i))
				}
			}
		}
	}
}

// TestPlain: every record as it is written is read without encoding/json, and as by that. A field of a type that is not,
// fails here.
func TestPlain(t *testing.T) {
	t.Parallel()
	lists := &Turn{Paths: []string{}, Checks: []Check{}, Tools: map[string]int{}}
	for _, v := range []any{new(Turn), new(Mission), new(Handoff), lists} {
		empty := reflect.New(reflect.TypeOf(v).Elem()).Interface()
		all := reflect.New(reflect.TypeOf(v).Elem())
		full(all.Elem())
		for _, v := range []any{empty, all.Interface(), v} {
			text, err := Encode(v, nil)
			gittest.Must(t, err)
			same(t, string(text)+"\n", v, true)
		}
	}
}

// same compares what plainly reads, if anything, with what encoding/json does.
func same(t *testing.T, text string, of any, plain bool) {
	t.Helper()
	got, want := reflect.New(reflect.TypeOf(of).Elem()).Interface(), reflect.New(reflect.TypeOf(of).Elem()).Interface()
	read, err := plainly(text, got), json.Unmarshal([]byte(text), want)
	switch {
	case read && err != nil:
		t.Errorf("it is read, and is no JSON: %v\n%s", err, text)
	case read && !reflect.DeepEqual(got, want):
		t.Errorf("got  %+v\nwant %+v\nof %s", got, want, text)
	case plain && !read:
		t.Errorf("it is left to encoding/json: %s", text)
	}
}

// odd are texts that JSON knows, and others.
var odd = []string{
	``, `{`, `}`, `null`, `[]`, `{} x`, ` {}`, `{ }`, `{,}`, "{}\n\n", `{"v":1,}`, `{,"v":1}`, `{"v":1"kind":"turn"}`, `{"v":1.0}`, `{"v":1e3}`, `{"v":01}`, `{"v":-}`,
	`{"v":-0}`, `{"v":00}`, `{"v":9223372036854775807}`, `{"v":9223372036854775808}`, `{"v":"1"}`, `{"v":null}`, `{"v":1,"v":2}`, `{"kind":"a","v":1}`, `{"V":1}`, `{"v" :1}`,
	`{"kind":"\u0041"}`, `{"kind":"\"\\\/\b\f\n\r\t"}`, `{"kind":"\x"}`, `{"kind":"\`, `{"kind":"\"}`, "{\"kind\":\"\x01\"}", "{\"kind\":\"a\xff\"}", "{\"kind\":\"12345678\xc3\xa9\"}",
	`{"at":"2026-11-30T01:02:03+05:00"}`, `{"at":"null"}`, `{"at":""}`, `{"at":"2026-11-30T01:02:03,4Z"}`, `{"code":""}`, `{"code":"x"}`, `{"code":"0123456789012345678901234567890123456789"}`,
	`{"paths":[]}`, `{"paths":["a",]}`, `{"paths":["a" ,"b"]}`, `{"paths":["a","b","c","d","e"]}`, `{"tools":{}}`, `{"tools":{"a":1,"a":2}}`, `{"tools":{"a":1,}}`, `{"tools":{"a"}}`,
	`{"tokens":{"a":{"input":1},"a":{"output":2}}}`, `{"changed_after":false}`, `{"changed_after":tru}`, `{"changed_after":truefalse}`, `{"agents":[{"id":"a"},{"type":"b"}]}`,
	`{"later":1}`, `{"v":1,"later":1}`,
}

// TestNotPlain: what is read otherwise than encoding/json reads it is not read, and Decode tells of unknown fields in it.
func TestNotPlain(t *testing.T) {
	t.Parallel()
	for _, text := range odd {
		same(t, text, new(Turn), false)
	}
	turn := new(Turn)
	gittest.Must(t, Decode(`{"v":1,"paths":["a","b"],"tools":{"a":1},"v":2,"paths":["c"]}`, turn))
	if want := (&Turn{V: 2, Paths: []string{"c"}, Tools: map[string]int{"a": 1}}); turn.V != 2 || strings.Join(turn.Paths, " ") != "c" || len(turn.Tools) != len(want.Tools) {
		t.Errorf("%+v", turn)
	}
	for text, want := range map[string]bool{`{"v":1}`: false, `{"v":1,"later":1}`: true} {
		if unknown, err := decode(text, new(Turn)); unknown != want || err != nil {
			t.Errorf("%s: unknown is %v, %v", text, unknown, err)
		}
	}
}

// FuzzPlain: whatever is read is as encoding/json reads it.
func FuzzPlain(f *testing.F) {
	for _, v := range []any{new(Turn), new(Mission), new(Handoff)} {
		full(reflect.ValueOf(v).Elem())
		text, _ := Encode(v, nil)
		f.Add(string(text))
	}
	for _, text := range odd {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, v := range []any{new(Turn), new(Mission), new(Handoff)} {
			same(t, text, v, false)
		}
	})
}
