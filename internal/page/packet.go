package page

import (
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
)

// packetSize is about a packet's bytes of JSON: scripts open it in some 10 ms.
const packetSize = 1 << 20

// pack writes a value as an element: JSON, compressed, in base64.
func (p *packer) pack(id string, value any) error {
	if _, err := fmt.Fprintf(p.w, "<script type=\"application/octet-stream\" id=\"%s\">", id); err != nil {
		return err
	}
	text := base64.NewEncoder(base64.StdEncoding, p.w)
	if p.z == nil {
		p.z, _ = flate.NewWriter(text, flate.BestCompression) // it fails for other levels
	} else {
		p.z.Reset(text)
	}
	if err := json.NewEncoder(p.z).Encode(value); err != nil {
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
	err := p.pack(fmt.Sprintf("packet-%d", p.next), p.open)
	p.open, p.size = packet{}, 0
	p.next++
	return err
}
