package gitdiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Patch is the difference between two versions of a file, as git prints it.
type Patch struct {
	Hunks  string // from the first @@ on; empty if Binary or Long
	Binary bool
	Long   bool // the hunks exceed a limit
}

// Versions are two versions of a file, by their blobs; zero for no file.
type Versions struct{ Old, New object.Hash }

const maxPatches = 32 << 20

// Patches compares pairs of trees in one git process, and calls f for each in
// order. A moved file is a deleted and an added one. A patch has at most most
// bytes, and those of a pair maxPatches; files of more than 32 MB count as binary. An error of f ends it and is
// returned.
func Patches(ctx context.Context, r *git.Repo, pairs [][2]object.Hash, only Paths, most int, f func(i int, patches map[Versions]*Patch) error) error {
	return patches(ctx, r, &patchReader{pairs: pairs, most: most, next: func(i int, c *Comparison) error { return f(i, c.Patches) }}, only)
}

// patches runs git for what p reads, with more flags for the rest of a [Comparison].
func patches(ctx context.Context, r *git.Repo, p *patchReader, only Paths, flags ...string) error {
	if len(p.pairs) == 0 {
		return nil
	}
	var in strings.Builder
	for _, pair := range p.pairs {
		fmt.Fprintf(&in, "%s %s\n", pair[0], pair[1])
	}
	p.heading = heading(p.pairs, 0)
	var stderr bytes.Buffer
	args := slices.Concat([]string{"diff-tree", "--stdin", "-r", "-p", "--full-index", "--no-renames", "--unified=3"}, flags, []string{"--"}, only.Specs)
	err := r.With(git.In(only.Dir), git.Wary).Run(ctx, strings.NewReader(in.String()), p, &stderr, args...)
	if e := (*git.Error)(nil); errors.As(err, &e) {
		e.Stderr = strings.TrimSpace(stderr.String())
	}
	switch {
	case p.err != nil || err != nil:
	case p.pair != len(p.pairs): // it goes on after one without a tree, with what looks like more of the pair before
		p.err = Skipped(p.pairs[p.pair][0], p.pairs[p.pair][1])
	default:
		p.end()
	}
	if err := errors.Join(p.err, err); err != nil {
		return fmt.Errorf("compare %d pairs of trees: %w", len(p.pairs), err)
	}
	return nil
}

// A patchReader parses `git diff-tree --stdin -p --full-index`: a line with
// both trees, with --raw a line for each entry that differs, then for each file
// "diff --git" with unused names, and "index" with the versions.
type patchReader struct {
	pairs   [][2]object.Hash
	heading string // of the next pair
	most    int
	next    func(i int, c *Comparison) error
	err     error

	line    []byte // so far
	long    bool   // the rest of it is dropped
	pair    int    // the pair being read, from 1; 0 before the first
	found   *Comparison
	raw     []Difference    // of found, in git's order, with directories
	paths   map[string]bool // of raw
	limit   int             // of raw
	file    *Patch
	hunks   strings.Builder
	inHunks bool
	total   int // bytes of the pair's patches so far
}

// errEnough ends git after an error.
var errEnough = errors.New("no more is wanted")

func (p *patchReader) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && p.err == nil {
		piece, rest, whole := bytes.Cut(b, []byte{'\n'})
		if len(p.line)+len(piece) <= max(p.most, 4096) {
			p.line = append(p.line, piece...)
		} else {
			p.long = true
		}
		if whole {
			p.endLine()
			p.line, p.long = p.line[:0], false
		}
		b = rest
	}
	if p.err != nil {
		return 0, errEnough
	}
	return n, nil
}

func (p *patchReader) endLine() {
	if line, ok := strings.CutSuffix(p.heading, "\n"); ok && string(p.line) == line {
		p.end()
		p.total = 0
		p.pair++
		p.heading = heading(p.pairs, p.pair)
		clear(p.paths)
		p.found, p.raw = &Comparison{Whole: true, Patches: make(map[Versions]*Patch)}, nil
		return
	}
	if p.long && !p.inHunks && p.found != nil { // a path
		p.found.Whole = false
	}
	switch {
	case bytes.HasPrefix(p.line, []byte("diff --git ")):
		p.endFile()
	case p.inHunks:
		p.add()
	case bytes.HasPrefix(p.line, []byte("@@ ")):
		p.inHunks = true
		p.add()
	case bytes.HasPrefix(p.line, []byte("index ")):
		versions, _, _ := strings.Cut(string(p.line[len("index "):]), " ")
		from, to, _ := strings.Cut(versions, "..")
		if p.found != nil {
			p.file = new(Patch)
			p.found.Patches[Versions{object.NewHash(from), object.NewHash(to)}] = p.file
		}
	case bytes.HasPrefix(p.line, []byte{':'}) && p.found != nil:
		p.entry()
	case bytes.HasPrefix(p.line, []byte("Binary files ")) && p.file != nil:
		p.file.Binary = true
	}
}

func (p *patchReader) add() {
	if p.file == nil {
		return
	}
	if p.file.Long = p.file.Long || p.long || p.hunks.Len()+len(p.line)+1 > min(p.most, maxPatches-p.total); !p.file.Long {
		p.hunks.Write(p.line)
		p.hunks.WriteByte('\n')
	}
}

func (p *patchReader) endFile() {
	if p.file != nil && !p.file.Long {
		p.file.Hunks = p.hunks.String()
		p.total += len(p.file.Hunks)
	}
	p.file, p.inHunks = nil, false
	p.hunks.Reset()
}

func (p *patchReader) end() {
	p.endFile()
	if p.pair > 0 && p.err == nil {
		p.found.Found = arranged(p.raw)
		p.err = p.next(p.pair-1, p.found)
	}
}
