package objectpurge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A Kind is what a [Root] is.
type Kind string

// The kinds.
const (
	Ref   Kind = "ref"   // of any worktree: branches, tags, notes, replacements, bisect's, the newest stash
	Log   Kind = "log"   // an entry of the log of a ref
	Stash Kind = "stash" // an entry of the log of refs/stash: an older stash
	Index Kind = "index" // of a worktree, also our private one, which can be removed
	// File is ORIG_HEAD and its like (a Ref in reftables), COMMIT_EDITMSG, what
	// a rebase keeps, or local state of ours with the secret.
	File Kind = "file"
)

// A Root leads to a doomed object from outside, or has the secret itself.
type Root struct {
	Kind Kind

	// Ref is the full name of a ref, or of a log's, as git takes it:
	// "worktrees/<name>/..." in a linked worktree, "HEAD" if detached.
	Ref   string
	Entry int    // of a log, as in ref@{entry}: 0 is the newest
	Path  string // of an index or a file, absolute

	Hashes []object.Hash // of doomed objects, or of what leads to one
	Said   bool          // the text itself has the secret
}

// Roots finds what leads to doomed objects in all worktrees and, unless has is
// nil, logs and files of git's in which it finds the secret. Only the caller
// knows which roots are its own.
func (l *Referrers) Roots(ctx context.Context, repo *git.Repo, has func(text []byte) bool) ([]Root, error) {
	if has == nil {
		has = func([]byte) bool { return false }
	}
	f := finder{Referrers: l, dir: repo.CommonDir, refsDir: repo.RefsDir(), format: repo.Format(), has: has}
	admins, err := os.ReadDir(filepath.Join(f.dir, "worktrees"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list worktrees: %w", err)
	}
	look := func(prefix string) error {
		err := f.refs(ctx, repo, prefix)
		if err == nil && repo.InTables() {
			err = f.tableLogs(ctx, repo, prefix)
		}
		return err
	}
	err = look("")
	for _, admin := range admins {
		if err == nil && isFile(filepath.Join(f.dir, "worktrees", admin.Name(), "HEAD")) {
			err = look("worktrees/" + admin.Name() + "/")
		}
	}
	if err == nil {
		err = files(repo, f.file)
	}
	if err != nil {
		return nil, fmt.Errorf("look for what keeps objects: %w", err)
	}
	return f.roots, nil
}

type finder struct {
	*Referrers
	dir     string // the common directory
	refsDir string // of refs and logs
	format  object.Format
	has     func([]byte) bool
	roots   []Root

	buffer []byte
}

// add takes a root that leads to doomed objects or has the secret.
func (f *finder) add(r Root, hashes ...object.Hash) {
	for _, h := range hashes {
		if f.Has(h) && !slices.Contains(r.Hashes, h) {
			r.Hashes = append(r.Hashes, h)
		}
	}
	if len(r.Hashes) > 0 || r.Said {
		f.roots = append(f.roots, r)
	}
}

// refs adds shared and main refs or, with a prefix, those of a worktree alone.
func (f *finder) refs(ctx context.Context, repo *git.Repo, prefix string) error {
	in := quiet(repo).With(git.Env("GIT_DIR=" + filepath.Join(f.dir, filepath.FromSlash(prefix))))
	args := []string{"for-each-ref", "--format=%(objectname) %(symref) %(refname)"}
	switch {
	case repo.InTables():
		args = append(args, "--include-root-refs")
	case prefix != "":
		args = append(args, "refs/bisect", "refs/worktree", "refs/rewritten")
	}
	err := in.Split(ctx, nil, '\n', func(line []byte) error {
		fields := bytes.SplitN(line, []byte(" "), 3)
		if len(fields) == 3 && (string(fields[2]) == "HEAD" || prefix != "" && !ofWorktree(string(fields[2]))) {
			return nil
		}
		if len(fields) == 3 && git.IsKeeper(string(fields[2])) {
			return nil // a purge makes them anew
		}
		if h, err := object.ParseHash(fields[0]); err == nil && len(fields) == 3 && len(fields[1]) == 0 {
			f.add(Root{Kind: Ref, Ref: prefix + string(fields[2])}, h)
		}
		return nil
	}, args...)
	if err != nil {
		return err
	}
	branch, err := in.Output(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if len(branch) > 0 || err != nil && git.Status(err) != 1 {
		return err
	}
	out, err := in.Output(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD")
	if h, err := object.ParseHash(bytes.TrimSpace(out)); err == nil {
		f.add(Root{Kind: Ref, Ref: prefix + "HEAD"}, h)
	}
	return err
}

func (f *finder) file(dir, name string) error {
	prefix, parts := "", strings.Split(filepath.ToSlash(name), "/")
	if len(parts) > 2 && parts[0] == "worktrees" {
		prefix, parts = strings.Join(parts[:2], "/")+"/", parts[2:]
	}
	switch parts[0] {
	case "refs", "packed-refs", "HEAD", "reftable": // see refs
		return nil
	case "hooks", "config", "config.worktree", "description", "info", "lfs": // the user's own
		return nil
	case "logs":
		return f.log(prefix + strings.Join(parts[1:], "/"))
	}
	if prefix == "" && len(parts) == 1 && git.IsKeeper(name) {
		return nil // a purge makes them anew
	}
	path := filepath.Join(dir, name)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	root := Root{Kind: File, Path: path}
	var found []object.Hash
	first := true
	f.buffer, err = pieces(file, f.buffer, func(part []byte) bool {
		if first && isIndex(part) {
			root.Kind = Index
		}
		first = false
		switch {
		case root.Kind == Index:
			found = append(found, f.inside(part)...)
		case parts[0] != "agent": // our journal names them there, and sessions what they began with
			found = append(found, f.written(part)...)
		}
		root.Said = root.Said || root.Kind == File && f.has(part)
		return false
	})
	f.add(root, found...)
	return err
}

// isIndex reports whether bytes begin an index, also a split one's shared part.
func isIndex(b []byte) bool { return bytes.HasPrefix(b, []byte("DIRC")) }

// inside returns the known hashes in an index. It looks at every byte, as
// nothing else looks like one.
func (f *finder) inside(b []byte) (found []object.Hash) {
	var first [1 << 16]bool
	for h := range f.to {
		first[int(h.Byte(0))<<8|int(h.Byte(1))] = true
	}
	for i := 0; i+f.format.Size() <= len(b); i++ {
		if first[int(b[i])<<8|int(b[i+1])] {
			if h := f.format.Hash(b[i:]); f.Has(h) {
				found = append(found, h)
			}
		}
	}
	return found
}

func (f *finder) written(b []byte) (found []object.Hash) {
	digits, run := f.format.Digits(), 0
	for i, c := range append(b[:len(b):len(b)], 0) {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'f' {
			run++
			continue
		}
		if run == digits {
			if h, err := object.ParseHash(b[i-digits : i]); err == nil && f.Has(h) {
				found = append(found, h)
			}
		}
		run = 0
	}
	return found
}

func (f *finder) log(ref string) error {
	data, err := os.ReadFile(logFile(f.refsDir, ref))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	entries := parseLog(data, f.format)
	for i, e := range entries {
		hashes := []object.Hash{e.new}
		// Git rewrites the old value of an entry when the one before it goes.
		if i == 0 || entries[i-1].new != e.old {
			hashes = append(hashes, e.old)
		}
		f.add(Root{Kind: logKind(ref), Ref: ref, Entry: len(entries) - 1 - i, Said: f.has(e.line)}, hashes...)
	}
	return nil
}

func logKind(ref string) Kind {
	if ref == "refs/stash" {
		return Stash
	}
	return Log
}

// logFile returns where git has the log of a ref of any worktree.
func logFile(refsDir, ref string) string {
	if parts := strings.SplitN(ref, "/", 3); len(parts) == 3 && parts[0] == "worktrees" {
		return filepath.Join(refsDir, parts[0], parts[1], "logs", filepath.FromSlash(parts[2]))
	}
	return filepath.Join(refsDir, "logs", filepath.FromSlash(ref))
}

// A logEntry is a line of a log: a ref's values, who moved it, and why.
type logEntry struct {
	old, new object.Hash
	line     []byte
}

// parseLog reads a log as git does, which does not count damaged lines.
func parseLog(data []byte, format object.Format) (entries []logEntry) {
	digits := format.Digits()
	for line := range bytes.Lines(data) {
		if len(line) < 2*digits+2 || line[digits] != ' ' || line[2*digits+1] != ' ' || line[len(line)-1] != '\n' {
			continue
		}
		before, err := object.ParseHash(line[:digits])
		after, err2 := object.ParseHash(line[digits+1:][:digits])
		if err == nil && err2 == nil && bytes.IndexByte(line, '>') > 0 {
			entries = append(entries, logEntry{before, after, line})
		}
	}
	return entries
}
