package record

import (
	"math/rand"
	"reflect"
	"testing"
	"testing/quick"
	"time"

	"gitagent/internal/compact"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// TestCompactMission: every field of a mission, the unknown ones too, is read as it was written. A field that was
// added, and is not written, fails here.
func TestCompactMission(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewSource(1))
	for range 200 {
		m := new(Mission)
		fill(t, source, reflect.ValueOf(m).Elem())
		m.unknown = Fields{"later": []byte(`{"a":1}`)}
		var w compact.Writer
		if !m.Write(&w) {
			t.Fatalf("%+v can't be written", m)
		}
		got, r := new(Mission), compact.NewReader(string(w))
		got.Read(r)
		if r.More() || r.Bad() || !reflect.DeepEqual(got, m) {
			t.Fatalf("read %+v, want %+v", got, m)
		}
	}
	got, r := new(Mission), compact.NewReader("")
	if got.Read(r); !r.Bad() {
		t.Error("nothing is read as a mission")
	}
	var w compact.Writer
	new(Mission).Write(&w)
	if got.Read(compact.NewReader(string(w))); !reflect.DeepEqual(got, new(Mission)) {
		t.Errorf("read %+v, want the zero mission", got)
	}
}

// fill gives every field a value of its own.
func fill(t *testing.T, source *rand.Rand, v reflect.Value) {
	switch v.Type() {
	case reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(time.Unix(source.Int63n(1<<34), source.Int63n(1e9)).UTC()))
		return
	case reflect.TypeFor[object.Hash]():
		v.Set(reflect.ValueOf(object.NewHash(gittest.Hash("1"))))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(t, source, v.Field(i))
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, source, v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, source, v.Index(0))
	default:
		value, ok := quick.Value(v.Type(), source)
		if !ok {
			t.Fatalf("no value of %s", v.Type())
		}
		if v.Kind() == reflect.Map && value.Len() == 0 { // as it is read
			return
		}
		v.Set(value)
	}
}
