package checkout_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/finisher"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/snapshot"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// aside forks a turn into a worktree of its own, without the conversation.
func aside(l *lab.Lab, id record.ID, turn *turns.Turn) *lab.Lab {
	l.T.Helper()
	f := l.ForkOf(turn)
	f.ID, f.Worktree, f.Session = id, filepath.Join(filepath.Dir(l.Git("rev-parse", "--path-format=absolute", "--git-common-dir")), "..", string(id)), ""
	f.Worktree = filepath.Clean(f.Worktree)
	if _, err := missionstore.Fork(l.T.Context(), l.Workspace(l.Dir), f); err != nil {
		l.T.Fatal(err)
	}
	return l.At(f.Worktree)
}

// last is the last turn of a mission.
func last(l *lab.Lab, id record.ID) *turns.Turn {
	l.T.Helper()
	list := l.List(id)
	return list[len(list)-1]
}

func adopt(l *lab.Lab, turn *turns.Turn, how checkout.Merging) (*checkout.Adopted, error) {
	l.T.Helper()
	return checkout.Adopt(l.T.Context(), l.Workspace(l.Dir), time.Now(), turn.After(), how)
}

// adopted is what mission.json says of an adoption: "3", "3 undone", or nothing.
func adopted(l *lab.Lab, id record.ID) string {
	l.T.Helper()
	m, err := record.ParseMission(l.Git("show", id.Ref()+":mission.json"))
	gittest.Must(l.T, err)
	switch a := m.Adopted; {
	case a == nil:
		return ""
	case a.Undone:
		return fmt.Sprint(a.Turn, " undone")
	default:
		return fmt.Sprint(a.Turn)
	}
}

const (
	leftID  = record.ID("1e1e1e1e")
	rightID = record.ID("2f2f2f2f")
)

