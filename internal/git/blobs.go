package git

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// Blobs reads many blobs and hands the content of each to f while git reads it, with its index in
// list, in order; or the error that [Objects.Read] would return for it. An error of reading says
// that the rest of a blob can't be had. An error of f ends the walk and is returned. f must not use o.
//
// As with [Objects.Each], what was not flushed is not found. Nothing is kept in memory, so that it
// is the way to read gigabytes.
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

// stream has git send those of the blobs that have no error, and hands over all.
func (o *Objects) stream(list []Wanted, errs []error, f func(i int, content io.Reader, err error) error) error {
	asked := 0 // those before it were asked for
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
		if asked <= i { // git is new
			var in strings.Builder
			for asked = i; asked < len(list); asked++ {
				if errs[asked] == nil {
					in.WriteString("contents " + list[asked].Hash.String() + "\n")
				}
			}
			in.WriteString("flush\n")
			_, _ = io.WriteString(p.stdin, in.String()) // that git has ended shows when it is read
		}
		_, size, err := p.object(w.Hash, false)
		if err != nil {
			errs[i] = err
			err = f(i, nil, err)
		} else {
			r := &announced{r: p.stdout, left: size}
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
			o.endBatch() // it ends at an object that is damaged; another one goes on behind that
			asked = i + 1
		}
	}
	return nil
}

// announced reads as many bytes as git has announced.
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

// drain passes over what was not read.
func (a *announced) drain() error {
	n, err := io.CopyN(io.Discard, a.r, a.left)
	a.left -= n
	return err
}

// newline reads what follows a content.
func (p *Process) newline() error {
	c, err := p.stdout.ReadByte()
	if err == nil && c != '\n' {
		err = fmt.Errorf("unexpected %q behind an object", c)
	}
	return err
}
