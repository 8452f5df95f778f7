package hook

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/hooks"
	"gitagent/internal/contextmeter"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// visitable is a lab that sessions of others may visit.
func visitable(t *testing.T) *lab {
	t.Helper()
	l := newLab(t)
	l.Write(".git/agent/enabled", "")
	return l
}

// edit lets a session's tool write a file, and tells of it.
func (l *lab) edit(pid int, session, prompt, path string) {
	l.t.Helper()
	gittest.Must(l.t, os.WriteFile(path, []byte(prompt+"\n"), 0o600))
	l.event(pid, hooks.Payload{
		Name: "PostToolBatch", SessionID: session, PromptID: prompt, ToolCalls: 1,
		Calls: []hooks.Call{{ID: prompt, Tool: "Edit", Effect: hooks.Edits, Paths: []string{path}}},
	})
}

// recorded is what all missions have, a line for each turn: prompt, outcome, own paths, whether it has a home.
func (l *lab) recorded() (list []string) {
	l.t.Helper()
	repo := l.hook(0, hooks.Payload{}).repo
	for id := range strings.FieldsSeq(l.Git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/agent/missions")) {
		all, err := turns.List(l.t.Context(), repo, record.ID(id))
		gittest.Must(l.t, err)
		for _, turn := range all {
			paths := turn.Paths
			if turn.Own != nil {
				paths = turn.Own.Paths
			}
			list = append(list, fmt.Sprintf("%s: %s %v %t", turn.Prompt, turn.Outcome, paths, turn.Home != nil))
		}
	}
	slices.Sort(list)
	return list
}

// What a client that was killed has left elsewhere is recorded by the next session that starts, at its home or
// there, in any worktree, once.
func TestVisitOfKilled(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"home", "there", "beside"} {
		home, visited := visitable(t), visitable(t)
		linked := *visited
		linked.Repo = visited.In(filepath.Join(gittest.TempDir(t), "linked"))
		visited.Git("worktree", "add", "-q", linked.Dir)
		linked.Write("theirs", "of somebody else\n")
		dead, me := gone(t), os.Getpid()
		home.event(dead, hooks.Payload{Name: "UserPromptSubmit", SessionID: "killed", PromptID: "p", Prompt: "p"})
		home.edit(dead, "killed", "p", filepath.Join(visited.Dir, "file"))
		starts := map[string]*lab{"home": home, "there": visited, "beside": &linked}
		first, second := starts[where], home
		if where == "home" {
			second = visited
		}
		first.now, second.now = home.now, home.now.Add(time.Minute)
		first.event(me, hooks.Payload{Name: "SessionStart", SessionID: "next", Source: "startup"})
		want := []string{"p: interrupted [file] true"}
		if got := visited.recorded(); !slices.Equal(got, want) {
			t.Errorf("a session starts %s: %q is recorded, want %q", where, got, want)
		}
		second.event(me, hooks.Payload{Name: "SessionStart", SessionID: "last", Source: "startup"})
		if got := visited.recorded(); !slices.Equal(got, want) {
			t.Errorf("then one at the other place than %s: %q is recorded, want %q", where, got, want)
		}
		if got, want := home.recorded(), []string{"p: interrupted [] false"}; !slices.Equal(got, want) {
			t.Errorf("at home %q is recorded, want %q", got, want)
		}
	}
}

// What was written there before the last calls of a client that was killed, wherever these were, is not theirs.
func TestVisitOfKilledLast(t *testing.T) {
	t.Parallel()
	home, visited := visitable(t), visitable(t)
	late := time.Duration(0)
	home.clock = func() time.Time { return time.Now().Add(late) } // files' times count
	visited.clock = home.clock
	dead := gone(t)
	home.event(dead, hooks.Payload{Name: "UserPromptSubmit", SessionID: "ended", PromptID: "p", Prompt: "p"})
	home.edit(dead, "ended", "p", filepath.Join(visited.Dir, "file"))
	visited.Write("theirs", "of somebody else\n")
	late = time.Second
	home.edit(dead, "ended", "p", filepath.Join(home.Dir, "file"))
	late = time.Minute
	visited.event(os.Getpid(), hooks.Payload{Name: "SessionStart", SessionID: "next", Source: "startup"})
	if got, want := visited.recorded(), []string{"p: interrupted [file] true"}; !slices.Equal(got, want) {
		t.Errorf("%q is recorded, want %q", got, want)
	}
}

