package gitdiff

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// blamed are the lines of a blame: commit's subject, name there, number there, text.
func blamed(t *testing.T, r *git.Repo, b BlameOptions) (lines []string) {
	t.Helper()
	list, err := Blame(context.Background(), r, b)
	gittest.Must(t, err)
	file, err := r.Output(context.Background(), nil, "cat-file", "blob", b.Commit.String()+":"+b.Path)
	gittest.Must(t, err)
	text := strings.Split(string(file), "\n")
	next := 1
	for _, l := range list {
		if len(b.Ranges) == 0 && l.Number != next {
			t.Errorf("line %d has number %d", next, l.Number)
		}
		next = l.End()
		before := ""
		if l.Before {
			before = " before"
		}
		for n := l.Number; n < l.End(); n++ {
			lines = append(lines, strings.Join([]string{l.In.Summary, l.Path, string(rune('0' + l.Part(n, n+1).Line)), text[n-1]}, "|")+before)
		}
	}
	return lines
}

func hexOf(t *testing.T, hash string) (h object.Hash) {
	t.Helper()
	gittest.Must(t, h.UnmarshalText([]byte(hash)))
	return h
}

func TestBlame(t *testing.T) {
	r := gittest.New(t)
	odd := "dir/a \"b\"\tc\\d\nü.txt"
	r.Write(odd, "one\ntwo\n")
	first := r.Commit("first")
	r.Write(odd, "one\n\ttwo, changed\r\nthree")
	r.Commit("second")
	r.Git("mv", odd, "new")
	r.Commit("moved")
	repo := find(t, r)
	head, err := repo.Resolve(context.Background(), "HEAD")
	gittest.Must(t, err)
	b := BlameOptions{Commit: head, Path: "new"}
	want := []string{"first|" + odd + "|1|one", "second|" + odd + "|2|\ttwo, changed\r", "second|" + odd + "|3|three"}
	if got := blamed(t, repo, b); !slices.Equal(got, want) {
		t.Errorf("blame %q, want %q", got, want)
	}
	b.Ranges = []string{"2,2", "/three/,+1"}
	if got := blamed(t, repo, b); !slices.Equal(got, want[1:]) {
		t.Errorf("blame of two ranges %q, want %q", got, want[1:])
	}
	b.Ranges, b.Since = nil, hexOf(t, first)
	want[0] += " before"
	if got := blamed(t, repo, b); !slices.Equal(got, want) {
		t.Errorf("blame since the first commit %q, want %q", got, want)
	}
}

// TestBlameParents: the lines of a commit come from the parents that the file gives it.
func TestBlameParents(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "one\n")
	first := r.Commit("first")
	r.Write("f", "one\ntwo\n")
	state := r.Commit("state")
	r.Git("reset", "-q", "--soft", first)
	squashed := r.Commit("squashed")
	repo := find(t, r)
	file := filepath.Join(t.TempDir(), "parents")
	gittest.Must(t, os.WriteFile(file, []byte(squashed+" "+first+" "+state+"\n"), 0o666))
	want := []string{"first|f|1|one", "state|f|2|two"}
	if got := blamed(t, repo, BlameOptions{Commit: hexOf(t, squashed), Path: "f", Parents: file}); !slices.Equal(got, want) {
		t.Errorf("blame %q, want %q", got, want)
	}
}

// TestBlameCircle: a git that walks in a circle ends with its context.
func TestBlameCircle(t *testing.T) {
	gittest.Check(t)
	r := gittest.New(t)
	r.Write("f", "one\n")
	first := r.Commit("first")
	r.Write("f", "one\ntwo\n")
	state := r.Commit("state")
	r.Git("reset", "-q", "--soft", first)
	r.Write("f", "one\ntwo\nthree\n")
	r.Git("add", "f")
	last := r.Commit("last")
	file := filepath.Join(t.TempDir(), "parents")
	gittest.Must(t, os.WriteFile(file, []byte(last+" "+state+"\n"+state+" "+last+"\n"), 0o666))
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := Blame(ctx, find(t, r), BlameOptions{Commit: hexOf(t, last), Path: "f", Parents: file}); err == nil || ctx.Err() == nil {
		t.Errorf("blame in a circle ends with %v, its context with %v", err, ctx.Err())
	}
}

// TestBlameIgnored: a list of ignored revs that is not there is no error, and one that is there is heeded.
func TestBlameIgnored(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "one\n")
	r.Commit("first")
	r.Write("f", "ONE\n")
	second := r.Commit("second")
	r.Git("config", "blame.ignoreRevsFile", "missing")
	repo := find(t, r)
	b := BlameOptions{Commit: hexOf(t, second), Path: "f"}
	ignore := func() {
		conf, err := repo.Config(t.Context())
		gittest.Must(t, err)
		b.Ignored, err = IgnoredRevs(t.Context(), repo, conf)
		gittest.Must(t, err)
	}
	ignore()
	if got, want := blamed(t, repo, b), []string{"second|f|1|ONE"}; !slices.Equal(got, want) {
		t.Errorf("blame %q, want %q", got, want)
	}
	r.Write("missing", second+"\n")
	ignore()
	if got, want := blamed(t, repo, b), []string{"first|f|1|ONE"}; !slices.Equal(got, want) {
		t.Errorf("blame with the revs ignored %q, want %q", got, want)
	}
}

