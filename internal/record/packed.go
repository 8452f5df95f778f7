package record

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"reflect"
	"strings"
	"time"

	"gitagent/internal/git/object"
)

// Pack returns the fields of v, a pointer to a record, in a form that is read
// several times faster than JSON by programs in which the type has the same
// [Layout]. What stands in the record's text as it is there is not repeated.
// Fields without a name in JSON are left out. It returns nil if v can't be had
// back exactly.
func Pack(v any, text []byte) []byte {
	was := reflect.New(reflect.TypeOf(v).Elem())
	was.Elem().Set(reflect.ValueOf(v).Elem())
	for i := range was.Elem().NumField() {
		if leftOut(was.Elem().Type().Field(i)) {
			was.Elem().Field(i).SetZero()
		}
	}
	p := &packer{text: text}
	p.value(was.Elem())
	back := reflect.New(was.Type().Elem())
	if p.odd || Unpack(p.out, text, back.Interface()) != nil || !reflect.DeepEqual(was.Interface(), back.Interface()) {
		return nil
	}
	return p.out
}

func leftOut(f reflect.StructField) bool { return f.Tag.Get("json") == "-" }

var errPacked = errors.New("a packed record is damaged")

// Unpack sets v, a pointer to a zero value, to what was packed. Nothing in v
// refers to packed or text.
func Unpack(packed, text []byte, v any) error {
	u := &unpacker{in: packed, text: text}
	u.value(reflect.ValueOf(v).Elem())
	if u.bad || len(u.in) > 0 {
		return errPacked
	}
	return nil
}

// Layout describes a type and those of its fields, and the form.
func Layout(v any) string {
	var b strings.Builder
	b.WriteString("form 1 ")
	layout(&b, reflect.TypeOf(v))
	return b.String()
}

var (
	hashType = reflect.TypeFor[object.Hash]()
	timeType = reflect.TypeFor[time.Time]()
)

func layout(b *strings.Builder, t reflect.Type) {
	b.WriteString(t.Kind().String())
	switch {
	case t == hashType || t == timeType:
		b.WriteString(t.Name())
	case t.Kind() == reflect.Struct:
		b.WriteByte('{')
		for i := range t.NumField() {
			if f := t.Field(i); leftOut(f) {
				b.WriteByte(';')
			} else {
				b.WriteString(f.Name + " ")
				layout(b, f.Type)
				b.WriteByte(';')
			}
		}
		b.WriteByte('}')
	case t.Kind() == reflect.Map:
		b.WriteByte(' ')
		layout(b, t.Key())
		b.WriteByte(' ')
		layout(b, t.Elem())
	case t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer:
		b.WriteByte(' ')
		layout(b, t.Elem())
	}
}

// maxFields is how many fields a packed type can have.
const maxFields = 64

// A packer writes a value: numbers as varints, of a struct which fields are not
// zero and then these, of lists how many there are.
type packer struct {
	text []byte
	out  []byte
	odd  bool // something can't be packed
}

func (p *packer) number(n uint64) { p.out = binary.AppendUvarint(p.out, n) }

func (p *packer) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			p.number(1)
		} else {
			p.number(0)
		}
	case reflect.Int, reflect.Int64:
		p.out = binary.AppendVarint(p.out, v.Int())
	case reflect.String:
		p.string(v.String())
	case reflect.Pointer:
		p.value(v.Elem())
	case reflect.Slice:
		p.number(uint64(v.Len()))
		for i := range v.Len() {
			p.value(v.Index(i))
		}
	case reflect.Map:
		p.number(uint64(v.Len()))
		for it := v.MapRange(); it.Next(); {
			p.value(it.Key())
			p.value(it.Value())
		}
	case reflect.Struct:
		p.fields(v)
	default:
		p.odd = true
	}
}

func (p *packer) fields(v reflect.Value) {
	switch value := v.Interface().(type) {
	case object.Hash:
		p.number(uint64(len(value.Bytes())))
		p.out = append(p.out, value.Bytes()...)
		return
	case time.Time:
		p.odd = p.odd || value.Location() != time.UTC
		p.out = binary.AppendVarint(p.out, value.Unix())
		p.number(uint64(value.Nanosecond()))
		return
	}
	var set uint64
	p.odd = p.odd || v.NumField() > maxFields
	for i := range min(v.NumField(), maxFields) {
		if !v.Field(i).IsZero() {
			set |= 1 << i
		}
	}
	p.number(set)
	for ; set != 0; set &= set - 1 {
		p.value(v.Field(bits.TrailingZeros64(set)))
	}
}