// TestAdopt: the work of a fork comes home, and goes again. HEAD, the branch and the index stay.
func TestAdopt(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	c := fork.Client()
	fork.Turn(c, "there", func() { fork.Write("a.txt", "there\n"); fork.Write("new", "there\n"); fork.Remove("dir") })
	fork.Turn(c, "more", fork.Writes("more", "more\n"))
	l.Write("kept.txt", "staged\n")
	l.Git("add", "kept.txt")
	l.Write("kept.txt", "here\n")
	turn, before, still := l.List(leftID)[2], files(t, l.Dir), l.Look()

	done, err := adopt(l, turn, checkout.Merging{})
	gittest.Must(t, err)
	if done.From != source[1].ID() || len(done.Changes) != 3 {
		t.Errorf("adopted from %s: %v", done.From, done.Changes)
	}
	after := files(t, l.Dir)
	for name, want := range map[string]string{"a.txt": "there\n", "new": "there\n", "b.txt": "b\n", "kept.txt": "here\n", "more": "", "dir/edited.txt": ""} {
		if got := after[filepath.Join(l.Dir, name)]; got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	delete(still, "status")
	if got := adopted(l, leftID); got != "3" {
		t.Errorf("adopted %s", got)
	}
	// The event keeps both, and the second is on the fork's code, too.
	parents := strings.Fields(l.Git("rev-list", "--parents", "-1", leftID.Ref()))[2:]
	if len(parents) != 2 || parents[0] != done.Present.String() || l.TreeOf(parents[1]) != l.Tree() {
		t.Errorf("the event keeps %v, want %s and the worktree", parents, done.Present)
	}
	if on := strings.Fields(l.Git("rev-list", "--parents", "-1", parents[1]))[1:]; !slices.Equal(on, []string{parents[0], turn.Code.String()}) {
		t.Errorf("what came of it is on %v", on)
	}
	if saved, err := turns.Saved(t.Context(), l.GitRepo(), leftID); err != nil || len(saved) != 1 || saved[0].Commit != done.Present {
		t.Errorf("saved states: %v, %v", saved, err)
	}

	again, err := adopt(l, turn, checkout.Merging{})
	if err != nil || len(again.Changes) > 0 || !again.Present.IsZero() {
		t.Errorf("again: %+v, %v", again, err)
	}
	for i, want := range []struct {
		files map[string]string
		says  string
	}{{before, "3 undone"}, {after, "3"}, {before, "3 undone"}, {after, "3"}} {
		if _, what, err := l.Undo(checkout.Merging{}); err != nil || strings.Contains(what, "undo") != (i%2 == 1) {
			t.Fatalf("took back %q, %v", what, err)
		}
		if got := files(t, l.Dir); !maps.Equal(got, want.files) {
			t.Errorf("undo %d: %v, want %v", i, got, want.files)
		}
		if got := adopted(l, leftID); got != want.says {
			t.Errorf("undo %d: adopted %q, want %q", i, got, want.says)
		}
		on := strings.Fields(l.Git("rev-list", "--parents", "-1", leftID.Ref()+"^3"))[1:]
		if has := slices.Contains(on, turn.Code.String()); has != (i%2 == 1) {
			t.Errorf("undo %d: what came of it is on %v", i, on)
		}
	}
	if done, err := adopt(l, last(l, leftID), checkout.Merging{}); err != nil || len(done.Changes) != 1 || adopted(l, leftID) != "4" {
		t.Errorf("the rest: %+v, %v", done, err)
	}
	index(l, still)
	l.Verify(source[0].Mission)
	l.Fsck()
}

// index checks what no adoption changes.
func index(l *lab.Lab, was lab.Sight) {
	l.T.Helper()
	now := l.Look()
	for _, name := range []string{"index", "HEAD", "logs/HEAD", "logs/refs/heads/main", "index, when"} {
		if was[name] != now[name] {
			l.T.Errorf("%s has changed", name)
		}
	}
}

// TestAdoptForkOfFork: what a fork has from another fork comes along, unless that is here.
func TestAdoptForkOfFork(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		in   func(l, left *lab.Lab) *lab.Lab
		want func(source *turns.Turn) record.TurnID
	}{
		"from both": {in: func(l, _ *lab.Lab) *lab.Lab { return l }},
		"where the first one is": {
			in:   func(_, left *lab.Lab) *lab.Lab { return left },
			want: func(*turns.Turn) record.TurnID { return record.TurnID{Mission: leftID, Turn: 3} },
		},
		"where the first one was merged": {
			in: func(l, _ *lab.Lab) *lab.Lab {
				l.Git("merge", "-q", "--no-edit", "agent/mission/"+string(leftID))
				return l
			},
			want: func(*turns.Turn) record.TurnID { return record.TurnID{Mission: leftID, Turn: 3} },
		},
		"where the first one was squashed": {
			in: func(l, _ *lab.Lab) *lab.Lab {
				_, err := finisher.Finish(l.T.Context(), l.Workspace(l.Dir), finisher.Finishing{Mission: leftID, At: time.Now(), Message: "left", Talk: os.Stderr})
				gittest.Must(l.T, err)
				return l
			},
			want: func(*turns.Turn) record.TurnID { return record.TurnID{Mission: leftID, Turn: 3} },
		},
		"where the first one was adopted": {
			in: func(l, _ *lab.Lab) *lab.Lab {
				if _, err := adopt(l, last(l, leftID), checkout.Merging{}); err != nil {
					l.T.Fatal(err)
				}
				return l
			},
		},
		"where the first one was adopted and dropped": {
			in: func(l, _ *lab.Lab) *lab.Lab {
				if _, err := adopt(l, last(l, leftID), checkout.Merging{}); err != nil {
					l.T.Fatal(err)
				}
				l.Git("clean", "-q", "-f")
				l.Git("checkout", "-q", "-f", ".")
				return l
			},
		},
		"without the first one": {
			in: func(l, _ *lab.Lab) *lab.Lab {
				if _, err := missionstore.Remove(l.T.Context(), l.Workspace(l.Dir), leftID, nil, true, false); err != nil {
					l.T.Fatal(err)
				}
				return l
			},
			want: func(*turns.Turn) record.TurnID { return record.TurnID{Mission: leftID, Turn: 3} },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "where the first one was merged" {
				gittest.Check(t)
			}
			l := lab.New(t)
			c := l.Client()
			l.Turn(c, "first", l.Writes("kept.txt", "first\n"))
			l.Commit("first")
			first := last(l, lab.Own(c))
			left := aside(l, leftID, first)
			left.Turn(left.Client(), "nothing", nil)
			left.Turn(left.Client(), "left", left.Writes("left", "left\n"))
			right := aside(left, rightID, last(l, leftID))
			right.Turn(right.Client(), "right", right.Writes("right", "right\n"))
			here := tt.in(l, left)
			done, err := adopt(here, last(l, rightID), checkout.Merging{})
			gittest.Must(t, err)
			want, all := first.ID(), true
			if tt.want != nil {
				want, all = tt.want(first), name != "without the first one"
			}
			if done.From != want {
				t.Errorf("adopted from %s, want %s", done.From, want)
			}
			now := files(t, here.Dir)
			if got := now[filepath.Join(here.Dir, "left")]; (got == "left\n") != all {
				t.Errorf("left is %q", got)
			}
			if got := now[filepath.Join(here.Dir, "right")]; got != "right\n" {
				t.Errorf("right is %q", got)
			}
			l.Fsck()
		})
	}
}

