package record

import "bytes"

// A Text is the JSON that a record was read from; the zero Text is that of one
// which is new.
type Text struct {
	raw     []byte
	unknown Fields
}

// TextOf returns the text of a record that was read. It refers to data.
func TextOf(data []byte) Text { return Text{raw: data} }

// Size is how many bytes the text had.
func (t *Text) Size() int { return len(t.raw) }

// Inherit takes over the fields that another record's text has beyond those of
// v, a pointer to it.
func (t *Text) Inherit(from *Text, v any) error {
	var err error
	t.unknown, err = from.fields(v)
	return err
}

// fields returns what the text has beyond the fields of v.
func (t *Text) fields(v any) (Fields, error) {
	if t.raw == nil || t.unknown != nil {
		return t.unknown, nil
	}
	return Unknown(t.raw, v)
}

// Encode returns v, a pointer to the record, as one line of JSON, without a
// newline. The fields of its text that this version does not know stay.
func (t *Text) Encode(v any) ([]byte, error) {
	unknown, err := t.fields(v)
	if err != nil {
		return nil, err
	}
	return Encode(v, unknown)
}

// Line is Encode for a record that has not changed since it was read: its text
// is as it was.
func (t *Text) Line(v any) ([]byte, error) {
	line := bytes.TrimRight(t.raw, "\n")
	if len(line) == 0 || bytes.IndexByte(line, '\n') >= 0 {
		return t.Encode(v)
	}
	return line, nil
}
