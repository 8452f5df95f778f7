package recorder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/transcript"
)

// placed is what is known of a directory.
type placed struct {
	ours bool      // it is, or was, in a worktree of this repository
	tree *git.Repo // that worktree, also one that is gone; nil if unknown
}

var errGone = errors.New("and nothing proves that it was in this repository: make that directory again, or the worktree, and import again")

// concerns reads the beginning of a session, and reports whether it began in
// this repository or, with c.err, may have.
func (im *importer) concerns(ctx context.Context, objects *git.Objects, c *candidate) bool {
	if c.Dir != "" && !transcript.Near(c.Dir, im.trees) && (im.exists(c.Dir) || !im.noted(ctx, objects, c)) {
		return false // without reading it: there may be thousands
	}
	if c.err = c.Err; c.err == nil {
		c.first, c.err = transcript.First(c.reader, c.Path)
	}
	if errors.Is(c.err, transcript.ErrNoTurn) {
		c.err = damaged(c.Path)
		return c.err != nil
	}
	if c.err != nil {
		return true
	}
	dir := c.dir()
	switch {
	case im.place(ctx, dir, c.first.At).ours:
	case dir == "" || im.exists(dir):
		return false
	case im.proved(ctx, objects, c):
	case transcript.Near(dir, im.trees):
		c.err = fmt.Errorf("it began in %s, which is gone, %w", dir, errGone)
		return true
	default:
		return false
	}
	c.Size, c.err = transcript.Size(c.Path)
	return true
}

// dir returns the directory that a session began in.
func (c *candidate) dir() string { return cmp.Or(c.first.Cwd, c.Dir) }

// damaged returns an error if nothing in a file is a client's.
func damaged(path string) error {
	const head = 64 << 10
	text, err := transcript.ReadRange(path, 0, head)
	if err == nil && !transcript.Readable(text) {
		err = fmt.Errorf("read session file %q: %w", path, transcript.ErrDamaged)
	}
	return err
}

// place finds out about a directory that was there at a time.
func (im *importer) place(ctx context.Context, dir string, at time.Time) placed {
	p, known := im.places[dir]
	if known || dir == "" {
		return p
	}
	found, err := git.Find(dir)
	p.ours = err == nil && git.SameFile(found.CommonDir, im.Repo.CommonDir)
	if p.ours {
		p.tree = found
	}
	if !im.exists(dir) {
		p = im.gone(ctx, dir, p.tree, at)
	}
	im.places[dir] = p
	return p
}

// gone returns what is known of a directory that is not there any more, and
// would be in a worktree of this repository, or nil. It was one if git has
// something of it, or if that worktree has had it since; without that, it may
// have been another repository.
func (im *importer) gone(ctx context.Context, dir string, around *git.Repo, at time.Time) placed {
	for _, tree := range im.trees {
		if _, within := git.Within(tree, dir); within && !im.exists(tree) {
			if behind := im.Repo.Behind(tree); behind != nil {
				return placed{true, behind}
			}
		}
	}
	if around == nil {
		return placed{}
	}
	name, ok := git.Within(around.Top, dir)
	if !ok {
		return placed{}
	}
	for _, a := range agent.All() {
		if a.Worktrees != "" && strings.HasPrefix(name, a.Worktrees+"/") {
			return placed{ours: true}
		}
	}
	if _, err := around.Output(ctx, nil, "rev-parse", "--verify", "--quiet", "HEAD:"+name); err == nil {
		return placed{true, around}
	}
	if at.IsZero() {
		return placed{}
	}
	removed, err := around.Output(ctx, nil, "rev-list", "-1", fmt.Sprintf("--since=@%d", at.Unix()), "HEAD", "--", ":(top,literal)"+name)
	if err != nil || len(removed) == 0 {
		return placed{}
	}
	return placed{true, around}
}

// noted reports whether a client noted that a session began beside a worktree,
// at a commit that is here.
func (im *importer) noted(ctx context.Context, objects *git.Objects, c *candidate) bool {
	return object.IsHash(c.Commit) && transcript.Beside(c.Dir, im.trees) && here(objects, object.NewHash(c.Commit)) && im.clones(ctx, c.Remote)
}

// proved reports whether a session that began in a directory that is gone was
// one of this repository's: the client has noted or made a commit that is here,
// or the session went on in a worktree.
func (im *importer) proved(ctx context.Context, objects *git.Objects, c *candidate) bool {
	if im.noted(ctx, objects, c) {
		return true
	}
	if !transcript.Near(c.dir(), im.trees) {
		return false
	}
	all, err := transcript.ReadSegment(c.Path, transcript.Cursor{})
	if err != nil {
		return false
	}
	return slices.ContainsFunc(transcript.Turns(c.reader(), all.Bytes), func(t transcript.FileTurn) bool {
		if im.exists(t.Cwd) && im.place(ctx, t.Cwd, t.At).ours {
			return true
		}
		lines := all.Bytes[t.Start:t.End]
		names := transcript.Commits(c.reader(), lines)
		return len(names) > 0 && len(im.made(ctx, objects, transcript.Summarise(c.reader(), lines), names)) > 0
	})
}

// clones reports whether this repository is a clone of what a URL names, or
// may be as there is none.
func (im *importer) clones(ctx context.Context, from string) bool {
	if from == "" {
		return true
	}
	out, _ := im.Repo.Output(ctx, nil, "config", "--null", "--get-regexp", `^remote\..*\.url$`)
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if _, to, ok := strings.Cut(entry, "\n"); ok && anonymous(to) == anonymous(from) {
			return true
		}
	}
	return false
}

// anonymous returns a URL without a user and password, which a client leaves
// out of its notes.
func anonymous(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User == nil {
		return text
	}
	u.User = nil
	return u.String()
}

// exists reports whether there is something at a path, or may be.
func (im *importer) exists(path string) bool {
	there, known := im.there[path]
	if !known {
		_, err := os.Stat(path)
		there = !errors.Is(err, fs.ErrNotExist)
		im.there[path] = there
	}
	return there
}
