package record

import "bytes"

// A Text is the JSON that a record was read from; zero for a new one.
type Text struct {
	raw     []byte
	unknown Fields
}

// TextOf returns the text of a record that was read. It keeps data.
func TextOf(data []byte) Text { return Text{raw: data} }

// Size returns the bytes of the text.
func (t *Text) Size() int { return len(t.raw) }

// Inherit takes the fields of another record's text that v, a pointer, lacks.
func (t *Text) Inherit(from *Text, v any) error {
	var err error
	t.unknown, err = from.fields(v)
	return err
}

func (t *Text) fields(v any) (Fields, error) {
	if t.raw == nil || t.unknown != nil {
		return t.unknown, nil
	}
	return Unknown(t.raw, v)
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
	line := bytes.TrimRight(t.raw, "\n")
	if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return t.Encode(v)
	}
	return line, nil
}
