package purgerewrite

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/scrub"
)

// A form says what a text is, and so what may replace it.
type form int

const (
	plain form = iota // any text
	lines             // of JSON, which they stay
	blank             // lines of JSON of a turn that is purged as a whole
)

// A rewritten is what replaces a blob.
type rewritten struct {
	hash object.Hash // zero if it has to be left out
	size int64       // of the new content; -1 if that is the old one
}

type blobKey struct {
	hash object.Hash
	form form
}

// A text larger than MaxText is only searched, in overlapping pieces, so that
// nothing hides at their ends, and left out if it has anything.
const (
	MaxText = 64 << 20
	piece   = 8 << 20
	overlap = 64 << 10
)

func (r *Rewrite) blob(ctx context.Context, at Place, hash object.Hash, f form) (rewritten, error) {
	key := blobKey{hash, f}
	if done, ok := r.blobs[key]; ok {
		return done, nil
	}
	if r.clean(hash) {
		return rewritten{hash, -1}, nil
	}
	done, err := r.rewriteBlob(ctx, at, hash, f)
	if err == nil {
		r.blobs[key] = done
		if done.hash != hash {
			r.replaced[hash] = done.hash
		}
	}
	return done, err
}

func (r *Rewrite) rewriteBlob(ctx context.Context, at Place, hash object.Hash, f form) (rewritten, error) {
	same := rewritten{hash, -1}
	most := int64(MaxText)
	if f != plain {
		most = ledger.MaxSegment
	}
	content, err := r.read(plumbing.BlobObject, hash, most)
	if errors.Is(err, git.ErrTooLarge) {
		return r.searchLarge(ctx, at, hash)
	}
	if err != nil {
		return same, r.unread(ctx, at, err)
	}
	var out []byte
	n, ok := 0, true
	switch {
	case f == blank:
		out, n = blankLines(content), 1
	case f == lines:
		if out = content; len(r.prompts) > 0 {
			out = scrub.Unquoted(content, r.isPrompt)
		}
		if !bytes.Equal(out, content) {
			n = 1
		}
		if r.Target.Finder != nil {
			var found int
			out, found = cleanLines(r.Target.Finder, out)
			n += found
		}
	case r.Target.Finder == nil:
		return same, nil
	default:
		if n = len(r.Target.Finder.Spans(content)); n > 0 {
			out, ok = r.Target.Finder.Clean(content)
		} else {
			out = content
		}
	}
	switch {
	case n == 0 || bytes.Equal(out, content):
		return same, nil
	case f == plain && (!ok || isBinary(content)):
		r.find(at, LeftOut, n)
		return rewritten{size: -1}, nil
	}
	r.find(at, Redacted, n)
	to, err := r.write(plumbing.BlobObject, out)
	return rewritten{to, int64(len(out))}, err
}

// searchLarge decides about a blob that is too large to be rewritten.
func (r *Rewrite) searchLarge(ctx context.Context, at Place, hash object.Hash) (rewritten, error) {
	found := 0
	if r.Target.Finder != nil {
		err := r.Objects.Stream(hash, 1<<62, func(in io.Reader) (err error) {
			buf := make([]byte, 0, piece+overlap)
			for err == nil && found == 0 {
				var n int
				n, err = io.ReadFull(in, buf[len(buf):cap(buf)])
				buf = buf[:len(buf)+n]
				found = len(r.Target.Finder.Spans(buf))
				buf = buf[:copy(buf, buf[max(0, len(buf)-overlap):])]
			}
			if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
				err = nil
			}
			return err
		})
		if found == 0 && err != nil {
			return rewritten{hash, -1}, r.unread(ctx, at, err)
		}
	}
	if found == 0 {
		return rewritten{hash, -1}, nil
	}
	r.find(at, LeftOut, found)
	return rewritten{size: -1}, nil
}

// cleanText returns a short text without finds, or a mark if something remains.
func (r *Rewrite) cleanText(text string) string {
	out, ok := r.Target.Finder.Clean([]byte(text))
	if !ok {
		return scrub.Mark
	}
	return string(out)
}

// named reports whether something is found in the name of a file.
func (r *Rewrite) named(name string) bool {
	found, known := r.names[name]
	if !known {
		if len(r.names) == maxNames {
			clear(r.names)
		}
		found = r.holds([]byte(name))
		r.names[name] = found
	}
	return found
}

// maxNames bounds the names that are remembered.
const maxNames = 1 << 17

func (r *Rewrite) holds(text []byte) bool { return len(r.Target.Finder.Spans(text)) > 0 }

// binaryHead is how many bytes decide whether a file is a text, as in git.
const binaryHead = 8000

func isBinary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), binaryHead)], 0) >= 0
}
