package turns_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

// replant makes the ledger of a mission as a stranger can: out of another one, with other records, and
// with a date in the future. It begins anew, or goes on from a commit.
func replant(l *lab.Lab, id, from record.ID, on string, change func(record string) string) {
	l.T.Helper()
	w := l.In(l.Dir)
	w.Env = append(slices.Clone(w.Env), "GIT_INDEX_FILE="+l.T.TempDir()+"/index", "GIT_COMMITTER_DATE=@4000000000 +0000")
	w.Git("read-tree", from.Ref())
	for _, name := range strings.Fields(w.Git("ls-files", "mission.json", "turns")) {
		content := change(l.Git("cat-file", "blob", from.Ref()+":"+name))
		if name == "mission.json" {
			content = strings.ReplaceAll(content, string(from), string(id))
		}
		hash, err := l.Feed(content+"\n", "hash-object", "-w", "--stdin")
		gittest.Must(l.T, err)
		w.Git("update-index", "--cacheinfo", "100644,"+hash+","+name)
	}
	args := []string{"commit-tree", "-m", "mission", w.Git("write-tree")}
	if on != "" {
		args = append(args, "-p", on)
	}
	l.Git("update-ref", id.Ref(), w.Git(args...))
}

// TestStrangerHidesNothing: whatever a stranger puts in the place of turns that a fork has inherited, ours
// are handed over, in what we wrote.
func TestStrangerHidesNothing(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	lie := func(record string) string { return strings.Replace(record, `"prompt":"`, `"prompt":"not `, 1) }
	early := func(record string) string { // the newest record is ours
		if strings.Contains(record, `"turn":3`) {
			return record
		}
		return lie(record)
	}
	same := func(record string) string { return record }
	for name, plant := range map[string]func(l *lab.Lab, source record.ID){
		"nothing": func(l *lab.Lab, source record.ID) { l.Git("update-ref", "-d", source.Ref()) },
		"another mission with its turns": func(l *lab.Lab, source record.ID) {
			l.Git("update-ref", "-d", source.Ref())
			replant(l, "99990000", lab.ForkID, "", lie)
		},
		"another mission with its records, without what was said": func(l *lab.Lab, source record.ID) {
			l.Git("update-ref", "-d", source.Ref())
			replant(l, "99990000", lab.ForkID, "", same)
		},
		"its source anew":                      func(l *lab.Lab, source record.ID) { replant(l, source, source, "", lie) },
		"its source anew, with one of ours":    func(l *lab.Lab, source record.ID) { replant(l, source, source, "", early) },
		"more of its source":                   func(l *lab.Lab, source record.ID) { replant(l, source, source, source.Ref(), lie) },
		"more of its source, with one of ours": func(l *lab.Lab, source record.ID) { replant(l, source, source, source.Ref(), early) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			_, list := l.Three()
			l.Fork(l.ForkOf(list[2]))
			plant(l, list[0].Mission)
			w := l.Workspace(l.Dir)
			var ours []string
			err := turns.EachOfAll(t.Context(), w, func(turn *turns.Turn) error {
				if _, err := turns.Usable(t.Context(), w, turn); err == nil && !strings.HasPrefix(turn.Prompt, "not ") {
					ours = append(ours, turn.Prompt)
				}
				return nil
			})
			gittest.Must(t, err)
			if want := []string{"third", "second", "first"}; !slices.Equal(ours, want) {
				t.Errorf("of ours there are %q, want %q", ours, want)
			}
		})
	}
}

// TestEachOfAllLarge: records that together are much larger than what may be held are read again, and none
// is handed over twice, left out, or out of order.
func TestEachOfAllLarge(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for seed := range uint64(2) {
		g := newGrove(t, seed)
		said := strings.Repeat("x", ledger.MaxHeld/20)
		g.say = func(t *turns.Turn) []byte {
			if t.Prompt = said; g.rand.IntN(3) == 0 {
				t.Prompt = "a short one"
			}
			return nil
		}
		for range 90 {
			g.grow()
		}
		wanted := make(map[string]bool)
		for _, m := range g.missions {
			for _, t := range m.turns {
				wanted[named(t.id, t.started)] = true
			}
		}
		last, n := time.Now().AddDate(100, 0, 0), len(wanted)
		err := turns.EachOfAll(t.Context(), workspaceOf(g.plant()), func(turn *turns.Turn) error {
			if name := named(turn.ID(), turn.Started); !wanted[name] || turn.At.After(last) {
				return fmt.Errorf("%s is handed over twice, or too late", name)
			}
			delete(wanted, named(turn.ID(), turn.Started))
			last = turn.At
			return nil
		})
		if err != nil || len(wanted) > 0 {
			t.Errorf("%v; of %d turns, %d are missing", err, n, len(wanted))
		}
	}
}
