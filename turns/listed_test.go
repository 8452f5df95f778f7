package turns

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/quick"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// A crowd is a repository with as many missions as lists keep something of.
type crowd struct {
	*gittest.Repo
	t    *testing.T
	code string
}

func newCrowd(t *testing.T) *crowd {
	t.Helper()
	c := &crowd{Repo: gittest.New(t), t: t}
	c.Do("file=1; commit first")
	c.code = c.Git("rev-parse", "HEAD")
	c.record(1, 0, fewRead+20, "")
	return c
}

func (c *crowd) open() *workspace.Workspace {
	c.t.Helper()
	repo, err := git.Find(c.Dir)
	gittest.Must(c.t, err)
	return workspace.New(repo, config.Default())
}

func (c *crowd) tips() map[record.ID]object.Hash {
	c.t.Helper()
	tips, err := ledger.List(c.t.Context(), c.open().Repo)
	gittest.Must(c.t, err)
	return tips
}

// record adds a turn to each of some missions, or what else its record is to be.
func (c *crowd) record(number, from, to int, instead string) {
	c.t.Helper()
	w, tips := c.open(), c.tips()
	objects := w.Repo.Objects(c.t.Context())
	defer objects.Close()
	var moves []git.Update
	for i := from; i < to; i++ {
		id := record.ID(fmt.Sprintf("%08x", i))
		m := &record.Mission{V: record.Version, ID: id, Title: fmt.Sprintf("title %d", i), Created: time.Unix(int64(1_700_000_000+i), 0).UTC(), Sessions: []string{"s"}}
		l, old := ledger.New(objects, m), tips[id]
		if i%4 == 1 {
			m.ForkedFrom = &record.TurnID{Mission: "00000000", Turn: 1}
		}
		if !old.IsZero() {
			var err error
			l, err = ledger.At(objects, id, old)
			gittest.Must(c.t, err)
		}
		text := instead
		if text == "" {
			text = fmt.Sprintf(`{"v":1,"kind":"turn","mission":%q,"turn":%d,"at":"2026-11-20T12:%02d:00+01:00","outcome":"done","prompt":"prompt %d of %d","code":%q,"context":%d,"checks":[{"kind":"test","command":"make test","outcome":"passed"}]}`,
				id, number, i%60, number, i, c.code, i)
		}
		by := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(1_700_000_000, 0)}
		tip, err := l.Append(ledger.Event{Subject: "turn", Author: by, Committer: by, Files: map[string][]byte{ledger.TurnPath("turns", number, ".json"): []byte(text)}})
		gittest.Must(c.t, err)
		moves = append(moves, git.Update{Ref: id.Ref(), New: tip, Old: old})
	}
	gittest.Must(c.t, objects.Flush())
	gittest.Must(c.t, w.Repo.Watched(nil).UpdateRefs(c.t.Context(), "test", moves))
}

// told is what a list says.
func told(list []MissionLine, err error) string {
	var b strings.Builder
	for _, l := range list {
		text, encoded := l.Encode()
		fmt.Fprintf(&b, "%s %s %d %s%v\n", l.ID, l.Tip, l.Turns, text, encoded)
		if l.Last != nil {
			fmt.Fprintf(&b, "\t%+v\n", *l.Last)
		}
	}
	return fmt.Sprintf("%s%v", b.String(), err)
}

// same compares a list with what is read of all missions now.
func (c *crowd) same(when string) {
	c.t.Helper()
	w, tips := c.open(), c.tips()
	got, want := told(Listed(c.t.Context(), w, tips)), told(Lines(c.t.Context(), w.Repo, tips))
	if got != want {
		c.t.Errorf("%s: got\n%s\nwant\n%s", when, got, want)
	}
}

func (c *crowd) file() string { return c.Dir + "/.git/agent/" + session.MissionsFile }

// kept returns how many missions are kept as they are.
func (c *crowd) kept() int {
	l := &listing{w: c.open(), kept: make(map[record.ID]keptLine)}
	n := 0
	l.read(c.tips(), func(MissionLine) { n++ })
	return n
}

