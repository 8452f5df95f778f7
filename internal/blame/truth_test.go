package blame_test

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/blame"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

var (
	worlds = flag.Int("provenance.worlds", 0, "ask in `n` worlds of each profile; 0 is what suits the test")
	first  = flag.Uint64("provenance.seed", 1, "the first world's `seed`")
	only   = flag.String("provenance.profile", "", "ask in the worlds of this `profile` alone")
	keep   = flag.Bool("provenance.log", false, "tell what happened in a world with a wrong answer")
)

// A score counts lines.
type score struct {
	agentRight, or, wrongTurn, agentAsUser int
	userRight, userAsAgent                 int
	unsureRight, unsureWrong               int // lines that two may have written
	common                                 int // lines that are in many places
	worlds                                 int
	took                                   time.Duration
}

func (s *score) add(o score) {
	s.agentRight += o.agentRight
	s.or += o.or
	s.wrongTurn += o.wrongTurn
	s.agentAsUser += o.agentAsUser
	s.userRight += o.userRight
	s.userAsAgent += o.userAsAgent
	s.unsureRight += o.unsureRight
	s.unsureWrong += o.unsureWrong
	s.common += o.common
	s.worlds += o.worlds
	s.took += o.took
}

// right is how much of what can be told was right, in percent.
func (s *score) right() float64 {
	right := s.agentRight + s.or + s.userRight
	all := right + s.wrong()
	if all == 0 {
		return 0
	}
	return 100 * float64(right) / float64(all)
}

func (s *score) wrong() int { return s.wrongTurn + s.agentAsUser + s.userAsAgent }

const heading = "| profile | worlds | agent right | or | wrong turn | agent as user | user right | user as agent | right | unsure | unsure wrong | common | s/world |\n" +
	"| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n"

func (s *score) row(name string) string {
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d | %d | %.2f %% | %d | %d | %d | %.1f |\n", name, s.worlds, s.agentRight, s.or, s.wrongTurn,
		s.agentAsUser, s.userRight, s.userAsAgent, s.right(), s.unsureRight, s.unsureWrong, s.common, s.took.Seconds()/float64(max(1, s.worlds)))
}

// TestTruth asks who wrote the lines of worlds that know.
func TestTruth(t *testing.T) {
	t.Parallel()
	n := *worlds
	if n == 0 {
		n = gittest.Size(8, 1)
	}
	var mu sync.Mutex
	scores := make(map[string]*score)
	t.Run("worlds", func(t *testing.T) {
		for _, p := range profiles {
			if *only != "" && *only != p.name {
				continue
			}
			n := n
			if p.company && *worlds == 0 {
				n = max(n, 4) // what a person saves at once is right or wrong as one
			}
			for seed := *first; seed < *first+uint64(n); seed++ {
				t.Run(fmt.Sprintf("%s/%d", p.name, seed), func(t *testing.T) {
					t.Parallel()
					if p.name != "plain" && p.name != "forks" {
						gittest.Check(t)
					}
					w := newWorld(t, p, seed)
					began := time.Now()
					w.run(gittest.Size(60, 30))
					s := w.score()
					s.worlds, s.took = 1, time.Since(began)
					mu.Lock()
					defer mu.Unlock()
					if scores[p.name] == nil {
						scores[p.name] = new(score)
					}
					scores[p.name].add(s)
					t.Log(w.done)
					if *keep && s.wrong() > 0 {
						t.Log("\n" + strings.Join(w.log, "\n"))
						for _, tr := range w.machines[0].trees {
							t.Log("\n" + tr.git("log", "--graph", "--format=%h %cI %p %s", "HEAD"))
						}
					}
				})
			}
		}
	})
	var table strings.Builder
	table.WriteString(heading)
	for _, p := range profiles {
		s := scores[p.name]
		if s == nil {
			continue
		}
		table.WriteString(s.row(p.name))
		switch {
		case s.right() < p.least:
			t.Errorf("%s: %.2f %% right, want %.1f %%", p.name, s.right(), p.least)
		case p.strict && s.agentAsUser > 0:
			t.Errorf("%s: %d lines of agents given to the user", p.name, s.agentAsUser)
		}
	}
	t.Logf("\n%s", table.String())
}

