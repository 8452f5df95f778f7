// Package format tests what docs/format.md names as normative beyond single records: whole ledgers.
package format

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/gitnotes"
	"gitagent/handoffstore"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// milli is how the listing writes times.
const milli = "2006-01-02T15:04:05.000Z07:00"

// The bundle holds what version 0.1 wrote, and stays as it is: what was written once must be read
// for ever. The listing is what a reader gets from it.
const (
	bundle  = "../../testdata/ledgers/v0.1.bundle"
	listing = "../../testdata/ledgers/v0.1.txt"
)

var keep = flag.String("make", "", "keep what this version makes as `file`.bundle and file.txt")

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// TestMake has this version write what version 0.1 has written. But for hashes it must read the
// same, and for a session's id, of which that version took the hex digits whatever else was in it,
// and a turn of whose beginning nobody told, to which that version gave all that was not committed.
// To keep a bundle of it:
//
//	go test ./test/format -run TestMake -make "$PWD/testdata/ledgers/v0.2"
func TestMake(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := newMaker(t).make()
	got := list(t, r)
	if *keep != "" {
		r.Git("-c", "pack.threads=1", "bundle", "create", "-q", *keep+".bundle", "--glob=refs/heads/*", "--glob=refs/agent/*", "--glob=refs/notes/*")
		gittest.Must(t, os.WriteFile(*keep+".txt", got, 0o666))
	}
	now := strings.NewReplacer("ses_0DD7", "0DD7", `files 5 +6 -0 prompt "Say hello."`, `files 0 +0 -0 prompt "Say hello."`)
	compare(t, masked(got), masked([]byte(now.Replace(string(want(t))))))
}

// masked leaves hashes out of a listing, and the order that is theirs. Version 0.1 wrote some events
// in the local time zone.
func masked(listing []byte) []byte {
	listing = regexp.MustCompile(`\b[0-9a-f]{12,64}\b`).ReplaceAll(listing, []byte("*"))
	listing = regexp.MustCompile(`\S+T\S+[+]01:00`).ReplaceAllFunc(listing, func(local []byte) []byte {
		at, err := time.Parse(time.RFC3339, string(local))
		if err != nil {
			return local
		}
		return []byte(strings.Replace(at.UTC().Format(time.RFC3339), "Z", "+00:00", 1))
	})
	lines := bytes.Split(listing, []byte("\n"))
	slices.SortFunc(lines, bytes.Compare)
	return bytes.Join(lines, []byte("\n"))
}

func want(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile(listing)
	gittest.Must(t, err)
	return data
}

// unbundle makes a repository with everything that the bundle holds and main checked out.
func unbundle(t testing.TB) *gittest.Repo {
	t.Helper()
	if gittest.Format() != "sha1" {
		t.Skip("version 0.1 wrote no other repositories")
	}
	path, err := filepath.Abs(bundle)
	gittest.Must(t, err)
	r := gittest.New(t)
	r.Git("fetch", "-q", "--update-head-ok", path, "+refs/*:refs/*")
	r.Git("reset", "-q", "--hard", "main")
	return r
}

func TestRead(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := unbundle(t)
	if out, err := r.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
	compare(t, list(t, r), want(t))
}

func compare(t testing.TB, got, want []byte) {
	t.Helper()
	g, w := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			t.Fatalf("line %d:\n%s\nwant\n%s", i+1, g[i], w[i])
		}
	}
	if len(g) != len(w) {
		t.Fatalf("%d lines, want %d", len(g), len(w))
	}
}

// TestGoOn records on top of what version 0.1 wrote: every mission takes one more turn, and a
// handoff, and nothing that was there has changed.
func TestGoOn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	m := newMaker(t)
	*m.clock = m.clock.AddDate(1, 0, 0)
	m.Repo = unbundle(t)
	ctx := t.Context()
	missions, err := ledger.List(ctx, m.repo())
	if err != nil || len(missions) != 6 {
		t.Fatalf("missions %v, %v", missions, err)
	}
	for id, tip := range missions {
		before, err := turns.List(ctx, m.repo(), id)
		gittest.Must(t, err)
		handoffs, err := handoffstore.List(ctx, m.repo(), id)
		gittest.Must(t, err)
		if err := m.workspace().Trust.Accept(tip, id); err != nil { // nothing says who wrote it
			t.Fatal(err)
		}
		m.Write("on-top.txt", string(id)+"\n")
		last := before[len(before)-1]
		result := m.record(recorder.Signal{Event: recorder.Stopped, Mission: id, Session: last.Session, Prompt: "On top.", Outcome: record.Done})
		m.gather(handoffstore.Request{Mission: id, Session: last.Session, Summary: "On top.", Exit: record.Clean})
		after, err := turns.List(ctx, m.repo(), id)
		gittest.Must(t, err)
		if n := len(before); len(result.Turns) != 1 || len(after) != n+1 || after[n].Turn != last.Turn+1 || after[n].Mission != id {
			t.Fatalf("mission %s had %d turns, now it has %d, the last of them %s", id, n, len(after), after[len(after)-1].ID())
		}
		for i := range before {
			old, _ := before[i].Line()
			if now, err := after[i].Line(); err != nil || !bytes.Equal(old, now) {
				t.Errorf("turn %s has changed: %v\n%s\nit was\n%s", before[i].ID(), err, now, old)
			}
		}
		more, err := handoffstore.List(ctx, m.repo(), id)
		if err != nil || len(more) != len(handoffs)+1 || more[len(handoffs)].Summary != "On top." {
			t.Errorf("mission %s: %d handoffs, now %d, %v", id, len(handoffs), len(more), err)
		}
		if m.Git("rev-list", "--first-parent", id.Ref(), "^"+tip.String()) == "" || m.Git("merge-base", id.Ref(), tip.String()) != tip.String() {
			t.Errorf("mission %s does not go on from %s", id, tip)
		}
	}
	if out, err := m.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
}

