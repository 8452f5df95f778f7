//go:build e2e

package e2e

import (
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// Two clients resume one session at once, and each is in the middle of a turn of its own. Whichever ends first, each answer
// is that of the turn that its Stop names, neither turn is interrupted, and a fork of each has what its client was
// asked and has answered, as the client's own fork has.
func TestResumedTwice(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		order [2]string // in which the turns end
	}{
		{"the first ends first", [2]string{"TA", "TB"}},
		{"the second ends first", [2]string{"TB", "TA"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gittest.Nightly(t)
			r := newRig(t)
			a, b := r.gate("TA"), r.gate("TB")
			r.mock.play(
				on("TA", bash("echo A > a.txt"), bash(a.wait()), say("answer to TA")),
				on("TB", bash("echo B > b.txt"), bash(b.wait()), say("answer to TB")),
				on("TF[AB1]", say("forked")),
			)
			session := r.talk("T1 hello")
			clients := map[string]*headless{"TA": r.startClaude(r.repo.Dir, "TA hello", "--resume", session)}
			a.reached()
			clients["TB"] = r.startClaude(r.repo.Dir, "TB hello", "--resume", session)
			b.reached()
			for _, name := range tt.order {
				map[string]*gate{"TA": a, "TB": b}[name].open()
				clients[name].wait()
				clients[name].ok().quiet()
			}
			mission := passive(session)
			turns := r.turns(mission)
			if len(turns) != 3 {
				t.Fatalf("%d turns, want three\n%s", len(turns), r.report())
			}
			for i, name := range tt.order {
				turn := turns[i+1]
				r.checkRecord(turn, r.done(name))
				r.checkObjects(turn)
				if want := "answer to " + name; turn.Reply != want {
					t.Errorf("%v: reply = %q, want %q", turn, turn.Reply, want)
				}
			}
			for i, name := range tt.order {
				asked := r.during(name)
				f := r.fork(r.repo.Dir, mission+[]string{"/2", "/3"}[i])
				request := r.goOn("the fork of "+name, f, append(asked[len(asked)-1].prompts(), "TF"+name[1:])...)
				if whole := strings.Join(request.blocks(), "\n"); !strings.Contains(whole, "answer to "+name) {
					t.Errorf("the fork of %s lacks its answer: %s", name, whole)
				}
			}
			// As the client begins, it answers the other one's call in that one's place, and takes this answer for the call's in its own
			// fork, too.
			r.forksAlike(part{name: tt.name, texts: []string{"answer to " + tt.order[1]}}, session, "TF1")
			if t.Failed() {
				t.Log(r.report())
			}
		})
	}
}
