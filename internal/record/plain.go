package record

import (
	"encoding"
	"encoding/json"
	"math/bits"
	"reflect"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// plainly sets v, a pointer to a zero value, to a record as [Encode] writes it:
// members in the order of the type's fields, all of them known, and no spaces.
// Nearly all records are, and this takes a fraction of the time that encoding/json
// does, to the same effect. For any other text it reports false, and v is half
// set. Strings without escapes are parts of the text.
func plainly(text string, v any) bool {
	p := plain{rest: text}
	to := reflect.ValueOf(v).Elem()
	return p.value(to, shapeOf(to.Type())) && strings.Trim(p.rest, "\n") == ""
}

// A shape is what has to be known of a type to read it.
type shape struct {
	how    how
	fields []member // of a struct
	elem   *shape   // of a pointer, a slice or a map
}

type member struct {
	name  string // with quotes and colon
	field int
	*shape
}

// A how is a way of reading.
type how int

const (
	no how = iota // the type is left to encoding/json
	yesOrNo
	number
	words
	instant
	marshaled // that reads a string by itself
	pointer
	list
	counts // map[string]int
	table
	structure
)

var shapes sync.Map // by [reflect.Type]

// shapeOf returns a type's shape. The types of records are not recursive.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := new(shape)
	switch kind := t.Kind(); {
	case t == reflect.TypeFor[time.Time]():
		s.how = instant
	case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		s.how = marshaled
	case kind == reflect.Bool:
		s.how = yesOrNo
	case kind == reflect.Int || kind == reflect.Int64:
		s.how = number
	case kind == reflect.String:
		s.how = words
	case kind == reflect.Pointer:
		s.how, s.elem = pointer, shapeOf(t.Elem())
	case kind == reflect.Slice && t.Elem().Kind() != reflect.Uint8:
		s.how, s.elem = list, shapeOf(t.Elem())
	case t == reflect.TypeFor[map[string]int]():
		s.how = counts
	case kind == reflect.Map && t.Key() == reflect.TypeFor[string]():
		s.how, s.elem = table, shapeOf(t.Elem())
	case kind == reflect.Struct:
		s.how = structure
		for i := range t.NumField() {
			f := t.Field(i)
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case name == "-" || !f.IsExported() && !f.Anonymous:
			case name == "" || strings.Contains(options, "string"):
				return new(shape)
			default:
				s.fields = append(s.fields, member{`"` + name + `":`, i, shapeOf(f.Type)})
			}
		}
	}
	shapes.Store(t, s)
	return s
}

// A plain is what is left to read.
type plain struct{ rest string }

// next passes over a byte if it comes next, and reports whether it does.
func (p *plain) next(c byte) bool {
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *plain) value(v reflect.Value, s *shape) bool {
	switch s.how {
	case yesOrNo:
		rest, yes := strings.CutPrefix(p.rest, "true")
		if !yes {
			rest, _ = strings.CutPrefix(p.rest, "false")
		}
		ok := len(rest) < len(p.rest)
		p.rest = rest
		v.SetBool(yes)
		return ok
	case number:
		n, ok := p.number()
		v.SetInt(n)
		return ok && !v.OverflowInt(n)
	case words:
		text, ok := p.string()
		v.SetString(text)
		return ok
	case instant:
		text, ok := p.string()
		return ok && v.Addr().Interface().(*time.Time).UnmarshalText([]byte(text)) == nil
	case marshaled:
		text, ok := p.string()
		return ok && v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text)) == nil
	case pointer:
		to := reflect.New(v.Type().Elem())
		v.Set(to)
		return p.value(to.Elem(), s.elem)
	case list:
		return p.list(v, s.elem)
	case counts, table:
		return p.table(v, s)
	case structure:
		return p.object(v, s.fields)
	}
	return false
}

