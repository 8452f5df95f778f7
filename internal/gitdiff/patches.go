package gitdiff

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
	if len(pairs) == 0 {
		return nil
	}
	var in strings.Builder
	for _, p := range pairs {
		fmt.Fprintf(&in, "%s %s\n", p[0], p[1])
	}
	p := &patchReader{pairs: pairs, heading: heading(pairs, 0), most: most, next: f}
	var stderr bytes.Buffer
	args := []string{"diff-tree", "--stdin", "-r", "-p", "--full-index", "--no-renames", "--unified=3", "--"}
	err := r.With(git.In(only.Dir), git.Wary).Run(ctx, strings.NewReader(in.String()), p, &stderr, append(args, only.Specs...)...)
	if e := (*git.Error)(nil); errors.As(err, &e) {
		e.Stderr = strings.TrimSpace(stderr.String())
	}
	if p.err == nil && err == nil {
		p.end()
		if p.err == nil && p.pair != len(pairs) {
			p.err = fmt.Errorf("git has compared %d", p.pair)
		}
	}
	if err := errors.Join(p.err, err); err != nil {
		return fmt.Errorf("compare %d pairs of trees: %w", len(pairs), err)
	}
	return nil
}

// A patchReader parses `git diff-tree --stdin -p --full-index`: a line with
// both trees, then for each file "diff --git" with unused names, and "index"
// with the versions.
type patchReader struct {
	pairs   [][2]object.Hash
	heading string // of the next pair
	most    int
	next    func(i int, patches map[Versions]*Patch) error
	err     error

	line    []byte // so far
	long    bool   // the rest of it is dropped
	pair    int    // the pair being read, from 1; 0 before the first
	patches map[Versions]*Patch
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
		p.patches = make(map[Versions]*Patch)
		return
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
		if p.patches != nil {
			p.file = new(Patch)
			p.patches[Versions{object.NewHash(from), object.NewHash(to)}] = p.file
		}
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
		p.err = p.next(p.pair-1, p.patches)
	}
}
