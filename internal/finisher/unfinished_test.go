package finisher

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// made are the turns of a mission, written as numbers, with marks: "-" for one that changed nothing, "!" for one
// that was recorded again, "c" committed, "e" elsewhere, "d" dropped. The commit of turn 3 is hash(3).
func made(t *testing.T, turns string) *unfinished {
	t.Helper()
	k := &unfinished{mission: &record.Mission{ID: "a1b2c3d4"}}
	for word := range strings.FieldsSeq(turns) {
		w := worked{changed: true, branch: "feature"}
		marks := strings.TrimLeft(word, "0123456789")
		if _, err := fmt.Sscan(strings.TrimSuffix(word, marks), &w.number); err != nil {
			t.Fatal(err)
		}
		for _, mark := range marks {
			switch mark {
			case '-':
				w.changed = false
			case '!':
				w.again = true
			case 'c':
				w.committed = true
			case 'e':
				w.elsewhere = true
			case 'd':
				w.dropped = true
			}
		}
		w.code, w.at = hash(byte(w.number)), time.Unix(int64(w.number), 0)
		k.turns, k.last, k.at, k.tip = append(k.turns, w), w.number, w.at, w.code
	}
	return k
}

// TestClaim: what trailers say of a mission is believed for what was being finished here, or was finished once.
func TestClaim(t *testing.T) {
	t.Parallel()
	const newest = 90
	for _, tt := range []struct {
		name      string
		turns     string
		said      string // by trailers
		begun     int    // up to which turn it was being finished; 0 if it was not
		tip       byte   // of the branch then
		finished  int    // up to which turn it was
		attached  bool
		branch    byte // its tip, if that is not the last turn's commit
		want      proof
		committed string
		has       byte // what the newest commit has all of; 0 for nothing
	}{
		{name: "nothing is said", turns: "1 2", begun: 2, want: unproved},
		{name: "one is missing", turns: "1 2", said: "1", begun: 2, want: unproved, committed: "1", has: 1},
		{name: "the first is missing", turns: "1 2", said: "2", begun: 2, want: unproved, committed: "2"},
		{name: "all, and it was being finished", turns: "1 2", said: "1-2", begun: 2, want: proved, committed: "1-2", has: 2},
		{name: "all, and it was finished once", turns: "1 2", said: "1-2", finished: 2, want: proved, committed: "1-2", has: 2},
		{name: "all, and it was finished further than it is being now", turns: "1 2", said: "1-2", begun: 1, finished: 2, want: proved, committed: "1-2", has: 2},
		{name: "all, says anybody", turns: "1 2", said: "1-999999", want: unproved},
		{name: "all, and one of them anybody says", turns: "1 2", said: "1-2", begun: 1, want: unproved, committed: "1", has: 1},
		{name: "but for one that changed nothing", turns: "1 2- 3", said: "1, 3", begun: 3, want: proved, committed: "1, 3", has: 1},
		{name: "one was recorded again since", turns: "1!", said: "1", begun: 1, want: unproved},
		{name: "one of two was recorded again since", turns: "1! 2", said: "1-2", begun: 2, want: unproved, committed: "2"},
		{name: "no turn changed anything, and the last is said", turns: "1- 2-", said: "2", begun: 2, want: proved, committed: "2"},
		{name: "no turn changed anything, and the last is not said", turns: "1- 2-", said: "1", begun: 2, want: unproved, committed: "1", has: 1},
		{name: "no turn changed anything, says anybody", turns: "1-", said: "1", want: unproved},
		{name: "what changed was dropped, and the last is said", turns: "1 2d", said: "1-2", begun: 2, want: proved, committed: "1-2", has: 2},

		{name: "the branch, as it was", turns: "1 2", said: "1-2", begun: 2, tip: 2, attached: true, want: proved, committed: "1-2", has: 2},
		{name: "the branch, with more than its turns, as it was", turns: "1 2", said: "1-2", begun: 2, tip: 80, attached: true, branch: 80, want: proved, committed: "1-2", has: 80},
		{name: "the branch, that has more by now", turns: "1 2", said: "1-2", begun: 2, tip: 2, attached: true, branch: 80, want: byMerge, committed: "1-2", has: 2},
		{name: "the branch, that ends with its last turn", turns: "1 2", said: "1-2", finished: 2, attached: true, want: proved, committed: "1-2", has: 2},
		{name: "the branch, that had more and was finished", turns: "1 2", said: "1-2", finished: 2, attached: true, branch: 80, want: byMerge, committed: "1-2", has: 2},
		{name: "the branch, says anybody", turns: "1 2", said: "1-999999", attached: true, want: byMerge},
		{name: "the branch, and one is missing", turns: "1 2", said: "1", attached: true, begun: 2, tip: 2, want: unproved, committed: "1", has: 1},
		{name: "the branch, without a turn, says anybody", said: "1", attached: true, branch: 80, want: unproved},
	} {
		k := made(t, tt.turns)
		if k.attached = tt.attached; tt.branch != 0 {
			k.tip = hash(tt.branch)
		}
		if tt.finished > 0 {
			k.mission.Finished = &record.Finish{Turn: tt.finished}
		}
		var b *begun
		if tt.begun > 0 {
			b = &begun{Turn: tt.begun}
			if tt.tip != 0 {
				b.Tip = hash(tt.tip)
			}
		}
		have, err := ledger.ParseRanges(tt.said)
		if err != nil && tt.said != "" {
			t.Fatal(err)
		}
		if got := k.claim(hash(newest), have, b); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
		var list []int
		for _, w := range k.turns {
			if w.committed {
				list = append(list, w.number)
			}
		}
		if got, want := ledger.RangesOf(list...).String(), strings.ReplaceAll(tt.committed, " ", ""); strings.ReplaceAll(got, " ", "") != want {
			t.Errorf("%s: committed are %q, want %q", tt.name, got, tt.committed)
		}
		if want := (squashed{hash(newest), hash(tt.has)}); tt.has != 0 && k.squashed != want || tt.has == 0 && k.squashed != (squashed{}) {
			t.Errorf("%s: the newest has all of %+v", tt.name, k.squashed)
		}
	}
}

