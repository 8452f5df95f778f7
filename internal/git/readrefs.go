package git

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gitagent/internal/git/object"
)

// A Looking is told by [Repo.Refs] what was asked for and what was found, which
// it may correct.
type Looking func(ctx context.Context, names []string, refs map[string]object.Hash)

// Watched returns the repository with f looking on when refs are read, or
// nobody if it is nil.
func (r *Repo) Watched(f Looking) *Repo {
	s := *r
	s.looking = f
	return &s
}

// Refs returns the hashes of the refs that exist, of full names; a name with a
// final slash stands for all refs below it.
//
// Loose refs are read from their files: a hook has just written them. One whose
// file holds no hash is zero; git would skip it silently.
func (r *Repo) Refs(ctx context.Context, names ...string) (map[string]object.Hash, error) {
	refs, err := r.refs(ctx, names)
	if err == nil && r.looking != nil {
		r.looking(ctx, names, refs)
	}
	return refs, err
}

func (r *Repo) refs(ctx context.Context, names []string) (map[string]object.Hash, error) {
	refs := make(map[string]object.Hash)
	var ask []string
	for _, name := range names {
		if h, ok := looseRef(r, name); ok {
			refs[name] = h
		} else {
			ask = append(ask, name)
		}
	}
	if len(ask) == 0 {
		return refs, nil
	}
	if err := r.eachRef(ctx, refs, ask...); err != nil {
		return refs, err
	}
	for _, name := range ask {
		r.brokenRefs(name, refs)
	}
	return refs, nil
}

// OwnRefs returns all refs but symbolic ones (refs/remotes/origin/HEAD), as git
// refuses to move a ref by two names, and [Keepers], which a clone of a mirror
// has as others.
func (r *Repo) OwnRefs(ctx context.Context) (map[string]object.Hash, error) {
	refs := make(map[string]object.Hash)
	out, err := r.Output(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname) %(symref)")
	if err != nil {
		return refs, err
	}
	symbolic := make(map[string]bool)
	for line := range strings.Lines(string(out)) {
		hash, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		name, to, _ := strings.Cut(rest, " ")
		if refs[name], err = object.ParseHash(hash); err != nil {
			return refs, fmt.Errorf("read refs: %w", err)
		}
		symbolic[name] = to != ""
	}
	r.brokenRefs("refs/", refs)
	if r.looking != nil {
		r.looking(ctx, []string{"refs/"}, refs)
	}
	maps.DeleteFunc(refs, func(name string, _ object.Hash) bool { return symbolic[name] || strings.HasPrefix(name, Keepers) })
	return refs, nil
}

// brokenRefs adds refs whose files hold no hash, but trusts one that git listed
// if its size is right. A power cut leaves zeros, perhaps as many.
func (r *Repo) brokenRefs(name string, refs map[string]object.Hash) {
	if !strings.HasPrefix(name, "refs/") || strings.Contains(name, "..") || strings.ContainsAny(name, "*?[") || r.InTables() {
		return // with reftables, refs/heads is a file against older gits
	}
	_ = filepath.WalkDir(filepath.Join(r.RefsDir(), filepath.FromSlash(name)), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasSuffix(path, ".lock") {
			return nil // it may just have been packed
		}
		rel, err := filepath.Rel(r.RefsDir(), path)
		if err != nil {
			return nil
		}
		name := filepath.ToSlash(rel)
		info, err := d.Info()
		if _, listed := refs[name]; err != nil || listed && info.Size() == int64(r.Format().Digits()+1) {
			return nil
		}
		if data, err := readPlain(path); err == nil && !isRef(data) {
			refs[name] = object.Hash{}
		}
		return nil
	})
}

// isRef reports whether data may be a ref's file: a hash, or a symbolic ref.
func isRef(data []byte) bool {
	text := strings.TrimRight(string(data), "\r\n")
	return strings.HasPrefix(text, "ref: ") || (len(text) == 40 || len(text) == 64) && strings.Trim(text, "0123456789abcdef") == ""
}

// Containing returns the refs of a pattern that reach commit; see [Repo.Refs].
func (r *Repo) Containing(ctx context.Context, commit object.Hash, pattern string) (map[string]object.Hash, error) {
	refs := make(map[string]object.Hash)
	return refs, r.eachRef(ctx, refs, "--contains="+commit.String(), pattern)
}

// A Dated is a commit and when it was made, in seconds.
type Dated struct {
	Hash object.Hash
	At   int64 // 0 for what is no commit
}

// CommitDates returns where refs are that patterns match, and committer dates.
func (r *Repo) CommitDates(ctx context.Context, patterns ...string) (map[string]Dated, error) {
	out, err := r.Output(ctx, nil, append([]string{"for-each-ref", "--format=%(objectname) %(refname) %(committerdate:unix)"}, patterns...)...)
	refs := make(map[string]Dated)
	for line := range strings.Lines(string(out)) {
		hash, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		ref, date, _ := strings.Cut(rest, " ")
		at, _ := strconv.ParseInt(date, 10, 64)
		refs[ref] = Dated{object.NewHash(hash), at}
	}
	return refs, err
}

func (r *Repo) eachRef(ctx context.Context, refs map[string]object.Hash, args ...string) error {
	out, err := r.Output(ctx, nil, append([]string{"for-each-ref", "--format=%(objectname) %(refname)"}, args...)...)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(out)) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			return fmt.Errorf("read refs: unexpected line %q", line)
		}
		if refs[name], err = object.ParseHash(hash); err != nil {
			return fmt.Errorf("read refs: %w", err)
		}
	}
	return nil
}

func looseRef(r *Repo, name string) (object.Hash, bool) {
	if !strings.HasPrefix(name, "refs/") || strings.HasSuffix(name, "/") || strings.Contains(name, "..") {
		return object.Hash{}, false
	}
	data, err := os.ReadFile(filepath.Join(r.RefsDir(), filepath.FromSlash(name)))
	text := strings.TrimSuffix(string(data), "\n")
	if err != nil {
		return object.Hash{}, false // packed, or not there
	}
	h, err := object.ParseHash(text)
	return h, err == nil && len(text) == r.Format().Digits() // it may be symbolic
}
