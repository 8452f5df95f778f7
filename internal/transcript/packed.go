package transcript

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"
)

// The ends of names of session files that are not lines as they are. Offsets
// and sizes are those of the lines.
const (
	Zst      = ".zst"  // compressed, after the name of what is in it
	Document = ".json" // one object: its messages become lines, after one with its other fields
)

// maxWindow bounds what decompressing keeps in memory. The most that a client
// can ask zstd for without breaking with its defaults is 128 MB.
const maxWindow = 128 << 20

// ErrDamaged reports a file whose content is not what its name says.
var ErrDamaged = errors.New("it is damaged")

// ErrForeign reports a file that is compressed in a way that no client does.
var ErrForeign = errors.New("it is compressed, and not by the client: decompress it and import again")

// Compressed reports whether a file's name ends as that of a compressed one.
func Compressed(name string) bool {
	return slices.Contains([]string{Zst, ".gz", ".xz", ".bz2", ".lz4", ".br", ".zip"}, filepath.Ext(name))
}

func packed(path string) bool {
	end := filepath.Ext(path)
	return end == Zst || end == Document
}

// Open opens the session file at path to read its lines, unpacked. Errors are
// those of [ReadSegment]; with [ErrDamaged] they may come from Read.
func Open(path string) (io.ReadCloser, error) {
	f, info, err := openFile(path)
	if err != nil || !packed(f.Name()) {
		return f, err
	}
	u := &unpacked{file: f}
	switch {
	case filepath.Ext(f.Name()) == Zst:
		var d *zstd.Decoder
		if d, err = zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow)); err == nil {
			u.ReadCloser = d.IOReadCloser()
		}
	case info.Size() > MaxSegment:
		err = ErrTooLarge
	default:
		var text []byte
		if text, err = readRange(f, 0, info.Size()); err == nil {
			text, err = unfold(text)
			u.ReadCloser = io.NopCloser(bytes.NewReader(text))
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("read session file %q: %w", path, err)
	}
	return u, nil
}

// An unpacked reads a file's lines.
type unpacked struct {
	io.ReadCloser
	file *os.File
}

func (u *unpacked) Read(b []byte) (int, error) {
	n, err := u.ReadCloser.Read(b)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("read session file %q: %w: %w", u.file.Name(), ErrDamaged, err)
	}
	return n, err
}

func (u *unpacked) Close() error { return errors.Join(u.ReadCloser.Close(), u.file.Close()) }

// unfold returns the lines of a document.
func unfold(text []byte) ([]byte, error) {
	document := gjson.ParseBytes(text)
	if !json.Valid(text) || !document.IsObject() {
		return nil, fmt.Errorf("%w: it is no object in JSON", ErrDamaged)
	}
	head := []byte{'{'}
	var messages gjson.Result
	document.ForEach(func(name, value gjson.Result) bool {
		if name.Str == "messages" && value.IsArray() {
			messages = value
			return true
		}
		if len(head) > 1 {
			head = append(head, ',')
		}
		head = append(head, name.Raw+":"+value.Raw...)
		return true
	})
	var all bytes.Buffer
	_ = json.Compact(&all, append(head, '}')) // it is valid
	messages.ForEach(func(_, m gjson.Result) bool {
		all.WriteByte('\n')
		_ = json.Compact(&all, []byte(m.Raw))
		return true
	})
	all.WriteByte('\n')
	return all.Bytes(), nil
}

// Size returns how many bytes of lines the session file at path has. Errors are
// those of [ReadSegment].
func Size(path string) (int64, error) {
	r, err := Open(path)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if f, ok := r.(*os.File); ok {
		info, err := f.Stat()
		if err != nil {
			return 0, fmt.Errorf("read session file: %w", err)
		}
		return info.Size(), nil
	}
	n, err := io.Copy(io.Discard, io.LimitReader(r, MaxSegment+1))
	if err == nil && n > MaxSegment {
		err = fmt.Errorf("read session file %q: %w", path, ErrTooLarge)
	}
	return n, err
}

// readPacked is [ReadRange] of a packed file. It keeps no more than is asked
// for.
func readPacked(path string, from, to int64) ([]byte, error) {
	r, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	within := io.LimitReader(r, min(to, MaxSegment))
	if _, err := io.CopyN(io.Discard, within, from); err != nil && err != io.EOF {
		return nil, err
	}
	return io.ReadAll(within)
}