// score asks in all worktrees of the first machine.
func (w *world) score() score {
	var s score
	for _, tr := range w.machines[0].trees {
		h, err := blame.Open(context.Background(), tr.workspace(tr.dir))
		w.must(err)
		var uncommitted object.Hash
		if w.profile.company { // the machine's clock is behind
			uncommitted = object.NewHash(tr.git("commit-tree", "-p", "HEAD", "-m", "uncommitted", tr.written().String()))
		}
		for _, name := range tr.files() {
			text, err := tr.try("show", "HEAD:"+name)
			if err != nil {
				continue // not committed
			}
			if text != "" {
				text += "\n" // which was taken off
			}
			head := object.NewHash(tr.git("rev-parse", "HEAD"))
			w.ask(&s, h, tr, blame.Request{Commit: head, Path: name, Options: w.profile.options}, split(text))
			if now := tr.content(name); now != text {
				w.ask(&s, h, tr, blame.Request{Commit: uncommitted, Path: name, Options: w.profile.options}, split(now))
			}
		}
		h.Close()
	}
	return s
}

// ask asks for the lines of a file.
func (w *world) ask(s *score, h *blame.History, tr *tree, r blame.Request, lines []string) {
	w.t.Helper()
	answers, err := h.Blame(w.t.Context(), r)
	switch {
	case err != nil:
		w.t.Errorf("%s, seed %d: %s: %v", w.profile.name, w.seed, r.Path, err)
		return
	case len(answers) != len(lines):
		w.t.Errorf("%s, seed %d: %s: %d lines, want %d", w.profile.name, w.seed, r.Path, len(answers), len(lines))
		return
	}
	times := make(map[string]int)
	for _, line := range lines {
		times[line]++
	}
	for i, line := range lines {
		o := w.texts[line]
		if o == nil || times[line] > 1 { // whoever resolved a conflict may have left a line twice
			s.common++
			continue
		}
		w.judge(s, o, answers[i], fmt.Sprintf("%s at %.8s in %s:%d: %q", filepath.Base(tr.dir), r.Commit, r.Path, i+1, line))
	}
}

// judge compares an answer with the truth.
func (w *world) judge(s *score, o *origin, answer blame.Line, where string) {
	is := func(t *written) bool { return answer.Turn != nil && answer.Turn.ID() == t.id }
	recorded := o.by != nil && o.by.id.Turn > 0
	if w.profile.company && answer.Unsure && !o.unsure && (o.by == nil || recorded) { // what is sure counts
		right := o.by == nil || is(o.by)
		for _, t := range answer.Others {
			right = right || t.ID() == o.by.id
		}
		if right {
			s.unsureRight++
		} else {
			s.unsureWrong++
		}
		return
	}
	if o.unsure || o.by != nil && !recorded {
		right := answer.Turn == nil || o.by != nil && is(o.by)
		for _, t := range o.also {
			right = right || is(t)
		}
		if right {
			s.unsureRight++
		} else {
			s.unsureWrong++
		}
		return
	}
	said := "hand"
	if answer.Turn != nil {
		said = answer.Turn.ID().String()
	}
	wrong := ""
	switch {
	case o.by == nil && answer.Turn == nil:
		s.userRight++
	case o.by == nil:
		s.userAsAgent++
		wrong = "user as agent"
	case answer.Turn == nil:
		s.agentAsUser++
		wrong = "agent as user"
	case is(o.by):
		s.agentRight++
	default:
		for _, t := range answer.Others {
			if t.ID() == o.by.id {
				s.or++
				return
			}
		}
		s.wrongTurn++
		wrong = "wrong turn"
	}
	if wrong != "" && s.wrong() <= 20 {
		w.t.Logf("%s, seed %d: %s: %s; %s, not %s (state %.8s, plain blame %.8s)", w.profile.name, w.seed, wrong, where, o.by, said, answer.State, answer.Blame.Commit)
	}
}