// What a session at home has done without a state, as one was looked at just before, is its own, also if a visit begins
// with calls that ran at the same time.
func TestVisitBesideUnlooked(t *testing.T) {
	t.Parallel()
	home, other := visitable(t), visitable(t)
	home.clock, other.clock = time.Now, time.Now // files' times count
	me := os.Getpid()
	prompt := func(l *lab, session string) {
		l.event(me, hooks.Payload{Name: "UserPromptSubmit", SessionID: session, PromptID: session, Prompt: session})
	}
	ran := func(l *lab, session string, began time.Time, call hooks.Call) {
		l.event(me, hooks.Payload{
			Name: "PostToolBatch", SessionID: session, PromptID: session, ToolCalls: 1, CallBegan: began.UnixMilli(), Calls: []hooks.Call{call},
		})
	}
	shell := func(file string, began time.Time) {
		home.Write(file, "of a shell\n")
		ran(home, "unlooked", began, hooks.Call{ID: file, Tool: "Bash", Command: "make", Effect: hooks.Anything})
	}
	prompt(home, "unlooked")
	prompt(other, "visits")
	shell("a", time.Now())
	began := time.Now()
	shell("b", began)
	home.Write("file", "edited\n")
	ran(other, "visits", began, hooks.Call{ID: "edit", Tool: "Edit", Effect: hooks.Edits, Paths: []string{filepath.Join(home.Dir, "file")}})
	for l, session := range map[*lab]string{home: "unlooked", other: "visits"} {
		l.event(me, hooks.Payload{Name: "Stop", SessionID: session, PromptID: session, LastAssistantMessage: "done"})
	}
	if got, want := home.recorded(), []string{"unlooked: done [a b] false", "visits: done [file] true"}; !slices.Equal(got, want) {
		t.Errorf("%q is recorded, want %q", got, want)
	}
}

