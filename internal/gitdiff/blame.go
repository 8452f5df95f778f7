package gitdiff

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
)

// A BlameOptions is a query for [Blame].
type BlameOptions struct {
	Commit  object.Hash // the file's commit
	Path    string      // of the file, from the top of the worktree
	Ranges  []string    // git's -L; none for all lines
	Since   object.Hash // if set, lines that came no later are [Blamed.Before]
	Options []string    // git's own: -w, -M, -C
	// Parents is a file that replaces the parents of commits (-S), "" for none.
	// In a shallow clone it must list the boundary. Git never ends on a cycle.
	Parents string
}

// A Blamed is one line of a file with its origin.
type Blamed struct {
	Number int         // line number in the file, from 1
	Text   string      // as stored, without the line feed
	Commit object.Hash // where it comes from; zero if it is not committed
	Line   int         // its line number there
	Path   string      // the file's name there
	Before bool        // it came no later than [BlameOptions.Since], or the history ends there
	In     *Blamable
	// Previous is Commit's parent with the file, as PreviousPath; or zero.
	Previous     object.Hash
	PreviousPath string
}

// A Blamable is a commit as `git blame` describes it.
type Blamable struct {
	Author, Email             string
	At                        time.Time // when it was written, in the author's time zone
	Committer, CommitterEmail string
	Committed                 time.Time // in the committer's time zone
	Summary                   string    // the first line of the message
}

// Blame runs `git blame` without textconv and replacements, and without a
// blame.ignoreRevsFile that does not exist. A failure is an [*git.Error].
func Blame(ctx context.Context, r *git.Repo, b BlameOptions) ([]Blamed, error) {
	args := []string{"blame", "--porcelain", "--no-progress", "--root"}
	from := r
	if b.Parents != "" {
		// Git would ignore its line for a commit where a shallow clone ends.
		args, from = append(args, "-S", b.Parents), r.With(git.Env("GIT_SHALLOW_FILE="+os.DevNull))
	}
	args = append(args, b.Options...)
	for _, lines := range b.Ranges {
		args = append(args, "-L"+lines)
	}
	rev := b.Commit.String()
	if !b.Since.IsZero() {
		rev = b.Since.String() + ".." + rev
	}
	ignored, err := ignoredRevs(ctx, r)
	if err != nil {
		return nil, err
	}
	out, err := from.Output(ctx, nil, append(append(args, ignored...), rev, "--", b.Path)...)
	if err != nil {
		return nil, err
	}
	list, err := parseBlame(out)
	if err != nil {
		return nil, fmt.Errorf("read git blame of %q: %w", b.Path, err)
	}
	return list, nil
}

// ignoredRevs returns flags for those blame.ignoreRevsFiles that exist.
func ignoredRevs(ctx context.Context, r *git.Repo) ([]string, error) {
	out, err := r.Output(ctx, nil, "config", "-z", "--type=path", "--get-all", "blame.ignoreRevsFile")
	if git.Status(err) == 1 || err == nil && len(out) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	flags := []string{"--no-ignore-revs-file"}
	for path := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		if path == "" { // an empty value resets the list
			flags = flags[:1]
			continue
		}
		at := path
		if !filepath.IsAbs(at) {
			at = filepath.Join(r.Top, at)
		}
		if _, err := os.Stat(at); err == nil {
			flags = append(flags, "--ignore-revs-file="+path)
		}
	}
	return flags, nil
}

// parseBlame reads `git blame --porcelain`: for each line a header of hash and
// numbers, the commit's headers if it is new, and a tab with the line.
func parseBlame(out []byte) ([]Blamed, error) {
	var list []Blamed
	commits := make(map[object.Hash]*seenCommit)
	var line Blamed
	var c *seenCommit
	for text := range bytes.Lines(out) {
		text, ended := bytes.CutSuffix(text, []byte{'\n'})
		switch {
		case c == nil:
			fields := strings.Fields(string(text))
			if len(fields) < 3 {
				return nil, fmt.Errorf("%w %q", errPorcelain, text)
			}
			line = Blamed{}
			err := line.Commit.UnmarshalText([]byte(fields[0]))
			if err == nil {
				line.Line, err = strconv.Atoi(fields[1])
			}
			if err == nil {
				line.Number, err = strconv.Atoi(fields[2])
			}
			if err != nil {
				return nil, err
			}
			if c = commits[line.Commit]; c == nil {
				c = &seenCommit{in: new(Blamable)}
				commits[line.Commit] = c
			}
		case len(text) > 0 && text[0] == '\t':
			line.Text, line.Path, line.Before, line.In = string(text[1:]), c.path, c.before, c.in
			line.Previous, line.PreviousPath = c.previous, c.previousPath
			list = append(list, line)
			c = nil
		case !ended:
			return nil, fmt.Errorf("%w %q", errPorcelain, text)
		default:
			if err := c.header(string(text)); err != nil {
				return nil, err
			}
		}
	}
	if c != nil {
		return nil, fmt.Errorf("%w: it ends too early", errPorcelain)
	}
	return list, nil
}

type seenCommit struct {
	in     *Blamable
	before bool
	// About the file; git repeats these when they change.
	path         string
	previous     object.Hash
	previousPath string
	preceded     bool // a "previous" was read, and its "filename" comes next
}

func (c *seenCommit) header(text string) (err error) {
	key, value, _ := strings.Cut(text, " ")
	switch key {
	case "author":
		c.in.Author = value
	case "author-mail":
		c.in.Email = address(value)
	case "author-time":
		c.in.At, err = object.UnixTime(value)
	case "author-tz":
		c.in.At = inZone(c.in.At, value)
	case "committer":
		c.in.Committer = value
	case "committer-mail":
		c.in.CommitterEmail = address(value)
	case "committer-time":
		c.in.Committed, err = object.UnixTime(value)
	case "committer-tz":
		c.in.Committed = inZone(c.in.Committed, value)
	case "summary":
		c.in.Summary = value
	case "boundary":
		c.before = true
	case "previous":
		hash, path, _ := strings.Cut(value, " ")
		if err = c.previous.UnmarshalText([]byte(hash)); err == nil {
			c.previousPath, err = unquotePath(path)
		}
		c.preceded = true
	case "filename":
		if !c.preceded {
			c.previous, c.previousPath = object.Hash{}, ""
		}
		c.preceded = false
		c.path, err = unquotePath(value)
	}
	return err
}

func address(mail string) string {
	return strings.TrimSuffix(strings.TrimPrefix(mail, "<"), ">")
}

// inZone returns t in a zone that git wrote, such as "+0130".
func inZone(t time.Time, zone string) time.Time {
	n, err := strconv.Atoi(zone)
	if err != nil {
		return t
	}
	return t.In(time.FixedZone("", (n/100*60+n%100)*60))
}
