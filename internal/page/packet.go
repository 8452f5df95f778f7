package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/klauspost/compress/flate"
)

// packetSize is about a packet's bytes of JSON: scripts open it in some 10 ms.
const packetSize = 1 << 20

// level is how hard packets are compressed. compress/flate makes pages 2 %
// smaller at its level 5, and takes four times as long.
const level = 6

// pack writes JSON as an element: compressed, in base64.
func (p *packer) pack(id string, data []byte) error {
	if _, err := fmt.Fprintf(p.w, "<script type=\"application/octet-stream\" id=\"%s\">", id); err != nil {
		return err
	}
	text := base64.NewEncoder(base64.StdEncoding, p.w)
	if p.z == nil {
		p.z, _ = flate.NewWriter(text, level) // it fails where there is no such level
	} else {
		p.z.Reset(text)
	}
	if _, err := p.z.Write(data); err != nil {
		return err
	}
	if err := p.z.Close(); err != nil {
		return err
	}
	if err := text.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(p.w, "</script>\n")
	return err
}

// A packet is what the scripts open at once.
type packet struct {
	Turns  map[string]json.RawMessage `json:"turns,omitempty"`  // by turn
	Wholes map[string]string          `json:"wholes,omitempty"` // files by version
}

// encode returns p as JSON. What an encoder is given as JSON it goes through
// once more; turns are most of a packet.
func (p *packet) encode() ([]byte, error) {
	var b bytes.Buffer
	b.Grow(packetSize + packetSize/8)
	before := `{"turns":{`
	for _, name := range slices.Sorted(maps.Keys(p.Turns)) {
		fmt.Fprintf(&b, "%s%q:", before, name) // hex, digits and a slash
		b.Write(p.Turns[name])
		before = ","
	}
	rest, err := json.Marshal(packet{Wholes: p.Wholes})
	if err != nil {
		return nil, err
	}
	if len(p.Turns) > 0 {
		b.WriteByte('}')
		if len(p.Wholes) > 0 {
			b.WriteByte(',')
		}
		rest = rest[1:] // its brace
	}
	b.Write(append(rest, '\n'))
	return b.Bytes(), nil
}

// A packer fills packets, and writes full ones.
type packer struct {
	w    io.Writer
	z    *flate.Writer // nil before the first packet; a new one takes a megabyte
	open packet
	size int
	next int // the open packet's number
}

func (p *packer) turn(name string, detail any) (number int, err error) {
	data, err := json.Marshal(detail)
	if err != nil {
		return 0, err
	}
	if err := p.room(len(data)); err != nil {
		return 0, err
	}
	if p.open.Turns == nil {
		p.open.Turns = make(map[string]json.RawMessage)
	}
	p.open.Turns[name] = data
	return p.next, nil
}

func (p *packer) whole(version, text string) (number int, err error) {
	if err := p.room(len(text)); err != nil {
		return 0, err
	}
	if p.open.Wholes == nil {
		p.open.Wholes = make(map[string]string)
	}
	p.open.Wholes[version] = text
	return p.next, nil
}

func (p *packer) room(bytes int) error {
	if p.size > 0 && p.size+bytes > packetSize {
		if err := p.flush(); err != nil {
			return err
		}
	}
	p.size += bytes
	return nil
}

func (p *packer) flush() error {
	if p.size == 0 {
		return nil
	}
	data, err := p.open.encode()
	if err != nil {
		return err
	}
	err = p.pack(fmt.Sprintf("packet-%d", p.next), data)
	p.open, p.size = packet{}, 0
	p.next++
	return err
}
