package turns

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// A lengthy is a repository with local state and a mission of so many turns.
type lengthy struct {
	t    *testing.T
	repo *git.Repo
}

const lengthyID = record.ID("a1b2c3d4")

func newLengthy(t *testing.T, turns int) *lengthy {
	r := gittest.New(t)
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	l := &lengthy{t, repo}
	gittest.Must(t, session.Open(repo.CommonDir).Dir().Make())
	files := make(map[string][]byte)
	for n := 1; n <= turns; n++ {
		files[ledger.TurnPath("turns", n, ".json")] = recordOf(n, "as it was")
	}
	l.event(files)
	return l
}

func recordOf(n int, prompt string) []byte {
	return fmt.Appendf(nil, `{"v":1,"kind":"turn","mission":%q,"turn":%d,"at":"2026-11-30T01:02:03.004Z","outcome":"done","prompt":%q,"code":%q,"tools":{"Edit":2},"new":[1]}`+"\n",
		lengthyID, n, prompt, gittest.Hash("035889dde589b207bdc928f32292daf5f0ad0bad"))
}

// event changes files of the ledger.
func (l *lengthy) event(files map[string][]byte) {
	l.t.Helper()
	objects := l.repo.Objects(l.t.Context())
	defer objects.Close()
	of, err := ledger.Open(l.t.Context(), l.repo, objects, lengthyID)
	if errors.Is(err, git.ErrNotFound) {
		of = ledger.New(objects, &record.Mission{V: record.Version, ID: lengthyID})
		err = nil
	}
	gittest.Must(l.t, err)
	before := of.Tip
	tip, err := of.Append(ledger.Event{Subject: "turns", Files: files})
	gittest.Must(l.t, errors.Join(err, objects.Flush()))
	gittest.Must(l.t, l.repo.UpdateRefs(l.t.Context(), "test", []git.Update{{Ref: lengthyID.Ref(), New: tip, Old: before}}))
}

func (l *lengthy) file() string {
	return session.Open(l.repo.CommonDir).Dir().Path(session.RecordsFile(lengthyID))
}

// told is all turns as they are read, by themselves and among all missions'.
func (l *lengthy) told() string {
	l.t.Helper()
	var b, all strings.Builder
	tell := func(b *strings.Builder) func(t *Turn) error {
		return func(t *Turn) error {
			line, err := t.Line()
			fmt.Fprintf(b, "%s %s %v %q %v %v\n", line, t.At, t.Tools, t.Prompt, t.Ledger, t.LedgerTip)
			return err
		}
	}
	err := Each(l.t.Context(), l.repo, lengthyID, tell(&b))
	fmt.Fprintln(&b, err)
	err = EachOfAll(l.t.Context(), workspace.New(l.repo, config.Default()), tell(&all))
	if fmt.Fprintln(&all, err); all.String() != b.String() {
		l.t.Errorf("all missions' turns are others than the mission's:\n%s\n%s", all.String(), b.String())
	}
	return b.String()
}

// afresh is told without a file.
func (l *lengthy) afresh() string {
	l.t.Helper()
	_ = os.Remove(l.file())
	return l.told()
}

// TestPrepared: turns are read from the file as they are from git, also after some were recorded again, or can't be read.
func TestPrepared(t *testing.T) {
	t.Parallel()
	l := newLengthy(t, 350)
	for name, files := range map[string]map[string][]byte{
		"nothing":               {},
		"one recorded again":    {ledger.TurnPath("turns", 120, ".json"): recordOf(120, "another")},
		"more":                  {ledger.TurnPath("turns", 351, ".json"): recordOf(351, "more")},
		"one of another number": {ledger.TurnPath("turns", 220, ".json"): recordOf(221, "wrong")},
		"one that is no JSON":   {ledger.TurnPath("turns", 50, ".json"): []byte("{")},
		"one that is gone":      {ledger.TurnPath("turns", 170, ".json"): nil},
	} {
		l.event(files)
		before, now := l.told(), l.told()
		if fresh := l.afresh(); before != fresh || now != fresh {
			t.Errorf("%s: with the file turns are read otherwise", name)
		}
	}
	if info, err := os.Stat(l.file()); err != nil || info.Size() == 0 {
		t.Errorf("there is no file: %v", err)
	}
}

// TestPreparedIsUsed: what a file has is not read from git.
func TestPreparedIsUsed(t *testing.T) {
	t.Parallel()
	l := newLengthy(t, 250)
	before := l.afresh()
	objects := l.repo.Objects(t.Context())
	defer objects.Close()
	of, err := ledger.Open(t.Context(), l.repo, objects, lengthyID)
	gittest.Must(t, err)
	p := prepare(objects, of)
	n := 0
	for r, err := range p.below(record.MaxNumber + 1) {
		gittest.Must(t, err)
		if (r.text == "") != (r.Number >= 200) {
			t.Fatalf("turn %d: its text is %q", r.Number, r.text)
		}
		n++
	}
	if n != 250 || l.told() != before {
		t.Errorf("%d turns, or others than before", n)
	}
}

