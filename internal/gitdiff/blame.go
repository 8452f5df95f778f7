package gitdiff

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
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
	Ignored []string    // see [IgnoredRevs]
	// Parents is a file that replaces the parents of commits (-S), "" for none.
	// In a shallow clone it must list the boundary. Git never ends on a cycle.
	Parents string
}

// A Blamed is lines in a row of a file that were lines in a row of one commit.
type Blamed struct {
	Number int         // the first line's number in the file, from 1
	Lines  int         // how many lines there are
	Commit object.Hash // where they come from; zero if they are not committed
	Line   int         // the first line's number there
	Path   string      // the file's name there
	Before bool        // they came no later than [BlameOptions.Since], or the history ends there
	In     *Blamable
	// Previous is Commit's parent with the file, as PreviousPath; or zero.
	Previous     object.Hash
	PreviousPath string
}

// Part returns lines of b: those from a number in the file, without that of the
// end.
func (b Blamed) Part(from, end int) Blamed {
	b.Line, b.Number, b.Lines = b.Line+from-b.Number, from, end-from
	return b
}

// End is the number of the line after the last one.
func (b Blamed) End() int { return b.Number + b.Lines }

// A Blamable is a commit as `git blame` describes it.
type Blamable struct {
	Author, Email             string
	At                        time.Time // when it was written, in the author's time zone
	Committer, CommitterEmail string
	Committed                 time.Time // in the committer's time zone
	Summary                   string    // the first line of the message
}

// Blame runs `git blame` without textconv and replacements. The lines are in
// order. A failure is an [*git.Error].
func Blame(ctx context.Context, r *git.Repo, b BlameOptions) ([]Blamed, error) {
	args := []string{"blame", "--incremental", "--no-progress", "--root"}
	from := r.With(git.Env("GIT_FLUSH=0")) // a write for each answer would cost as much as they do
	if b.Parents != "" {
		// Git would ignore its line for a commit where a shallow clone ends.
		args, from = append(args, "-S", b.Parents), from.With(git.Env("GIT_SHALLOW_FILE="+os.DevNull))
	}
	args = append(args, b.Options...)
	for _, lines := range b.Ranges {
		args = append(args, "-L"+lines)
	}
	rev := b.Commit.String()
	if !b.Since.IsZero() {
		rev = b.Since.String() + ".." + rev
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, ended, err := from.Pipe(ctx, nil, append(append(args, b.Ignored...), rev, "--", b.Path)...)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	answer := newBlameAnswer()
	err = answer.read(out)
	if err != nil {
		cancel()
	}
	if failed := <-ended; failed != nil && (err == nil || errors.Is(err, errEarly)) {
		return nil, failed
	}
	if err != nil {
		return nil, fmt.Errorf("read git blame of %q: %w", b.Path, err)
	}
	slices.SortFunc(answer.list, func(x, y Blamed) int { return cmp.Compare(x.Number, y.Number) })
	return answer.list, nil
}

// IgnoredRevs returns flags of `git blame` for those blame.ignoreRevsFiles of
// the configuration that exist: at another it would end.
func IgnoredRevs(ctx context.Context, r *git.Repo, conf git.Config) ([]string, error) {
	if len(conf["blame.ignorerevsfile"]) == 0 {
		return nil, nil
	}
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

// A blameAnswer is what `git blame --incremental` has printed so far: for some
// lines in a row, wherever they are, a header of hash and numbers, then the
// commit's headers if it is new, then the file's, of which the name is last.
type blameAnswer struct {
	list    []Blamed
	commits map[object.Hash]*Blamable
	ended   map[object.Hash]bool // commits that are [Blamed.Before]
	at      *Blamed              // the lines whose headers are being read
}

func newBlameAnswer() *blameAnswer {
	return &blameAnswer{commits: make(map[object.Hash]*Blamable), ended: make(map[object.Hash]bool)}
}

var errEarly = fmt.Errorf("%w: it ends too early", errPorcelain)

// read reads what git prints, to its end.
func (a *blameAnswer) read(out io.Reader) error {
	for in := bufio.NewReaderSize(out, 64<<10); ; {
		text, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			if text != "" || a.at != nil {
				return errEarly
			}
			return nil
		}
		if err == nil {
			err = a.line(text[:len(text)-1])
		}
		if err != nil {
			return err
		}
	}
}

// line reads one line of it.
func (a *blameAnswer) line(text string) (err error) {
	if a.at == nil {
		a.at, err = a.begin(text)
		return err
	}
	key, value, _ := strings.Cut(text, " ")
	switch key {
	case "boundary":
		a.ended[a.at.Commit] = true
	case "previous":
		hash, path, _ := strings.Cut(value, " ")
		if err = a.at.Previous.UnmarshalText([]byte(hash)); err == nil {
			a.at.PreviousPath, err = unquotePath(path)
		}
	case "filename":
		a.at.Path, err = unquotePath(value)
		a.at.Before = a.ended[a.at.Commit]
		a.list, a.at = append(a.list, *a.at), nil
	default:
		err = a.at.In.header(key, value)
	}
	return err
}

// begin reads the header of hash and numbers.
func (a *blameAnswer) begin(text string) (*Blamed, error) {
	fields := strings.Fields(text)
	if len(fields) != 4 {
		return nil, fmt.Errorf("%w %q", errPorcelain, text)
	}
	b := new(Blamed)
	err := b.Commit.UnmarshalText([]byte(fields[0]))
	for i, n := range []*int{&b.Line, &b.Number, &b.Lines} {
		if err == nil {
			*n, err = strconv.Atoi(fields[1+i])
		}
	}
	if err != nil {
		return nil, err
	}
	if b.In = a.commits[b.Commit]; b.In == nil {
		b.In = new(Blamable)
		a.commits[b.Commit] = b.In
	}
	return b, nil
}

// header reads one of the headers that describe a commit.
func (in *Blamable) header(key, value string) (err error) {
	switch key {
	case "author":
		in.Author = value
	case "author-mail":
		in.Email = address(value)
	case "author-time":
		in.At, err = object.UnixTime(value)
	case "author-tz":
		in.At = inZone(in.At, value)
	case "committer":
		in.Committer = value
	case "committer-mail":
		in.CommitterEmail = address(value)
	case "committer-time":
		in.Committed, err = object.UnixTime(value)
	case "committer-tz":
		in.Committed = inZone(in.Committed, value)
	case "summary":
		in.Summary = value
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
