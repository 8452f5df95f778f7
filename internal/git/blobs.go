package git

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Blobs calls f for each blob of list, in order, with its index and its content
// while git sends it, or with the error of [Objects.Read]. A failed read loses
// the rest of that blob. An error of f ends the walk and is returned. f must
// not use o.
//
// It misses objects that were not flushed, and keeps nothing in memory.
func (o *Objects) Blobs(list []Wanted, f func(i int, content io.Reader, err error) error) error {
	return o.inParts(plumbing.BlobObject, list, func(start int, part []Wanted, errs []error) error {
		return o.stream(part, errs, func(i int, content io.Reader, err error) error {
			if err != nil {
				err = fmt.Errorf("read blob %s: %w", part[i].Hash, err)
			}
			return f(start+i, content, err)
		})
	})
}

func (o *Objects) stream(list []Wanted, errs []error, f func(i int, content io.Reader, err error) error) error {
	asked := 0 // list[:asked] was asked for
	for i, w := range list {
		if errs[i] != nil {
			if err := f(i, nil, errs[i]); err != nil {
				return err
			}
			continue
		}
		p, err := o.catFile()
		if err != nil {
			return err
		}
		if asked <= i { // git was just started
			var in strings.Builder
			for asked = i; asked < len(list); asked++ {
				if errs[asked] == nil {
					in.WriteString("contents " + list[asked].Hash.String() + "\n")
				}
			}
			in.WriteString("flush\n")
			_, _ = io.WriteString(p.Stdin, in.String()) // if git has ended, reading shows it
		}
		_, size, err := p.object(w.Hash, false)
		if err != nil {
			errs[i] = err
			err = f(i, nil, err)
		} else {
			r := &announced{r: p.Stdout, left: size}
			err = f(i, r, nil)
			if errs[i] = r.drain(); err == nil && errs[i] == nil {
				errs[i] = p.newline()
			}
		}
		if err == nil {
			err = o.ctx.Err()
		}
		if err != nil {
			return err
		}
		if errs[i] != nil && !errors.Is(errs[i], plumbing.ErrObjectNotFound) {
			o.endBatch() // git ends at a damaged object; a new git continues after it
			asked = i + 1
		}
	}
	return nil
}

// An announced reads as many bytes as git has announced.
type announced struct {
	r    io.Reader
	left int64
}

func (a *announced) Read(p []byte) (int, error) {
	if a.left == 0 {
		return 0, io.EOF
	}
	n, err := a.r.Read(p[:min(int64(len(p)), a.left)])
	if a.left -= int64(n); err == io.EOF {
		err = fmt.Errorf("%w: git has ended in the middle of it", ErrDamaged)
	}
	return n, err
}

func (a *announced) drain() error {
	n, err := io.CopyN(io.Discard, a.r, a.left)
	a.left -= n
	return err
}

func (p *Process) newline() error {
	c, err := p.Stdout.ReadByte()
	if err == nil && c != '\n' {
		err = fmt.Errorf("unexpected %q behind an object", c)
	}
	return err
}