func (p *plain) object(v reflect.Value, fields []member) bool {
	if !p.next('{') {
		return false
	}
	first := true
	for _, f := range fields {
		if len(p.rest) == 0 || p.rest[0] == '}' {
			break
		}
		at := 1 // behind the comma
		if first {
			at = 0
		}
		if !strings.HasPrefix(p.rest[at:], f.name) {
			continue
		}
		if !first && p.rest[0] != ',' {
			return false
		}
		p.rest, first = p.rest[at+len(f.name):], false
		if !p.value(v.Field(f.field), f.shape) {
			return false
		}
	}
	return p.next('}')
}

func (p *plain) list(v reflect.Value, elem *shape) bool {
	if !p.next('[') {
		return false
	}
	if p.next(']') {
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		return true
	}
	for i := 0; ; i++ {
		v.Grow(1)
		v.SetLen(i + 1)
		if !p.value(v.Index(i), elem) {
			return false
		}
		if !p.next(',') {
			return p.next(']')
		}
	}
}

func (p *plain) table(v reflect.Value, s *shape) bool {
	if !p.next('{') {
		return false
	}
	var of map[string]int
	var value reflect.Value
	if s.how == counts {
		of = make(map[string]int)
		v.Set(reflect.ValueOf(of))
	} else {
		v.Set(reflect.MakeMap(v.Type()))
		value = reflect.New(v.Type().Elem()).Elem()
	}
	if p.next('}') {
		return true
	}
	for {
		key, ok := p.string()
		if !ok || !p.next(':') {
			return false
		}
		if of != nil {
			n, ok := p.number()
			if !ok || int64(int(n)) != n {
				return false
			}
			of[key] = int(n)
		} else {
			value.SetZero()
			if !p.value(value, s.elem) {
				return false
			}
			v.SetMapIndex(reflect.ValueOf(key), value)
		}
		if !p.next(',') {
			return p.next('}')
		}
	}
}

func (p *plain) number() (n int64, ok bool) {
	negative := p.next('-')
	digits := 0
	for ; digits < len(p.rest) && p.rest[digits]-'0' <= 9; digits++ {
		if digits == maxDigits {
			return 0, false
		}
		n = 10*n + int64(p.rest[digits]-'0')
	}
	if digits == 0 || digits > 1 && p.rest[0] == '0' {
		return 0, false
	}
	p.rest = p.rest[digits:]
	if negative {
		n = -n
	}
	return n, true
}

// maxDigits is how many digits any number of 64 bits has room for.
const maxDigits = 18

// string reads a string of valid UTF-8 that needs no other escapes than `\n`
// and such.
func (p *plain) string() (string, bool) {
	if !p.next('"') {
		return "", false
	}
	var out strings.Builder // what comes before from, if anything was escaped
	from, high := 0, false
	for at := 0; ; at++ {
		if at += ordinary(p.rest[at:]); at == len(p.rest) {
			return "", false
		}
		switch c := p.rest[at]; {
		case c == '"':
			text := p.rest[from:at]
			p.rest = p.rest[at+1:]
			if out.Len() > 0 {
				out.WriteString(text)
				text = out.String()
			}
			return text, !high || utf8.ValidString(text)
		case c == '\\' && at+1 < len(p.rest):
			letter := strings.IndexByte(escapes, p.rest[at+1])
			if letter < 0 {
				return "", false
			}
			if out.Len() == 0 {
				out.Grow(at + 1 + strings.IndexByte(p.rest[at:], '"'))
			}
			out.WriteString(p.rest[from:at])
			out.WriteByte(escaped[letter])
			at++
			from = at + 1
		case c >= utf8.RuneSelf:
			high = true
		default:
			return "", false
		}
	}
}

// ordinary returns how many bytes come before the first one that is not ASCII,
// or that means something in a string. It looks at eight at once.
func ordinary(text string) int {
	const ones = 0x0101010101010101
	i := 0
	for ; i+8 <= len(text); i += 8 {
		t := text[i : i+8]
		w := uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
			uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
		if found := (w | (w - ones*' ') | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones)) & (ones << 7); found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for ; i < len(text); i++ {
		if c := text[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			break
		}
	}
	return i
}

// The letters behind a backslash, and what they stand for.
const (
	escapes = `"\/bfnrt`
	escaped = "\"\\/\b\f\n\r\t"
)