// Sessions visit a repository at the same time, while one is at home and works there: no turn is lost, and each
// has what it changed itself.
func TestVisitsAtOnce(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	visited := visitable(t)
	homes := []*lab{visited, visitable(t), visitable(t)}
	var all sync.WaitGroup
	var want []string
	each := gittest.Size(5, 3)
	for i, home := range homes {
		session := fmt.Sprintf("session%d", i)
		l := *home
		l.clock = time.Now // files' times count
		all.Go(func() {
			for n := range each {
				prompt := fmt.Sprintf("%s-%d", session, n)
				l.event(os.Getpid(), hooks.Payload{Name: "UserPromptSubmit", SessionID: session, PromptID: prompt, Prompt: prompt})
				l.edit(os.Getpid(), session, prompt, filepath.Join(visited.Dir, session))
				l.event(os.Getpid(), hooks.Payload{Name: "Stop", SessionID: session, PromptID: prompt, LastAssistantMessage: "done"})
			}
		})
		for n := range each {
			want = append(want, fmt.Sprintf("%[1]s-%[2]d: done [%[1]s] %[3]t", session, n, home != visited))
		}
	}
	all.Wait()
	if got := visited.recorded(); !slices.Equal(got, want) {
		t.Errorf("recorded is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// The number of repositories is bounded for a turn, not for a session.
func TestMostVisits(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	home := visitable(t)
	above := gittest.TempDir(t)
	prompt := func(id string, from, to int) (tops []string) {
		home.event(os.Getpid(), hooks.Payload{Name: "UserPromptSubmit", SessionID: "one", PromptID: id, Prompt: id})
		var paths []string
		for i := from; i < to; i++ {
			dir := filepath.Join(above, fmt.Sprint(i))
			home.Git("init", "-q", dir)
			paths = append(paths, filepath.Join(dir, "file"))
		}
		for _, some := range [][]string{paths[:len(paths)/2], paths[len(paths)/2:]} {
			home.event(os.Getpid(), hooks.Payload{
				Name: "PostToolBatch", SessionID: "one", PromptID: id, ToolCalls: 1,
				Calls: []hooks.Call{{ID: id, Tool: "Edit", Effect: hooks.Edits, Paths: some}},
			})
		}
		visits, _ := home.hook(0, hooks.Payload{SessionID: "one"}).visits()
		for _, v := range visits {
			if v.PromptID == id {
				tops = append(tops, filepath.Base(v.Top))
			}
		}
		return tops
	}
	if got := prompt("p", 0, contextmeter.MaxVisits+4); len(got) != contextmeter.MaxVisits {
		t.Errorf("one turn visits %q", got)
	}
	if !home.hook(0, hooks.Payload{SessionID: "one"}).store.WasTold("one", "visits") {
		t.Error("the user does not know")
	}
	if got, want := prompt("q", 100, 103), []string{"100", "101", "102"}; !slices.Equal(got, want) {
		t.Errorf("the next one visits %q, want %q", got, want)
	}
}

// A visited repository that is gone by the turn's end is no error, and looked for
// no more.
func TestVisitOfGone(t *testing.T) {
	t.Parallel()
	home, visited := visitable(t), visitable(t)
	home.event(os.Getpid(), hooks.Payload{Name: "UserPromptSubmit", SessionID: "one", PromptID: "p", Prompt: "p"})
	home.edit(os.Getpid(), "one", "p", filepath.Join(visited.Dir, "file"))
	gittest.Must(t, os.RemoveAll(visited.Dir))
	home.event(os.Getpid(), hooks.Payload{Name: "Stop", SessionID: "one", PromptID: "p"}) // which must log nothing
	if visits, _ := home.hook(0, hooks.Payload{SessionID: "one"}).visits(); slices.ContainsFunc(visits, contextmeter.Visit.Runs) {
		t.Errorf("after the turn's end there are the visits %+v", visits)
	}
}

func TestTurnOf(t *testing.T) {
	t.Parallel()
	open, last := &session.OpenTurn{PromptID: "open", Prompt: "o"}, &session.LastTurn{PromptID: "last", Prompt: "l"}
	for _, tt := range []struct {
		name     string
		at       session.Known
		prompt   string
		subagent bool
		want     session.OpenTurn
	}{
		{"nothing is known", session.Known{}, "p", false, session.OpenTurn{PromptID: "p"}},
		{"the open one", session.Known{Open: open, Last: last}, "", false, *open},
		{"the client knows the id better", session.Known{Open: open}, "p", false, session.OpenTurn{PromptID: "p", Prompt: "o"}},
		{"a sub-agent's is the one that is open", session.Known{Open: open}, "p", true, *open},
		{"a sub-agent outlives its turn", session.Known{Last: last}, "p", true, session.OpenTurn{PromptID: "last", Prompt: "l"}},
		{"the session's own calls do not", session.Known{Last: last}, "p", false, session.OpenTurn{PromptID: "p"}},
		{"a sub-agent of which nothing is known", session.Known{}, "p", true, session.OpenTurn{PromptID: "p"}},
	} {
		if got := turnOf(&tt.at, tt.prompt, tt.subagent); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

func TestCalledAt(t *testing.T) {
	t.Parallel()
	at := func(s int64) time.Time { return time.Unix(s, 0) }
	for _, tt := range []struct {
		name                   string
		began, turn, now, want time.Time
	}{
		{"in the turn", at(5), at(3), at(9), at(5)},
		{"before it", at(1), at(3), at(9), at(3)},
		{"unknown", time.Time{}, at(3), at(9), at(3)},
		{"as the turn is", time.Time{}, time.Time{}, at(9), at(9)},
		{"by another clock", at(12), at(3), at(9), at(3)},
		{"by another clock, in no turn", at(12), time.Time{}, at(9), at(9)},
	} {
		if got := calledAt(tt.began, tt.turn, tt.now); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Of a turn at home a visited repository learns what was recorded there, and
// nothing that the client says at its end.
func TestAsVisited(t *testing.T) {
	t.Parallel()
	s := recorder.Signal{Event: recorder.Stopped, Session: "s", Prompt: "said", Reply: "said", Transcript: "/home/dev/s.jsonl"}
	known := &session.Known{Mission: "a1b2c3d4"}
	last := &turns.Turn{Mission: "a1b2c3d4", Turn: 3, Prompt: "kept", Reply: "kept, too"}
	for _, tt := range []struct {
		name          string
		known         *session.Known
		last          *turns.Turn
		home          *record.TurnID
		prompt, reply string
	}{
		{"a turn", known, last, &record.TurnID{Mission: "a1b2c3d4", Turn: 3}, "kept", "kept, too"},
		{"which is not known", known, nil, &record.TurnID{Mission: "a1b2c3d4"}, "", ""},
		{"nothing at home", &session.Known{}, nil, nil, "", ""},
	} {
		want := recorder.Signal{Event: s.Event, Session: "s", Away: true, Home: tt.home, Prompt: tt.prompt, Reply: tt.reply}
		if got := asVisited(s, tt.known, tt.last); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", tt.name, got, want)
		}
	}
}
