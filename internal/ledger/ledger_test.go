package ledger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// TestMain keeps the developer's own configuration out of the tests.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

func open(t testing.TB, r *gittest.Repo) (*git.Repo, *git.Objects) {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	objects := repo.Objects(context.Background())
	t.Cleanup(objects.Close)
	return repo, objects
}

func dev(second int) object.Signature {
	return object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Date(2026, 11, 20, 12, 0, second, 0, time.UTC)}
}

// append adds an event and opens the resulting ledger.
func (l *Ledger) append(t testing.TB, e Event) *Ledger {
	t.Helper()
	e.Author, e.Committer = dev(0), dev(1)
	tip, err := l.Append(e)
	gittest.Must(t, err)
	next, err := At(l.objects, l.ID, tip)
	gittest.Must(t, err)
	return next
}

func TestAppend(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("file", "1\n")
	first := r.Commit("first")
	second := r.Commit("second")
	repo, objects := open(t, r)
	l := New(objects, &record.Mission{V: record.Version, ID: "a1b2c3d4", Created: dev(0).When})
	l = l.append(t, Event{Subject: "start"})
	for n := 1; n <= 201; n++ {
		l.Mission.AddSession(fmt.Sprintf("session-%d", n/100))
		l = l.append(t, Event{
			Subject: fmt.Sprintf("turn %d", n),
			Files: map[string][]byte{
				TurnPath("turns", n, ".json"):       fmt.Appendf(nil, "turn %d\n", n),
				TurnPath("transcript", n, ".jsonl"): {},
			},
			Keep: []object.Hash{object.NewHash(second), {}, object.NewHash(second), object.NewHash(first)},
		})
		if last, err := l.LastTurn(); err != nil || last != n {
			t.Fatalf("LastTurn after turn %d = %d, %v", n, last, err)
		}
	}
	l = l.append(t, Event{Subject: "turn 201 again", Files: map[string][]byte{
		TurnPath("turns", 201, ".json"): []byte("again\n"), TurnPath("transcript", 201, ".jsonl"): nil,
	}})
	gittest.Must(t, objects.Flush())
	gittest.Must(t, repo.UpdateRefs(t.Context(), "test", []git.Update{{Ref: l.ID.Ref(), New: l.Tip}}))

	// With plain git.
	ref := record.ID("a1b2c3d4").Ref()
	// Mission, start, 201 turns, one again.
	r.Says("204", "rev-list", "--count", "--first-parent", ref)
	// The event before, and each commit to keep once.
	r.Says(r.Git("rev-parse", ref+"~2")+" "+second+" "+first, "log", "-1", "--format=%P", ref+"^")
	root := r.Git("rev-list", "--max-parents=0", "--first-parent", ref)
	r.Says("mission.json", "ls-tree", "-r", "--name-only", root)
	r.Says("turn 100", "show", ref+":turns/0001/000100.json")
	r.Says("again", "show", ref+":turns/0002/000201.json")
	if n := strings.Count(r.Git("ls-tree", "-r", "--name-only", ref, "transcript/"), "\n") + 1; n != 200 {
		t.Errorf("%d segments, want 200: one was removed", n)
	}
	if n := strings.Count(r.Git("ls-tree", "--name-only", ref+":turns/0000"), "\n") + 1; n != 99 {
		t.Errorf("the first directory has %d turns, want 1 to 99", n)
	}
	if out, err := r.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		t.Errorf("git fsck --strict: %v\n%s", err, out)
	}

	// And with this package, in another process.
	_, objects = open(t, r)
	l, err := Open(t.Context(), repo, objects, "a1b2c3d4")
	gittest.Must(t, err)
	if !slices.Equal(l.Mission.Sessions, []string{"session-0", "session-1", "session-2"}) {
		t.Errorf("sessions are %v", l.Mission.Sessions)
	}
	for name, want := range map[string]string{"turns/0000/000001.json": "turn 1\n", "turns/0002/000201.json": "again\n", "transcript/0000/000001.jsonl": ""} {
		if got, err := l.Read(name); err != nil || string(got) != want {
			t.Errorf("Read(%q) = %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"transcript/0002/000201.jsonl", "turns", "turns/0000", "turns/0009/000900.json", "nothing", "../mission.json", "mission.json/x", ""} {
		if got, err := l.Read(name); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("Read(%q) = %q, %v; want an error wrapping ErrNotFound", name, got, err)
		}
	}
	missions, err := List(t.Context(), repo)
	if err != nil || len(missions) != 1 || missions["a1b2c3d4"] != l.Tip {
		t.Errorf("List = %v, %v", missions, err)
	}
	if _, err := Open(t.Context(), repo, objects, "ffffffff"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("Open of a mission that does not exist: %v", err)
	}
}

// TestAppendStagesOnly: no ref moves, and nothing is on disk before it is flushed.
func TestAppendStagesOnly(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	_, objects := open(t, r)
	l := New(objects, &record.Mission{V: record.Version, ID: "a1b2c3d4"})
	l.append(t, Event{Subject: "start", Files: map[string][]byte{"a": []byte("a")}})
	r.Says("", "for-each-ref")
	r.Says("0 objects, 0 kilobytes", "count-objects")
}

func TestTurnPath(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]string{
		1: "turns/0000/000001.json", 99: "turns/0000/000099.json", 100: "turns/0001/000100.json",
		123456: "turns/1234/123456.json", record.MaxNumber: "turns/9999/999999.json",
	} {
		if got := TurnPath("turns", n, ".json"); got != want {
			t.Errorf("TurnPath of %d = %s, want %s", n, got, want)
		}
	}
}

