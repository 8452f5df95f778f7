package record

import "strings"

// A Text is the JSON that a record was read from; zero for a new one.
type Text struct {
	raw     string
	unknown Fields
}

// TextOf returns the text of a record that was read.
func TextOf(text string) Text { return Text{raw: text} }

// Size returns the bytes of the text.
func (t *Text) Size() int { return len(t.raw) }

// Inherit takes the fields of another record's text that v, a pointer, lacks.
func (t *Text) Inherit(from *Text, v any) error {
	var err error
	t.unknown, err = from.fields(v)
	return err
}

func (t *Text) fields(v any) (Fields, error) {
	if t.raw == "" || t.unknown != nil {
		return t.unknown, nil
	}
	return Unknown([]byte(t.raw), v)
}

// Encode returns v, a pointer to the record, as a line of JSON without a
// newline. Fields unknown to this version stay.
func (t *Text) Encode(v any) ([]byte, error) {
	unknown, err := t.fields(v)
	if err != nil {
		return nil, err
	}
	return Encode(v, unknown)
}

// Line is Encode for an unchanged record, whose text stays as it was.
func (t *Text) Line(v any) ([]byte, error) {
	line := strings.TrimRight(t.raw, "\n")
	if line == "" || strings.Contains(line, "\n") {
		return t.Encode(v)
	}
	return []byte(line), nil
}