// TestPreparedIsNotBelieved: a file that is damaged, cut off or of another version changes nothing.
func TestPreparedIsNotBelieved(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLengthy(t, 250)
	fresh := l.afresh()
	whole, err := os.ReadFile(l.file())
	gittest.Must(t, err)
	for i := 0; i < len(whole); i += len(whole) / 50 {
		for _, data := range [][]byte{whole[:i], append(append([]byte(nil), whole[:i]...), append([]byte{whole[i] ^ 0x55}, whole[i+1:]...)...)} {
			gittest.Must(t, os.WriteFile(l.file(), data, 0o600))
			if l.told() != fresh {
				t.Errorf("at byte %d of %d: turns are read otherwise", i, len(whole))
			}
		}
	}
	gittest.Must(t, os.Remove(l.file()))
	gittest.Must(t, os.MkdirAll(l.file(), 0o700))
	if l.told() != fresh {
		t.Error("a directory in place of the file: turns are read otherwise")
	}
}

// TestPreparedAfterPurge: nothing gets into the file if the ledger has moved since it was read, or somebody has the mission's
// lock, or there is no local state.
func TestPreparedAfterPurge(t *testing.T) {
	t.Parallel()
	l := newLengthy(t, 250)
	read := func() {
		t.Helper()
		objects := l.repo.Objects(t.Context())
		defer objects.Close()
		of, err := ledger.Open(t.Context(), l.repo, objects, lengthyID)
		gittest.Must(t, err)
		moved := false
		err = EachIn(objects, of, func(*Turn) error {
			if !moved {
				moved = true
				l.event(map[string][]byte{ledger.TurnPath("turns", 3, ".json"): recordOf(3, "purged")})
			}
			return nil
		})
		gittest.Must(t, err)
	}
	none := func(why string) {
		t.Helper()
		if _, err := os.Stat(l.file()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there is a file (%v)", why, err)
		}
	}
	read()
	none("the ledger has moved")
	held, err := session.Open(l.repo.CommonDir).LockMission(t.Context(), lengthyID)
	gittest.Must(t, err)
	l.told()
	none("somebody has the lock")
	held.Release()
	gittest.Must(t, os.RemoveAll(session.Open(l.repo.CommonDir).Dir().Path(".")))
	l.told()
	none("there is no local state")
}

// TestPreparedTogether: many read and append at once.
func TestPreparedTogether(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLengthy(t, 450)
	fresh := l.afresh()
	gittest.Must(t, os.Remove(l.file()))
	said := make([]string, 8)
	var all sync.WaitGroup
	for i := range said {
		all.Go(func() { said[i] = l.told() })
	}
	all.Wait()
	for _, text := range said {
		if text != fresh {
			t.Error("turns are read otherwise beside others")
		}
	}
}

// TestPreparedForks: turns that forks inherit come once, as from git.
func TestPreparedForks(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := newLengthy(t, 350)
	objects := l.repo.Objects(t.Context())
	defer objects.Close()
	files := make(map[string][]byte)
	for n := 1; n <= 340; n++ {
		text := recordOf(n, "as it was")
		if n > 230 {
			text = []byte(strings.Replace(string(recordOf(n, "of the fork")), string(lengthyID), "b1b2c3d4", 1))
		}
		files[ledger.TurnPath("turns", n, ".json")] = text
	}
	fork := &record.Mission{V: record.Version, ID: "b1b2c3d4", ForkedFrom: &record.TurnID{Mission: lengthyID, Turn: 230}}
	tip, err := ledger.New(objects, fork).Append(ledger.Event{Subject: "turns", Files: files})
	gittest.Must(t, errors.Join(err, objects.Flush()))
	gittest.Must(t, l.repo.UpdateRefs(t.Context(), "test", []git.Update{{Ref: fork.ID.Ref(), New: tip}}))
	told := func() string {
		var b strings.Builder
		err := EachOfAll(t.Context(), workspace.New(l.repo, config.Default()), func(t *Turn) error {
			fmt.Fprintln(&b, t.ID(), t.In(), t.Prompt)
			return nil
		})
		fmt.Fprintln(&b, err)
		return b.String()
	}
	fresh := told()
	if n := strings.Count(fresh, "\n"); n != 350+110+1 {
		t.Errorf("%d lines, want %d", n, 350+110+1)
	}
	if told() != fresh {
		t.Error("with the files turns are read otherwise")
	}
}