// TestLeftToFinish: what of a mission comes after its last finish, or after what a fork has from its source.
func TestLeftToFinish(t *testing.T) {
	t.Parallel()
	const finishedAt = 50 // seconds
	for _, tt := range []struct {
		name     string
		at       []int64 // when turns 1, 2, ... were recorded
		after    int
		finished bool
		attached bool
		branch   bool
		want     string // with "!" if it was recorded again
		before   byte
		tip      byte
	}{
		{name: "nothing is finished", at: []int64{10, 20}, want: "1 2"},
		{name: "all is finished", at: []int64{10, 20}, after: 2, finished: true, before: 2},
		{name: "one came since", at: []int64{10, 20, 60}, after: 2, finished: true, want: "3", before: 2},
		{name: "one is recorded again since", at: []int64{10, 60}, after: 2, finished: true, want: "2!", before: 1},
		{name: "and one came after it", at: []int64{10, 60, 70}, after: 2, finished: true, want: "2! 3", before: 1},
		{name: "recorded as it was finished", at: []int64{finishedAt}, after: 1, finished: true, before: 1},
		{name: "what a fork has from its source", at: []int64{60, 70}, after: 1, want: "2", before: 1},
		{name: "with a branch", at: []int64{10, 20}, attached: true, branch: true, want: "1 2"},
		{name: "the branch is gone", at: []int64{10, 20}, attached: true, want: "1 2", tip: 2},
		{name: "the branch is gone, and all is finished", at: []int64{10, 20}, after: 2, finished: true, attached: true, before: 2},
	} {
		k := &unfinished{mission: new(record.Mission), finished: tt.finished, attached: tt.attached}
		if tt.finished {
			k.mission.Finished = &record.Finish{Turn: tt.after, At: time.Unix(finishedAt, 0)}
		}
		if tt.branch {
			k.branch = "refs/heads/agent/mission/a1b2c3d4"
		}
		for i, at := range tt.at {
			k.add(&turns.Turn{Turn: i + 1, At: time.Unix(at, 0), Code: hash(byte(i + 1)), Files: i}, tt.after)
		}
		var got []string
		for _, w := range k.turns {
			name := fmt.Sprint(w.number)
			if w.again {
				name += "!"
			}
			if got = append(got, name); w.changed != (w.number > 1) || w.code != hash(byte(w.number)) {
				t.Errorf("%s: %+v", tt.name, w)
			}
		}
		wantBefore, wantTip := hash(tt.before), hash(tt.tip)
		if strings.Join(got, " ") != tt.want || k.before != wantBefore || k.tip != wantTip || k.last != len(tt.at) || k.at.Unix() != tt.at[len(tt.at)-1] {
			t.Errorf("%s: left are %q, before %.2s, tip %.2s, the last is %d at %s", tt.name, got, k.before, k.tip, k.last, k.at)
		}
	}
}