func TestUncommitted(t *testing.T) {
	ctx := context.Background()
	r := gittest.New(t)
	r.Write("f", "one\ntwo\nthree\n")
	head := r.Commit("first")
	repo := find(t, r)
	u, err := NewUncommitted(ctx, repo, "f")
	gittest.Must(t, err)
	if u.Made || u.Commit.String() != head {
		t.Errorf("the file as in HEAD is commit %s, made %v", u.Commit, u.Made)
	}
	u.Close()
	before := r.Git("count-objects", "-v") + r.Git("status", "--porcelain")
	r.Write("f", "one\nTWO\nthree\n")
	gittest.Must(t, os.Rename(filepath.Join(r.Dir, "f"), filepath.Join(r.Dir, "g")))
	status := r.Git("status", "--porcelain")
	u, err = NewUncommitted(ctx, repo, "g")
	gittest.Must(t, err)
	defer u.Close()
	want := []string{"first|f|1|one", "not committed yet|g|2|TWO", "first|f|3|three"}
	if got := blamed(t, u.Repo, BlameOptions{Commit: u.Commit, Path: "g"}); !slices.Equal(got, want) {
		t.Errorf("blame of a moved file %q, want %q", got, want)
	}
	if got := r.Git("status", "--porcelain"); got != status {
		t.Errorf("status is now %q, was %q", got, status)
	}
	if after := r.Git("count-objects", "-v"); !strings.HasPrefix(before, after) {
		t.Errorf("objects were written: %s, before %s", after, before)
	}
}

// TestBlameEncoding asks in a repository whose user has a terminal of another encoding.
func TestBlameEncoding(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "one\n")
	commit := r.Commit("größer")
	for _, encoding := range []string{"ISO-8859-1", "UTF-16"} {
		r.Git("config", "i18n.logOutputEncoding", encoding)
		if got, want := blamed(t, find(t, r), BlameOptions{Commit: hexOf(t, commit), Path: "f"}), []string{"größer|f|1|one"}; !slices.Equal(got, want) {
			t.Errorf("with %s: blame %q, want %q", encoding, got, want)
		}
	}
}

// TestUncommittedFlags asks for a file at which git does not look, as the user said so.
func TestUncommittedFlags(t *testing.T) {
	r := gittest.New(t)
	r.Write("f", "one\n")
	r.Commit("first")
	repo := find(t, r)
	r.Write("f", "one\ntwo\n")
	for _, flags := range [][]string{{"--assume-unchanged"}, {"--skip-worktree"}, {"--assume-unchanged", "--skip-worktree"}} {
		for _, flag := range flags {
			r.Git("update-index", flag, "f")
		}
		before := r.Git("ls-files", "-v")
		u, err := NewUncommitted(context.Background(), repo, "f")
		if err != nil {
			t.Fatalf("%q: %v", flags, err)
		}
		want := []string{"first|f|1|one", "not committed yet|f|2|two"}
		if got := blamed(t, u.Repo, BlameOptions{Commit: u.Commit, Path: "f"}); !slices.Equal(got, want) {
			t.Errorf("%q: blame %q, want %q", flags, got, want)
		}
		u.Close()
		if after := r.Git("ls-files", "-v"); after != before {
			t.Errorf("%q: the index is now %q, was %q", flags, after, before)
		}
		r.Git("update-index", "--no-assume-unchanged", "f")
		r.Git("update-index", "--no-skip-worktree", "f")
	}
}

// TestUncommittedMagic asks for files whose names say something as pathspecs.
func TestUncommittedMagic(t *testing.T) {
	ctx := context.Background()
	r := gittest.New(t)
	r.Write("f", "one\n")
	r.Commit("first")
	repo := find(t, r)
	for _, name := range []string{":(top)f", ":/f", ":!f", ":(exclude)*", "*"} {
		r.Write(name, "two\n")
		u, err := NewUncommitted(ctx, repo, name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		want := []string{"not committed yet|" + name + "|1|two"}
		if got := blamed(t, u.Repo, BlameOptions{Commit: u.Commit, Path: name}); !slices.Equal(got, want) {
			t.Errorf("blame of %q is %q, want %q", name, got, want)
		}
		u.Close()
	}
}

// TestUncommittedReplaced asks for a file below what was one, and for one that was a directory.
func TestUncommittedReplaced(t *testing.T) {
	ctx := context.Background()
	r := gittest.New(t)
	r.Write("a", "one\n")
	r.Write("b/c", "two\n")
	r.Commit("first")
	gittest.Must(t, os.Remove(filepath.Join(r.Dir, "a")))
	gittest.Must(t, os.RemoveAll(filepath.Join(r.Dir, "b")))
	r.Write("a/z", "three\n")
	r.Write("b", "four\n")
	repo := find(t, r)
	for name, text := range map[string]string{"a/z": "three", "b": "four"} {
		u, err := NewUncommitted(ctx, repo, name)
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		want := []string{"not committed yet|" + name + "|1|" + text}
		if got := blamed(t, u.Repo, BlameOptions{Commit: u.Commit, Path: name}); !slices.Equal(got, want) {
			t.Errorf("blame of %q is %q, want %q", name, got, want)
		}
		u.Close()
	}
}

func FuzzReadBlame(f *testing.F) {
	hash := gittest.Hash("1")
	f.Add([]byte(hash + " 1 1 1\nauthor a\nauthor-mail <a@example.invalid>\nauthor-time 12\nauthor-tz +0130\nsummary s\nboundary\nprevious " + hash + " \"a\\tb\"\nfilename \"\\303\\274\"\n"))
	f.Add([]byte(hash + " 1 1 2\nfilename"))
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := newBlameAnswer()
		err := answer.read(bytes.NewReader(data))
		for _, l := range answer.list {
			if err == nil && l.In == nil {
				t.Error("lines without their commit")
			}
		}
	})
}