// shortString is too short to be looked for in the text.
const shortString = 8

// How a string is written: by itself, or by its place in the text, where it
// stands as it is, or with breaks of lines and the like escaped.
const (
	itself = iota
	there
	escapedThere
)

// string writes the length and how, and then the string or its place.
func (p *packer) string(s string) {
	if len(s) > shortString {
		for how, as := range []string{there: s, escapedThere: escapes.Replace(s)} {
			if at := bytes.Index(p.text, []byte(as)); how > itself && at >= 0 {
				p.number(uint64(len(as))<<2 | uint64(how))
				p.number(uint64(at))
				return
			}
		}
	}
	p.number(uint64(len(s)) << 2) // itself
	p.out = append(p.out, s...)
}

// escapes are the common ones, which [unescape] takes back.
var escapes = strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`, `\`, `\\`)

func unescape(text []byte) string {
	out := make([]byte, 0, len(text))
	for {
		at := bytes.IndexByte(text, '\\')
		if at < 0 || at+1 == len(text) {
			return string(append(out, text...))
		}
		c := text[at+1]
		switch c {
		case 'n':
			c = '\n'
		case 't':
			c = '\t'
		}
		out = append(append(out, text[:at]...), c)
		text = text[at+2:]
	}
}

// An unpacker reads what a packer has written, or anything.
type unpacker struct {
	in, text []byte
	bad      bool
}

func (u *unpacker) number() uint64 {
	n, size := binary.Uvarint(u.in)
	if size <= 0 {
		u.bad = true
		return 0
	}
	u.in = u.in[size:]
	return n
}

func (u *unpacker) signed() int64 {
	n, size := binary.Varint(u.in)
	if size <= 0 {
		u.bad = true
		return 0
	}
	u.in = u.in[size:]
	return n
}

// count returns how many things follow, each of a byte or more.
func (u *unpacker) count() int {
	n := u.number()
	if n > uint64(len(u.in)) {
		u.bad = true
		return 0
	}
	return int(n)
}

func (u *unpacker) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(u.number() == 1)
	case reflect.Int, reflect.Int64:
		v.SetInt(u.signed())
	case reflect.String:
		v.SetString(u.string())
	case reflect.Pointer:
		to := reflect.New(v.Type().Elem())
		u.value(to.Elem())
		v.Set(to)
	case reflect.Slice:
		n := u.count()
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := 0; i < n && !u.bad; i++ {
			u.value(v.Index(i))
		}
	case reflect.Map:
		n := u.count()
		if counts, ok := v.Addr().Interface().(*map[string]int); ok { // as most are
			*counts = make(map[string]int, n)
			for ; n > 0 && !u.bad; n-- {
				key := u.string()
				(*counts)[key] = int(u.signed())
			}
			return
		}
		m := reflect.MakeMapWithSize(v.Type(), n)
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		for ; n > 0 && !u.bad; n-- {
			key.SetZero()
			value.SetZero()
			u.value(key)
			u.value(value)
			m.SetMapIndex(key, value)
		}
		v.Set(m)
	case reflect.Struct:
		u.fields(v)
	default:
		u.bad = true
	}
}

func (u *unpacker) fields(v reflect.Value) {
	switch to := v.Addr().Interface().(type) {
	case *object.Hash:
		switch raw := u.bytes(u.count()); len(raw) {
		case 0:
		case object.SHA1.Size():
			*to = object.SHA1.Hash(raw)
		case object.SHA256.Size():
			*to = object.SHA256.Hash(raw)
		default:
			u.bad = true
		}
		return
	case *time.Time:
		*to = time.Unix(u.signed(), int64(u.number()&(1<<30-1))).UTC()
		return
	}
	set := u.number()
	if set>>v.NumField() != 0 {
		u.bad = true
	}
	for ; set != 0 && !u.bad; set &= set - 1 {
		field := v.Field(bits.TrailingZeros64(set))
		if !field.CanSet() {
			u.bad = true
			return
		}
		u.value(field)
	}
}

func (u *unpacker) bytes(n int) []byte {
	b := u.in[:n]
	u.in = u.in[n:]
	return b
}

func (u *unpacker) string() string {
	n := u.number()
	how := n & 3
	if n >>= 2; how == itself {
		if n > uint64(len(u.in)) {
			u.bad = true
			return ""
		}
		return string(u.bytes(int(n)))
	}
	at := u.number()
	if size := uint64(len(u.text)); n > size || at > size-n {
		u.bad = true
		return ""
	}
	if how == escapedThere {
		return unescape(u.text[at : at+n])
	}
	return string(u.text[at : at+n])
}