// TestAdoptBefore: a fork that was made before a turn has a turn of its own with that number.
func TestAdoptBefore(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "first", l.Writes("file", "first\n"))
	l.Turn(c, "second", l.Writes("file", "second\n"))
	f := l.ForkOf(last(l, lab.Own(c)))
	f.Before, f.Session = true, ""
	l.Fork(f)
	there := l.At(f.Worktree)
	there.Turn(there.Client(), "instead", func() { there.Write("file", "instead\n"); there.Write("new", "new\n") })
	_, err := adopt(l, last(l, lab.ForkID), checkout.Merging{})
	var conflict *checkout.ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) != 1 || !slices.Equal(conflict.Conflicts[0].There, []int{2}) {
		t.Errorf("%v: %+v", err, conflict)
	}
	if got := files(t, l.Dir)[filepath.Join(l.Dir, "file")]; got != "second\n" || adopted(l, lab.ForkID) != "" {
		t.Errorf("file is %q, adopted %q", got, adopted(l, lab.ForkID))
	}
}

// TestAdoptRefuses: what can't be adopted, and nothing is changed by it.
func TestAdoptRefuses(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	fork.Turn(fork.Client(), "there", fork.Writes("new", "there\n"))
	own, inherited := last(l, leftID), l.List(leftID)[0]
	refs, now := l.Git("for-each-ref"), l.Tree()
	for name, tt := range map[string]struct {
		in   *lab.Lab
		turn *turns.Turn
		want error
	}{
		"no fork":           {l, source[2], turns.ErrNoFork},
		"inherited":         {l, inherited, turns.ErrInherited},
		"its own worktree":  {fork, own, turns.ErrOwnBranch},
		"inherited, at own": {fork, inherited, turns.ErrOwnBranch},
	} {
		if done, err := adopt(tt.in, tt.turn, checkout.Merging{}); !errors.Is(err, tt.want) {
			t.Errorf("%s: %+v, %v; want %v", name, done, err, tt.want)
		}
	}
	if l.Git("for-each-ref") != refs || l.Tree() != now {
		t.Error("something has changed")
	}

	// What a stranger has added does not count.
	mission := l.Git("show", leftID.Ref()+":mission.json")
	l.Plant(leftID, map[string]string{"mission.json": strings.ReplaceAll(mission, source[1].Code.String(), gittest.Hash("ab")) + "\n"})
	if _, err := adopt(l, own, checkout.Merging{}); err != nil {
		t.Errorf("continued by a stranger: %v", err)
	}
}