// TestNumbers: only what a writer can have written counts, and what else is there hides nothing.
func TestNumbers(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	_, objects := open(t, r)
	l := New(objects, &record.Mission{V: record.Version, ID: "a1b2c3d4"})
	files := make(map[string][]byte)
	for _, name := range []string{
		"turns/0000/000001.json", "turns/0123/012345.json", "handoffs/000007/handoff.json", // and nothing else
		"turns/0000/000000.json", "turns/0123/12346.json", "turns/0123/+12347.json", "turns/0123/0012348.json", "turns/0123/012349.json.json",
		"turns/0123/012400.json", "turns/0123/-12399.json", "turns/0123/012350", "turns/0123/012351.JSON", "turns/0123/012352.json/x", "turns/0123/０12353.json",
		"turns/9999/x", "turns/9999/000002.json", "turns/92233720368547758/9223372036854775807.json", "turns/12345/1234567.json", "turns/-001/-00100.json",
		"Turns/9999/999998.json", "turns/9998", "handoffs/9223372036854775806/handoff.json", "handoffs/1000000/handoff.json", "handoffs/000000/handoff.json",
		"handoffs/+00008/handoff.json", "handoffs/000009", "handoffs/00010/handoff.json", "Handoffs/000011/handoff.json",
	} {
		files[name] = []byte("x")
	}
	l = l.append(t, Event{Files: files})
	if last, err := l.LastTurn(); err != nil || last != 12345 {
		t.Errorf("LastTurn = %d, %v; want 12345", last, err)
	}
	if last, err := l.LastHandoff(); err != nil || last != 7 {
		t.Errorf("LastHandoff = %d, %v; want 7", last, err)
	}
	var all []int
	for turn, err := range l.Turns() {
		gittest.Must(t, err)
		all = append(all, turn.Number)
	}
	if want := []int{12345, 1}; !slices.Equal(all, want) {
		t.Errorf("Turns are %d, want %d", all, want)
	}
	l = l.append(t, Event{Files: map[string][]byte{TurnPath("turns", record.MaxNumber, ".json"): []byte("x")}})
	if last, err := l.LastTurn(); err != nil || last != record.MaxNumber {
		t.Errorf("LastTurn = %d, %v; want %d", last, err, record.MaxNumber)
	}
}

// TestFilesOnly: a link or a submodule in the place of a file is as nothing.
func TestFilesOnly(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	_, objects := open(t, r)
	l := New(objects, &record.Mission{V: record.Version, ID: "a1b2c3d4"}).append(t, Event{Files: map[string][]byte{"turns/0000/000001.json": []byte("x")}})
	file, err := l.Entry("turns/0000/000001.json")
	gittest.Must(t, err)
	tree, err := objects.EditTree(l.tree, map[string]object.Entry{
		"turns/0000/000002.json": {Mode: filemode.Symlink, Hash: file.Hash},
		"turns/0000/000003.json": {Mode: filemode.Submodule, Hash: l.Tip},
		"turns/0001":             {Mode: filemode.Symlink, Hash: file.Hash},
		"handoffs/000001":        {Mode: filemode.Submodule, Hash: l.Tip},
	})
	gittest.Must(t, err)
	tip, err := objects.CommitTree(tree, nil, dev(0), dev(0), "planted\n")
	if err == nil {
		l, err = At(objects, "a1b2c3d4", tip)
	}
	gittest.Must(t, err)
	if last, err := l.LastTurn(); err != nil || last != 1 {
		t.Errorf("LastTurn = %d, %v; want 1", last, err)
	}
	if last, err := l.LastHandoff(); err != nil || last != 0 {
		t.Errorf("LastHandoff = %d, %v; want 0", last, err)
	}
	for n := 2; n <= 3; n++ {
		if data, err := l.Read(TurnPath("turns", n, ".json")); !errors.Is(err, git.ErrNotFound) {
			t.Errorf("Read = %q, %v; want an error wrapping ErrNotFound", data, err)
		}
	}
}

// TestTooLarge: what is larger than its kind may be is named, and the rest is there.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	_, objects := open(t, r)
	l := New(objects, &record.Mission{V: record.Version, ID: "a1b2c3d4"})
	zeros := make([]byte, MaxHandoff+1)
	large := map[string][]byte{
		"turns/0000/000001.json":            zeros[:MaxTurn+1],
		"handoffs/000001/handoff.json":      zeros,
		"handoffs/000001/handoff.md":        zeros[:maxFile+1],
		"handoffs/000001/uncommitted.patch": zeros[:maxFile+1],
		"handoffs/000001/terminal.txt":      zeros[:maxFile+1],
	}
	l = l.append(t, Event{Files: large}).append(t, Event{Files: map[string][]byte{
		"turns/0000/000002.json": zeros[:MaxTurn], "transcript/0000/000001.jsonl": zeros,
	}})
	for name := range large {
		if _, err := l.Read(name); !errors.Is(err, git.ErrTooLarge) || !strings.Contains(err.Error(), name) {
			t.Errorf("Read(%q): %v, want ErrTooLarge with the name", name, err)
		}
	}
	for _, name := range []string{"turns/0000/000002.json", "transcript/0000/000001.jsonl"} {
		if _, err := l.Read(name); err != nil {
			t.Error(err)
		}
	}
	if n, err := l.LastTurn(); n != 2 || err != nil {
		t.Errorf("LastTurn = %d, %v", n, err)
	}
	l.Mission.Title = string(zeros[:MaxHead])
	if tip, err := l.Append(Event{}); err != nil {
		t.Fatal(err)
	} else if _, err := At(objects, l.ID, tip); !errors.Is(err, git.ErrTooLarge) {
		t.Errorf("At: %v, want ErrTooLarge", err)
	}
}