// TestListed: a list says what all missions say now, and reads only those that have changed.
func TestListed(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	c := newCrowd(t)
	const all = fewRead + 20
	c.same("at first")
	if n := c.kept(); n != all {
		t.Fatalf("%d are kept", n)
	}
	c.same("once kept")
	file, err := os.ReadFile(c.file())
	gittest.Must(t, err)

	c.record(2, 3, 9, "")
	c.same("after some turns")
	if n := c.kept(); n != all-6 {
		t.Errorf("%d are kept after some turns", n)
	}
	c.record(3, 3, 4, "x")
	c.record(3, 5, 6, fmt.Sprintf(`{"v":1,"kind":"turn","mission":"00000005","turn":3,"outcome":"done","prompt":%q,"code":%q}`, strings.Repeat("x", 1<<20), c.code))
	c.Git("update-ref", "refs/agent/missions/0000000a", "HEAD")
	c.same("beside what can't be read")
	c.record(4, 20, all, "")
	c.same("after many turns")
	if n := c.kept(); n != all-2 {
		t.Errorf("%d are kept after many turns", n)
	}

	for what, content := range map[string][]byte{
		"damaged":            bytes.Replace(file, []byte("prompt"), []byte("Prompt"), 1),
		"cut off":            file[:len(file)/2],
		"empty":              nil,
		"of another version": bytes.Replace(file, []byte("missions 2 "), []byte("missions 3 "), 1),
		"older":              file,
	} {
		gittest.Must(t, os.WriteFile(c.file(), content, 0o600))
		c.same(what)
	}
	gittest.Must(t, os.WriteFile(c.file()+session.Fresh, file[:100], 0o600)) // as of a process that died
	gittest.Must(t, os.Remove(c.file()))
	c.same("after a death")
	if n := c.kept(); n != all-2 {
		t.Errorf("%d are kept after a death", n)
	}
}

// TestListedForgets: nothing is kept of a mission that is gone, and nothing is written that was purged meanwhile.
func TestListedForgets(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	c := newCrowd(t)
	c.same("at first")
	holds := func(text string) bool {
		t.Helper()
		file, err := os.ReadFile(c.file())
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		return bytes.Contains(file, []byte(text))
	}
	if !holds("prompt 1 of 42") {
		t.Fatal("nothing is kept")
	}
	c.Git("update-ref", "-d", "refs/agent/missions/0000002a")
	c.same("without one")
	if holds("prompt 1 of 42") || !holds("prompt 1 of 43") {
		t.Error("of a mission that is gone something is kept, or nothing of another")
	}
	before := c.tips()
	c.Git("update-ref", "-d", "refs/agent/missions/0000002b")
	gittest.Must(t, os.Remove(c.file()))
	_, err := Listed(t.Context(), c.open(), before)
	gittest.Must(t, err)
	if holds("prompt 1 of 43") || !holds("prompt 1 of 44") {
		t.Error("what was removed as it was read is kept")
	}
	gittest.Must(t, c.open().Store.Forget(t.Context(), "0000002c"))
	if holds("prompt") {
		t.Error("something is kept when a mission is forgotten")
	}
	held, err := c.open().Store.TryLock(session.PurgeLock)
	gittest.Must(t, err)
	c.same("during a purge")
	held.Release()
	if holds("prompt") {
		t.Error("something is written during a purge")
	}
}

// TestListedTogether: lists that are made at once leave a file that is whole.
func TestListedTogether(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	c := newCrowd(t)
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			for range 3 {
				c.same("together")
				_ = os.Remove(c.file())
			}
		})
	}
	all.Wait()
	c.same("afterwards")
	if n := c.kept(); n != fewRead+20 {
		t.Errorf("%d are kept", n)
	}
}

// TestPackedLine: every field of a line is read as it was written. One that was added, and is not written, fails here.
func TestPackedLine(t *testing.T) {
	t.Parallel()
	source := rand.New(rand.NewSource(1))
	for range 100 {
		g := new(Glance)
		for i := range reflect.TypeOf(*g).NumField() {
			f := reflect.ValueOf(g).Elem().Field(i)
			if f.Type() == reflect.TypeFor[time.Time]() {
				f.Set(reflect.ValueOf(time.Unix(source.Int63n(1<<34), source.Int63n(1e9)).UTC()))
				continue
			}
			value, ok := quick.Value(f.Type(), source)
			if !ok {
				t.Fatalf("no value of %s", f.Type())
			}
			f.Set(value)
		}
		const head = `{"v":1,"id":"b1b2c3d4","created":"2026-11-30T01:02:03Z","later":{"a":1}}`
		m, err := record.ParseHead("a1b2c3d4", head, object.SHA1)
		gittest.Must(t, err)
		want := MissionLine{Mission: m, Tip: object.NewHash(gittest.Hash("1")), Turns: source.Int(), Last: g}
		packed, ok := pack(want, head)
		if !ok {
			t.Fatalf("%+v can't be written", g)
		}
		got, ok := unpack("a1b2c3d4", want.Tip, packed)
		if !ok || !reflect.DeepEqual(got, want) {
			t.Fatalf("read %+v, want %+v", got.Last, g)
		}
	}
	if n := reflect.TypeFor[MissionLine]().NumField(); n != 4 {
		t.Errorf("a line has %d fields, and four are kept", n)
	}
}