// TestAdoptOfStranger: what a stranger's mission.json says is an error at most.
func TestAdoptOfStranger(t *testing.T) {
	t.Parallel()
	gone := gittest.Hash("ab")
	for name, tt := range map[string]struct {
		change func(mission, base, blob string) string
		want   string // in the error
	}{
		"base gone":      {func(m, base, _ string) string { return strings.ReplaceAll(m, base, gone) }, "find where it began: "},
		"base no commit": {func(m, base, blob string) string { return strings.ReplaceAll(m, base, blob) }, "find where it began: "},
		"base no hash":   {func(m, base, _ string) string { return strings.ReplaceAll(m, base, "--output=x") }, turns.ErrNoFork.Error()},
		"base a name":    {func(m, base, _ string) string { return strings.ReplaceAll(m, base, "HEAD") }, turns.ErrNoFork.Error()},
		"no base":        {func(m, base, _ string) string { return strings.Replace(m, `"base":"`+base+`",`, "", 1) }, turns.ErrNoFork.Error()},
		"of no turn":     {func(m, _, _ string) string { return strings.Replace(m, `"turn":2`, `"turn":0`, 1) }, turns.ErrNoFork.Error()},
		"of itself": {func(m, _, _ string) string {
			return strings.Replace(m, `"forked_from":{"mission":"`, `"forked_from":{"mission":"1e1e1e1e","was":"`, 1)
		}, ""},
		"of what is gone": {func(m, _, _ string) string {
			return strings.Replace(m, `"forked_from":{"mission":"`, `"forked_from":{"mission":"99999999","was":"`, 1)
		}, ""},
		"nothing the like": {func(m, _, _ string) string { return m }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name != "base gone" {
				gittest.Check(t)
			}
			l := lab.New(t)
			_, source := l.Three()
			fork := aside(l, leftID, source[1])
			fork.Turn(fork.Client(), "there", fork.Writes("new", "there\n"))
			mission, blob := l.Git("show", leftID.Ref()+":mission.json"), l.Git("rev-parse", "HEAD:kept.txt")
			l.Put(leftID, "mission.json", tt.change(mission, source[1].Code.String(), blob)+"\n")
			was := l.Tree()
			_, err := adopt(l, last(l, leftID), checkout.Merging{RestorePlan: checkout.RestorePlan{Foreign: true}})
			if tt.want == "" {
				if err != nil || l.Read("new") != "there\n" {
					t.Errorf("%v", err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || l.Tree() != was {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

// TestAdoptRunsNothingForeign: a stranger's fork is checked out without what lies in its tree, and its
// worktree is looked at without it.
func TestAdoptRunsNothingForeign(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, foreign := range []bool{false, true} {
		l := lab.New(t)
		turn, ran := l.Stranger()
		f := l.ForkOf(turn)
		f.Session, f.Foreign = "", true
		l.Fork(f)
		there := l.At(f.Worktree)
		there.Turn(there.Client(), "there", func() {
			there.Write("sub/.gitattributes", "zzz filter=x\n")
			there.Write("sub/zzz", "there\n")
			there.Write("bin/another", there.Read("bin/filter"))
			there.Chmod("bin/another", 0o755)
		})
		l.Git("config", "filter.x.smudge", "bin/another")
		ran()
		if _, err := adopt(l, last(l, lab.ForkID), checkout.Merging{RestorePlan: checkout.RestorePlan{Foreign: foreign}}); err != nil {
			t.Fatal(err)
		}
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: adopt ran %q", foreign, got)
		}
		there.Write("zzz", "late\n")
		dir, err := checkout.Unrecorded(t.Context(), l.Workspace(l.Dir), last(l, lab.ForkID).After(), foreign, false)
		if dir != f.Worktree || err != nil {
			t.Errorf("foreign %t: unrecorded in %q, %v", foreign, dir, err)
		}
		if got := ran(); (len(got) == 0) != foreign {
			t.Errorf("foreign %t: a look ran %q", foreign, got)
		}
	}
}

// TestAdoptUnaccepted: what somebody unknown has recorded is not adopted.
func TestAdoptUnaccepted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	fork.Turn(fork.Client(), "there", fork.Writes("new", "there\n"))
	other := lab.In(t, gittest.New(t))
	other.Keyless = true
	other.Git("fetch", "-q", l.Dir, "main", "+refs/agent/*:refs/agent/*")
	other.Git("switch", "-q", "-c", "topic", "FETCH_HEAD")
	if _, err := adopt(other, last(other, leftID), checkout.Merging{}); !errors.Is(err, workspace.ErrUntrusted) {
		t.Errorf("a stranger's: %v", err)
	}
	other.Accept(leftID)
	if done, err := adopt(other, last(other, leftID), checkout.Merging{}); err != nil || other.Read("new") != "there\n" || done.From != source[1].ID() {
		t.Errorf("accepted: %v", err)
	}
}

// TestAdoptUnborn: HEAD has no commit yet, or is detached.
func TestAdoptUnborn(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, args := range [][]string{{"checkout", "-q", "--orphan", "new"}, {"checkout", "-q", "--detach"}} {
		l := lab.New(t)
		_, source := l.Three()
		fork := aside(l, leftID, source[1])
		fork.Turn(fork.Client(), "there", fork.Writes("new", "there\n"))
		l.Git(args...)
		before, still := files(t, l.Dir), l.Look()
		if _, err := adopt(l, last(l, leftID), checkout.Merging{}); err != nil || l.Read("new") != "there\n" {
			t.Fatalf("%q: %v", args, err)
		}
		index(l, still)
		if _, _, err := l.Undo(checkout.Merging{}); err != nil || !maps.Equal(files(t, l.Dir), before) {
			t.Errorf("%q: undo: %v", args, err)
		}
	}
}

// TestAdoptDuringMerge: a merge of the user's is under way, and stays so.
func TestAdoptDuringMerge(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	fork.Turn(fork.Client(), "there", fork.Writes("new", "there\n"))
	l.Git("add", "-A")
	l.Git("commit", "-q", "-m", "here")
	l.Git("switch", "-q", "-c", "other", "HEAD~1")
	l.Write("kept.txt", "other\n")
	l.Commit("other")
	l.Git("switch", "-q", "main")
	l.Write("kept.txt", "main\n")
	l.Commit("main")
	if _, err := l.Try("merge", "other"); err == nil {
		t.Fatal("no conflict")
	}
	before, still := files(t, l.Dir), l.Look()
	if _, err := adopt(l, last(l, leftID), checkout.Merging{}); err != nil || l.Read("new") != "there\n" {
		t.Fatal(err)
	}
	index(l, still)
	if got := l.Git("ls-files", "-u"); got == "" {
		t.Error("the merge is over")
	}
	if _, _, err := l.Undo(checkout.Merging{}); err != nil || !maps.Equal(files(t, l.Dir), before) {
		t.Errorf("undo: %v", err)
	}
}

// TestAdoptInWay: what is ignored stays.
func TestAdoptInWay(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	fork.Turn(fork.Client(), "there", func() { fork.Write("x.ignored", "there\n"); fork.Git("add", "-f", "x.ignored"); fork.Write("new", "") })
	l.Write("x.ignored", "here\n")
	refs, was := l.Git("for-each-ref"), files(t, l.Dir)
	_, err := adopt(l, last(l, leftID), checkout.Merging{})
	if inWay := (*snapshot.InWayError)(nil); !errors.As(err, &inWay) {
		t.Errorf("%v", err)
	}
	if l.Git("for-each-ref") != refs || !maps.Equal(files(t, l.Dir), was) {
		t.Error("something has changed")
	}
}

// TestAdoptKilled: what mission.json says agrees with the worktree after an undo that was killed, in the middle
// or when it was complete, is finished.
func TestAdoptKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	fork.Turn(fork.Client(), "there", func() { fork.Write("a.txt", "there\n"); fork.Write("new", "there\n"); fork.Write("newer", "there\n") })
	before := files(t, l.Dir)
	if _, err := adopt(l, last(l, leftID), checkout.Merging{}); err != nil {
		t.Fatal(err)
	}
	cutOff(l)
	l.Write("a.txt", "a\n") // the adoption was killed in the middle
	if _, what, err := l.Undo(checkout.Merging{}); err != nil || what != "adoption of turn "+string(leftID)+"/3" || !maps.Equal(files(t, l.Dir), before) {
		t.Fatalf("took back %q, %v", what, err)
	}
	if got := adopted(l, leftID); got != "3 undone" {
		t.Errorf("adopted %q", got)
	}
	cutOff(l)
	l.Write("new", "there\n") // the undo was, too
	if _, what, err := l.Undo(checkout.Merging{}); err != nil || what != "adoption of turn "+string(leftID)+"/3" || !maps.Equal(files(t, l.Dir), before) {
		t.Fatalf("took back %q, %v", what, err)
	}
	if got := adopted(l, leftID); got != "3 undone" {
		t.Errorf("adopted %q", got)
	}
	if _, _, err := l.Undo(checkout.Merging{}); err != nil || l.Read("new") != "there\n" || adopted(l, leftID) != "3" {
		t.Errorf("redo: %v, adopted %q", err, adopted(l, leftID))
	}
}

// TestAdoptElsewhere: an undo says nothing of an adoption in another worktree.
func TestAdoptElsewhere(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	fork.Turn(fork.Client(), "there", fork.Writes("new", "there\n"))
	other := aside(l, rightID, source[1])
	for _, in := range []*lab.Lab{l, other} {
		if _, err := adopt(in, last(l, leftID), checkout.Merging{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := l.Undo(checkout.Merging{}); err != nil || adopted(l, leftID) != "3" {
		t.Errorf("%v, adopted %q", err, adopted(l, leftID))
	}
	if _, _, err := other.Undo(checkout.Merging{}); err != nil || adopted(l, leftID) != "3 undone" {
		t.Errorf("%v, adopted %q", err, adopted(l, leftID))
	}
}

// TestUnrecorded: what nobody has recorded in the worktree of a fork, be it committed or not.
func TestUnrecorded(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	_, source := l.Three()
	fork := aside(l, leftID, source[1])
	c := fork.Client()
	fork.Turn(c, "there", fork.Writes("new", "there\n"))
	first := last(l, leftID)
	unrecorded := func(turn *turns.Turn, want string) {
		t.Helper()
		still := fork.Look()
		if dir, err := checkout.Unrecorded(t.Context(), l.Workspace(l.Dir), turn.After(), false, false); dir != want || err != nil {
			t.Errorf("unrecorded in %q, %v; want %q", dir, err, want)
		}
		index(fork, still)
	}
	unrecorded(first, "")
	fork.Write("x.ignored", "ignored\n")
	unrecorded(first, "")
	fork.Write("by hand", "by hand\n")
	unrecorded(first, fork.Dir)
	fork.Commit("by hand")
	unrecorded(first, fork.Dir)
	fork.Turn(c, "recorded", nil)
	unrecorded(first, "") // it is no longer the last one
	unrecorded(last(l, leftID), "")
	fork.Git("switch", "-q", "--detach")
	fork.Write("new", "of no mission\n")
	unrecorded(last(l, leftID), "")
	fork.Git("switch", "-q", "agent/mission/"+string(leftID))
	fork.Remove(".")
	if dir, err := checkout.Unrecorded(t.Context(), l.Workspace(l.Dir), last(l, leftID).After(), false, false); dir != "" || err != nil {
		t.Errorf("unrecorded in %q, which is gone, %v", dir, err)
	}
}

// TestAdoptAtOnce: two adoptions, and turns that are being recorded here and there. Nothing is lost, and each
// of the forks is adopted whole.
func TestAdoptAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c, source := l.Three()
	labs := make(map[record.ID]*lab.Lab)
	for _, id := range []record.ID{leftID, rightID} {
		labs[id] = aside(l, id, source[1])
		labs[id].Turn(labs[id].Client(), "there", labs[id].Writes("of "+string(id), "there\n"))
	}
	var all sync.WaitGroup
	for id, fork := range labs {
		turn, w := last(l, id), l.Workspace(l.Dir)
		for range 2 {
			all.Go(func() {
				if _, err := checkout.Adopt(t.Context(), w, time.Now(), turn.After(), checkout.Merging{}); err != nil {
					t.Errorf("adopt %s: %v", id, err)
				}
			})
		}
		d := fork.Client()
		all.Go(func() {
			for n := range 3 {
				d.Prompt(fmt.Sprint(n))
				fork.Write("later", fmt.Sprint(n))
				d.Stop("done")
			}
		})
	}
	all.Go(func() {
		for n := range 3 {
			c.Prompt(fmt.Sprint(n))
			l.Write("of main", fmt.Sprint(n))
			c.Stop("done")
		}
	})
	all.Wait()
	for id := range labs {
		if got := l.Read("of " + string(id)); got != "there\n" || adopted(l, id) != "3" || len(l.List(id)) != 6 {
			t.Errorf("%s: %q, adopted %q, %d turns", id, got, adopted(l, id), len(l.List(id)))
		}
		adoptions := strings.Count(l.Git("log", "--first-parent", "--format=%s", id.Ref()), "before adopting turn 3")
		if adoptions != 1 {
			t.Errorf("%s was adopted %d times", id, adoptions)
		}
	}
	if got := l.Read("of main"); got != "2" || len(l.List(lab.Own(c))) != 6 {
		t.Errorf("main is %q, with %d turns", got, len(l.List(lab.Own(c))))
	}
	l.Fsck()
}