// list tells what the public packages read from a repository.
func list(t testing.TB, r *gittest.Repo) []byte {
	t.Helper()
	l := &lister{t: t, ctx: t.Context()}
	var err error
	if l.repo, err = git.Find(r.Dir); err != nil {
		t.Fatal(err)
	}
	l.objects = l.repo.Objects(l.ctx)
	defer l.objects.Close()
	missions, err := ledger.List(l.ctx, l.repo)
	gittest.Must(t, err)
	for _, id := range slices.Sorted(maps.Keys(missions)) {
		l.mission(id, r)
	}
	return l.out.Bytes()
}

type lister struct {
	t       testing.TB
	ctx     context.Context
	repo    *git.Repo
	objects *git.Objects
	out     bytes.Buffer
}

func (l *lister) line(format string, args ...any) { fmt.Fprintf(&l.out, format+"\n", args...) }

// text is a string in quotes and in ASCII, or, where it is long, how long it is and what its hash is.
func text(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("(%d runes, blob %s)", utf8.RuneCountInString(s), blob([]byte(s)))
	}
	return strconv.QuoteToASCII(s)
}

// blob is the hash of a content, as git hash-object prints it.
func blob(content []byte) object.Hash {
	return object.NewHash(gittest.Hash("1")).Format().Object(plumbing.BlobObject, content)
}

func (l *lister) mission(id record.ID, r *gittest.Repo) {
	m, err := ledger.Open(l.ctx, l.repo, l.objects, id)
	gittest.Must(l.t, err)
	l.line("mission %s %s", id, text(m.Mission.Title))
	l.line("  created %s", m.Mission.Created.Format(milli))
	if m.Mission.Base != "" {
		l.line("  base %s", m.Mission.Base)
	}
	if m.Mission.Branch != "" {
		l.line("  branch %s", m.Mission.Branch)
	}
	if m.Mission.ForkedFrom != nil {
		l.line("  forked from %s", m.Mission.ForkedFrom)
	}
	if m.Mission.Predecessor != "" {
		l.line("  predecessor %s", m.Mission.Predecessor)
	}
	for _, s := range m.Mission.Sessions {
		l.line("  session %s", s)
	}
	for line := range strings.Lines(r.Git("log", "--first-parent", "--reverse", "--format=  event %h %aI %an <%ae> %s", "--abbrev=12", id.Ref()) + "\n") {
		line = strings.Replace(line, "Z ", "+00:00 ", 1) // newer gits write it so
		l.out.WriteString(line)
	}
	l.turns(id)
	l.handoffs(id)
	l.notes(id)
}

func (l *lister) turns(id record.ID) {
	list, err := turns.List(l.ctx, l.repo, id)
	gittest.Must(l.t, err)
	for _, t := range list {
		l.line("  turn %s %s code %s base %s files %d +%d -%d prompt %s reply %s",
			t.ID(), t.Outcome, t.Code, t.Base, t.Files, t.Insertions, t.Deletions, text(t.Prompt), text(t.Reply))
		if t.Transcript == nil {
			continue
		}
		count := 0
		var segments bytes.Buffer
		err := turns.Conversation(l.ctx, l.repo, t, func(segment io.Reader, _ bool) error {
			count++
			_, err := segments.ReadFrom(segment)
			return err
		})
		if err != nil && !errors.Is(err, git.ErrNotFound) {
			l.t.Fatal(err)
		}
		if err != nil {
			l.line("    conversation incomplete")
		} else {
			l.line("    conversation of %d segments, blob %s", count, blob(segments.Bytes()))
		}
	}
}

func (l *lister) handoffs(id record.ID) {
	list, err := handoffstore.List(l.ctx, l.repo, id)
	gittest.Must(l.t, err)
	for _, h := range list {
		l.line("  handoff %s %s after turn %d stash %s summary %s", h.ID(), h.ExitType, h.LastTurn, h.Stash, text(h.Summary))
		f, err := handoffstore.Find(l.ctx, l.repo, id, fmt.Sprint(h.Number))
		gittest.Must(l.t, err)
		for _, name := range []string{"handoff.md", "uncommitted.patch", "terminal.txt"} {
			content, err := f.File(name)
			gittest.Must(l.t, err)
			if content != nil {
				l.line("    %s blob %s", name, blob(content))
			}
		}
		f.Close()
	}
}

// notes tells of every turn and handoff that a note has; of several lines for one the latest.
func (l *lister) notes(id record.ID) {
	refs, err := l.repo.Refs(l.ctx, id.NotesRef())
	gittest.Must(l.t, err)
	notes, err := gitnotes.Open(l.objects, refs[id.NotesRef()])
	gittest.Must(l.t, err)
	for note, err := range notes.All() {
		gittest.Must(l.t, err)
		content, err := notes.Get(note.Object)
		gittest.Must(l.t, err)
		latest := make(map[string]string)
		for line := range strings.Lines(string(content)) {
			if t, err := turns.Parse([]byte(line), l.repo.Format()); err == nil {
				name := "turn " + t.ID().String()
				latest[name] = max(latest[name], t.At.Format(milli))
			} else if h, err := handoffstore.Parse([]byte(line), l.repo.Format()); err == nil {
				latest["handoff "+h.ID().String()] = h.At.Format(milli)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(latest)) {
			l.line("  note on %s: %s at %s", note.Object, name, latest[name])
		}
	}
}
