package record

import (
	"encoding/json"
	"reflect"
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
		v.SetString("two lines\nwith \"quotes\", a \t tab, \\, <, \u00e9 and \u2028")
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
				if !leftOut(v.Type().Field(i)) {
					full(v.Field(i))
				}
			}
		}
	}
}

// TestPack: every field of a turn comes back, whatever of it stands in a text.
func TestPack(t *testing.T) {
	t.Parallel()
	all := new(Turn)
	full(reflect.ValueOf(all).Elem())
	text, err := Encode(all, nil)
	gittest.Must(t, err)
	for name, turn := range map[string]*Turn{"none": {}, "all": all, "empty lists": {Paths: []string{}, Checks: []Check{}, Tools: map[string]int{}}} {
		for _, text := range [][]byte{nil, text, []byte(`\`)} {
			packed := Pack(turn, text)
			if packed == nil {
				t.Errorf("%s: it can't be packed", name)
				continue
			}
			back := new(Turn)
			gittest.Must(t, Unpack(packed, text, back))
			if !reflect.DeepEqual(back, turn) {
				t.Errorf("%s: %+v\nis not %+v", name, back, turn)
			}
		}
	}
	if packed := Pack(all, text); len(packed) > len(text) {
		t.Errorf("%d bytes of a text of %d", len(packed), len(text))
	}
}

// TestNotPacked: what would come back otherwise is not packed. What is no part of the JSON is left out.
func TestNotPacked(t *testing.T) {
	t.Parallel()
	var odd Turn
	gittest.Must(t, json.Unmarshal([]byte(`{"at":"2026-11-30T01:02:03+05:00"}`), &odd))
	if Pack(&odd, nil) != nil {
		t.Error("a time with an offset is packed")
	}
	with := Turn{Turn: 7, Ledger: "a1b2c3d4", Text: TextOf([]byte("x"))}
	back := new(Turn)
	if err := Unpack(Pack(&with, nil), nil, back); err != nil || !reflect.DeepEqual(back, &Turn{Turn: 7}) {
		t.Errorf("%+v, %v", back, err)
	}
}

// TestLayout: other fields, or other types of them, are another layout.
func TestLayout(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for _, v := range []any{
		struct{ A, B int }{}, struct{ B, A int }{}, struct{ A, C int }{}, struct{ A, B string }{}, struct {
			A int `json:"-"`
			B int
		}{}, struct{ A, B *int }{}, struct{ A, B []int }{}, struct{ A, B map[string]int }{}, struct{ A, B struct{ A int } }{},
	} {
		if seen[Layout(v)] {
			t.Errorf("%T has the layout of another", v)
		}
		seen[Layout(v)] = true
	}
}

func FuzzUnpack(f *testing.F) {
	all := new(Turn)
	full(reflect.ValueOf(all).Elem())
	text, _ := Encode(all, nil)
	f.Add(Pack(all, text), text)
	f.Fuzz(func(_ *testing.T, packed, text []byte) { _ = Unpack(packed, text, new(Turn)) })
}
