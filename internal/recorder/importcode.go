package recorder

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// A codePlace is where the code was at a turn.
type codePlace struct {
	code, base object.Hash
	head       object.Hash // HEAD at the end; zero if unknown
	by         string
}

// findCode finds where the code was at a session's turn with this summary, which
// names these commits. Uncommitted changes of that time remain unknown.
func (im *importer) findCode(ctx context.Context, objects *git.Objects, c *candidate, sum transcript.Summary, named func() []string) (codePlace, error) {
	if repo := im.place(ctx, cmp.Or(sum.Cwd, c.Dir), sum.Started).tree; repo != nil {
		log := im.headLog(ctx, repo)
		if code, ok := log.at(sum.Ended); ok && here(objects, code) {
			w := codePlace{code: code, base: code, head: code, by: turns.ByReflog}
			base, ok := log.at(sum.Started)
			if !ok || base == code || !here(objects, base) {
				return w, nil
			}
			return im.since(ctx, objects, w, base)
		}
	}
	if made := im.made(ctx, objects, sum, named()); len(made) > 0 {
		code := made[len(made)-1]
		w := codePlace{code: code, base: code, by: turns.ByTranscript}
		parents, err := objects.Parents(made[0])
		if err != nil || len(parents) == 0 || !here(objects, parents[0]) {
			return w, err
		}
		return im.since(ctx, objects, w, parents[0])
	}
	return codePlace{code: im.head, base: im.head, by: turns.ByNothing}, nil
}

// since sets a turn's base commit, unless HEAD has jumped since then.
func (im *importer) since(ctx context.Context, objects *git.Objects, w codePlace, base object.Hash) (codePlace, error) {
	parents, err := objects.Parents(w.code)
	if err != nil {
		return w, err
	}
	descends := slices.Contains(parents, base)
	if !descends {
		if descends, err = im.Repo.IsAncestor(ctx, base, w.code); err != nil {
			return w, err
		}
	}
	if descends {
		w.base = base
	}
	return w, nil
}

// here reports whether a commit and its tree exist.
func here(objects *git.Objects, commit object.Hash) bool {
	_, err := objects.TreeOf(commit)
	return err == nil
}

// made returns the named commits that exist and were made during the turn.
func (im *importer) made(ctx context.Context, objects *git.Objects, sum transcript.Summary, names []string) (made []object.Hash) {
	if len(names) == 0 {
		return nil
	}
	out, err := im.Repo.Output(ctx, strings.NewReader(strings.Join(names, "\n")+"\n"), "cat-file", "--batch-check=%(objectname) %(objecttype)")
	if err != nil {
		return nil
	}
	from, to := sum.Started.Truncate(time.Second), sum.Ended.Add(time.Second)
	for line := range strings.Lines(string(out)) {
		name, kind, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if kind != "commit" || !object.IsHash(name) {
			continue
		}
		content, err := objects.Read(plumbing.CommitObject, object.NewHash(name), git.MaxCommit)
		if err != nil {
			continue
		}
		if c, err := object.ParseCommit(content); err == nil && !c.Committer.When.Before(from) && !c.Committer.When.After(to) {
			made = append(made, object.NewHash(name))
		}
	}
	return made
}

// A headLog is the reflog of a worktree's HEAD, the newest entry first.
type headLog []headEntry

type headEntry struct {
	to   object.Hash
	when int64 // seconds
}

// headLog reads the reflog of a worktree's HEAD; empty if it can't be read.
func (im *importer) headLog(ctx context.Context, repo *git.Repo) headLog {
	log, known := im.logs[repo.GitDir]
	if known {
		return log
	}
	var out []byte
	if _, err := repo.Output(ctx, nil, "reflog", "exists", "HEAD"); err == nil { // else git takes that of HEAD's branch
		out, _ = repo.Output(ctx, nil, "log", "--walk-reflogs", "--no-patch", "--date=unix", "--format=%H %gd", "HEAD", "--")
	}
	for line := range strings.Lines(string(out)) {
		hash, selector, _ := strings.Cut(line, " HEAD@{")
		seconds, err := strconv.ParseInt(strings.TrimSuffix(selector, "}\n"), 10, 64)
		if err != nil || !object.IsHash(hash) {
			log = nil
			break
		}
		log = append(log, headEntry{object.NewHash(hash), seconds})
	}
	im.logs[repo.GitDir] = log
	return log
}

// at returns the commit that HEAD was at. It is unknown before the first entry
// and in the very second in which HEAD moved.
func (l headLog) at(t time.Time) (commit object.Hash, ok bool) {
	if t.IsZero() {
		return commit, false
	}
	for _, e := range l {
		if e.when <= t.Unix() {
			return e.to, e.when < t.Unix()
		}
	}
	return commit, false
}