// TestInherited: what a fork has from its source is done if HEAD has where it began, or a finish of the source.
func TestInherited(t *testing.T) {
	t.Parallel()
	base, commit := hash(7), hash(8)
	for _, tt := range []struct {
		name     string
		from     *record.TurnID
		inHead   []object.Hash
		finished *record.Finish
		after    int
		has      squashed
	}{
		{name: "no fork", inHead: []object.Hash{base}},
		{name: "HEAD has neither", from: &record.TurnID{Turn: 4}, finished: &record.Finish{Turn: 4, Commit: commit}},
		{name: "HEAD has where it began", from: &record.TurnID{Turn: 4}, inHead: []object.Hash{base}, after: 4},
		{name: "both", from: &record.TurnID{Turn: 4}, inHead: []object.Hash{base, commit}, finished: &record.Finish{Turn: 4, Commit: commit}, after: 4},
		{name: "the source is gone, or not finished", from: &record.TurnID{Turn: 4}},
		{name: "the source is finished", from: &record.TurnID{Turn: 4}, inHead: []object.Hash{commit}, finished: &record.Finish{Turn: 4, Commit: commit}, after: 4, has: squashed{commit, base}},
		{name: "further", from: &record.TurnID{Turn: 4}, inHead: []object.Hash{commit}, finished: &record.Finish{Turn: 9, Commit: commit}, after: 4, has: squashed{commit, base}},
		{name: "not so far", from: &record.TurnID{Turn: 4}, inHead: []object.Hash{commit}, finished: &record.Finish{Turn: 3, Commit: commit}},
	} {
		m := &record.Mission{ForkedFrom: tt.from, Base: base.String()}
		after, has := inherited(m, func() *record.Finish { return tt.finished }, func(c object.Hash) bool {
			for _, in := range tt.inHead {
				if c == in {
					return true
				}
			}
			return false
		})
		if after != tt.after || has != tt.has {
			t.Errorf("%s: after turn %d, %v; want %d, %v", tt.name, after, has, tt.after, tt.has)
		}
	}
}

// TestEndBefore: turns whose work is elsewhere end the mission before them if nothing comes after them.
func TestEndBefore(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		turns   string
		last    int    // the mission ends with it, for this time
		missing string // the turn of the error
		commits string // what is to be committed
		leftOut string
	}{
		{"1 2", 2, "", "1-2", ""},
		{"1 2e", 1, "turn 2", "1", ""},
		{"1 2e 3-", 1, "turn 2", "1", ""},
		{"1 2e 3e", 1, "turn 3", "1", ""},
		{"1 2e 3- 4e", 1, "turn 4", "1", ""},
		{"1 2e 3e 4d", 1, "turn 3", "1", ""},
		{"1e 2", 2, "", "2", "1"},
		{"1 2e 3 4e", 3, "turn 4", "1,3", "2"},
		{"1 2d", 2, "", "1", "2"},
		{"1 2d 3", 3, "", "1,3", "2"},
		{"1e", 0, "turn 1", "", ""},
		{"4e 5e", 3, "turn 5", "", ""},
		{"1c 2", 2, "", "2", ""},
		{"", 0, "", "", ""},
	} {
		k := made(t, tt.turns)
		k.attached = true
		tip := k.tip
		k.endBefore()
		missing := ""
		if k.missing != nil {
			missing = strings.TrimSuffix(k.missing.Error(), " was not made on the mission's branch, on feature")
		}
		if k.last != tt.last || missing != tt.missing || k.tip != tip || k.missing != nil && !errors.Is(k.missing, ErrElsewhere) {
			t.Errorf("%q: ends with turn %d, %v; want %d, %s", tt.turns, k.last, k.missing, tt.last, tt.missing)
		}
		if n := len(k.turns); n > 0 && !k.at.Equal(k.turns[n-1].at) || n == 0 && !k.at.IsZero() {
			t.Errorf("%q: it ends at %s", tt.turns, k.at)
		}
		if got := strings.ReplaceAll(k.numbers().String(), " ", ""); got != tt.commits {
			t.Errorf("%q: commits %q, want %q", tt.turns, got, tt.commits)
		}
		if got := strings.ReplaceAll(k.leftOut().String(), " ", ""); got != tt.leftOut {
			t.Errorf("%q: leaves out %q, want %q", tt.turns, got, tt.leftOut)
		}
	}
	k := made(t, "1e")
	k.turns[0].branch = ""
	if k.endBefore(); k.missing == nil || !strings.HasSuffix(k.missing.Error(), ", on no branch") {
		t.Errorf("detached: %v", k.missing)
	}
	k = made(t, "1e 2d 3")
	if k.endBefore(); k.leftOut() != nil {
		t.Errorf("of a passive mission it leaves out %s", k.leftOut())
	}
}

// hash is a made-up commit.
func hash(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }
