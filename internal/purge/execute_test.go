package purge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/hooks"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/journal"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/scrub"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

const (
	slip    = "tangerine-horse-staple"
	mission = record.ID("a1b2c3d4")
)

// recorded returns a repository with a turn that says slip, and a purge of it.
func recorded(t *testing.T) (*gittest.Repo, *Purge) {
	t.Helper()
	r := gittest.New(t)
	r.Commit("first")
	repo, err := git.Find(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	w := workspace.New(repo, config.Default())
	r.Write("key.txt", slip+"\n")
	_, err = recorder.Record(t.Context(), w, recorder.Signal{
		Event: recorder.Stopped, At: time.Now(), Agent: "test", Mission: mission, Session: "s", Prompt: "log in with " + slip, Reply: "ok",
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Git("cat-file", "-p", mission.Ref()+":turns/0000/000001.json"); !strings.Contains(got, slip) {
		t.Fatalf("the turn does not say it: %s", got)
	}
	finder, err := scrub.Fixed([]byte(slip))
	if err != nil {
		t.Fatal(err)
	}
	p := &Purge{Workspace: w}
	p.Target.Finder = finder
	return r, p
}

func planned(t *testing.T, p *Purge) *Plan {
	t.Helper()
	plan, err := p.Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plan.Close)
	return plan
}

// gone checks that nothing has slip, and that no purge is under way.
func gone(t *testing.T, r *gittest.Repo, p *Purge) {
	t.Helper()
	if Unfinished(p.Store) {
		t.Error("its journal is still there")
	}
	all := r.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	for hash := range strings.FieldsSeq(all) {
		if strings.Contains(r.Git("cat-file", "-p", hash), slip) {
			t.Errorf("object %s has it", hash)
		}
	}
	if got := r.Git("cat-file", "-p", mission.Ref()+":turns/0000/000001.json"); !strings.Contains(got, scrub.Mark) {
		t.Errorf("the turn is %s", got)
	}
	if plan := planned(t, p); !plan.Empty() {
		t.Errorf("once more, %+v is purged", plan.Report)
	}
}

// TestExecute: a plan changes nothing; carried out, it leaves nothing of what was purged.
func TestExecute(t *testing.T) {
	t.Parallel()
	r, p := recorded(t)
	plan := planned(t, p)
	before := r.Git("for-each-ref")
	if plan.Empty() || len(plan.Found) == 0 || r.Git("for-each-ref") != before {
		t.Fatalf("planned: %+v", plan.Report)
	}
	done, err := plan.Execute(t.Context())
	if err != nil || done.Refs == 0 || len(done.Stays) > 0 || done.Searched == nil || len(done.Searched.Found) > 0 {
		t.Errorf("%+v, %v", done, err)
	}
	gone(t, r, p)
}

// stepped keeps a state in which a file has a content, as after a tool, and then removes the file.
func stepped(t *testing.T, r *gittest.Repo, p *Purge, content string) (tree string) {
	t.Helper()
	r.Write("passing.txt", content)
	gittest.Must(t, recorder.Step(t.Context(), p.Repo, func() *workspace.Workspace { return p.Workspace }, recorder.Batch{
		Session: "s", Cwd: r.Dir, Calls: []hooks.Call{{Tool: "Bash", Command: "make"}},
	}))
	all, err := journal.Read(p.Repo)
	if err != nil || len(all) == 0 || all[len(all)-1].Session != "s" || all[len(all)-1].Tree.IsZero() {
		t.Fatalf("the journal is %+v, %v", all, err)
	}
	gittest.Must(t, os.Remove(filepath.Join(r.Dir, "passing.txt")))
	return all[len(all)-1].Tree.String()
}

// unstepped checks that neither the journal nor the object is there.
func unstepped(t *testing.T, r *gittest.Repo, p *Purge, hash string) {
	t.Helper()
	if all, err := journal.Read(p.Repo); all != nil || err != nil {
		t.Errorf("the journal is %+v, %v", all, err)
	}
	if _, err := r.Try("cat-file", "-e", hash); err == nil {
		t.Errorf("object %s is there", hash)
	}
	r.Git("fsck")
}

// TestExecuteStep: a secret was in a file for one step only. It goes as any other, and the journal with it.
func TestExecuteStep(t *testing.T) {
	t.Parallel()
	for _, alone := range []bool{false, true} {
		r, p := recorded(t)
		if alone { // in nothing else
			other, err := scrub.Fixed([]byte("another-long-secret"))
			gittest.Must(t, err)
			p.Target.Finder = other
			tree := stepped(t, r, p, "it is another-long-secret\n")
			plan := planned(t, p)
			done, err := plan.Execute(t.Context())
			if err != nil || done.Searched == nil || len(done.Searched.Found) > 0 {
				t.Errorf("%+v, %v", done, err)
			}
			unstepped(t, r, p, tree)
			continue
		}
		tree := stepped(t, r, p, "it is "+slip+" again\n")
		if _, err := planned(t, p).Execute(t.Context()); err != nil {
			t.Fatal(err)
		}
		unstepped(t, r, p, tree)
		gone(t, r, p)
	}
}

// TestExecuteStepOfTurn: what a turn had only within goes when the turn is purged, and what is elsewhere stays.
func TestExecuteStepOfTurn(t *testing.T) {
	t.Parallel()
	r, p := recorded(t)
	stepped(t, r, p, "never at an end\n")
	blob := r.Pipe("never at an end\n", "hash-object", "--stdin")
	r.Git("cat-file", "-e", blob)
	p.Target = purgerewrite.Target{Turns: []record.TurnID{{Mission: mission, Turn: 1}}}
	if _, err := planned(t, p).Execute(t.Context()); err != nil {
		t.Fatal(err)
	}
	unstepped(t, r, p, blob)
}

// TestExecuteMoved: a turn that was recorded after the plan is purged with the others.
func TestExecuteMoved(t *testing.T) {
	t.Parallel()
	r, p := recorded(t)
	plan := planned(t, p)
	_, err := recorder.Record(t.Context(), p.Workspace, recorder.Signal{
		Event: recorder.Stopped, At: time.Now(), Agent: "test", Mission: mission, Session: "s", Prompt: "again with " + slip, Reply: "ok",
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Execute(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone(t, r, p)
	if got := r.Git("cat-file", "-p", mission.Ref()+":turns/0000/000002.json"); !strings.Contains(got, "again with") {
		t.Errorf("the second turn is %s", got)
	}
}

// TestComplete: a purge that was killed when its journal was written is completed.
func TestComplete(t *testing.T) {
	t.Parallel()
	r, p := recorded(t)
	if done, err := Complete(t.Context(), p.Workspace); done != nil || err != nil {
		t.Fatalf("without a purge: %+v, %v", done, err)
	}
	plan := planned(t, p)
	if err := plan.objects.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := plan.remember(); err != nil {
		t.Fatal(err)
	}
	if _, err := plan.scrub().files(plan.dirs()); err != nil {
		t.Fatal(err)
	}
	if err := plan.worklist().write(p.Store); err != nil {
		t.Fatal(err)
	}
	if !Unfinished(p.Store) {
		t.Error("no purge is under way")
	}
	done, err := Complete(t.Context(), p.Workspace)
	if err != nil || done == nil || done.Refs == 0 {
		t.Errorf("%+v, %v", done, err)
	}
	gone(t, r, p)
}

// TestExecuteAfterKilled: what a killed purge was to erase goes as well, whoever purges next, and nobody takes the
// missions that it was about to move, or has moved, for moved by others.
func TestExecuteAfterKilled(t *testing.T) {
	t.Parallel()
	for step := range 3 {
		r, p := recorded(t)
		other, err := scrub.Fixed([]byte("marmalade-battery"))
		gittest.Must(t, err)
		next := &Purge{Workspace: p.Workspace, Target: purgerewrite.Target{Finder: other}}
		_, err = recorder.Record(t.Context(), p.Workspace, recorder.Signal{
			Event: recorder.Stopped, At: time.Now(), Agent: "test", Mission: "b1b2c3d4", Session: "o", Prompt: "eat marmalade-battery", Reply: "ok",
		})
		gittest.Must(t, err)
		late := planned(t, next)
		plan := planned(t, p)
		gittest.Must(t, plan.objects.Flush())
		gittest.Must(t, plan.remember())
		_, err = plan.scrub().files(plan.dirs())
		gittest.Must(t, err)
		j := plan.worklist()
		gittest.Must(t, j.write(p.Store))
		if step > 0 {
			gittest.Must(t, j.trust(p.Workspace))
		}
		if step > 1 {
			held, err := hold(t.Context(), p.Workspace)
			gittest.Must(t, err)
			gittest.Must(t, j.move(t.Context(), p.Workspace, held))
			held.release()
		}
		before := r.Git("for-each-ref")
		if _, err := p.Repo.Refs(t.Context(), "refs/agent/missions/"); err != nil || r.Git("for-each-ref") != before {
			t.Errorf("%d: who reads the refs, moves them to\n%s, %v", step, r.Git("for-each-ref"), err)
		}
		if _, err := late.Execute(t.Context()); err != nil {
			t.Fatal(err)
		}
		gone(t, r, p)
		alone(t, r, 2)
		if plan := planned(t, next); !plan.Empty() {
			t.Errorf("%d: once more, %+v is purged", step, plan.Report)
		}
	}
}

// alone checks that there are as many missions as before.
func alone(t *testing.T, r *gittest.Repo, n int) {
	t.Helper()
	if refs := r.Git("for-each-ref", "refs/agent/missions"); strings.Count(refs, "\n")+1 != n {
		t.Errorf("the missions are\n%s", refs)
	}
}

// TestExecuteLocked: a lock on a mission that a dead git has left goes, and the purge is done, once.
func TestExecuteLocked(t *testing.T) {
	t.Parallel()
	r, p := recorded(t)
	plan := planned(t, p)
	r.RefFiles()
	r.Write(".git/"+mission.Ref()+".lock", "")
	if _, err := plan.Execute(t.Context()); err != nil {
		t.Fatal(err)
	}
	gone(t, r, p)
	alone(t, r, 1)
}

// TestPastNotes: a text that only a note of before has goes with it, and the notes of other missions stay.
func TestPastNotes(t *testing.T) {
	t.Parallel()
	r, p := recorded(t)
	const other, text = record.ID("b1b2c3d4"), "marmalade-battery"
	_, err := recorder.Record(t.Context(), p.Workspace, recorder.Signal{
		Event: recorder.Stopped, At: time.Now(), Agent: "test", Mission: other, Session: "other", Prompt: "go on", Reply: "ok",
	})
	gittest.Must(t, err)
	r.Git("notes", "--ref="+mission.NotesRef(), "append", "-m", text, "HEAD")
	r.Git("notes", "--ref="+mission.NotesRef(), "remove", "HEAD")
	stays := r.Git("rev-parse", other.NotesRef())
	finder, err := scrub.Fixed([]byte(text))
	gittest.Must(t, err)
	p.Target.Finder = finder
	if _, err := planned(t, p).Execute(t.Context()); err != nil {
		t.Fatal(err)
	}
	objects := r.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	for hash := range strings.FieldsSeq(objects) {
		if strings.Contains(r.Git("cat-file", "-p", hash), text) {
			t.Errorf("%s has it", hash)
		}
	}
	if now := r.Git("rev-parse", other.NotesRef()); now != stays {
		t.Errorf("the notes of the other mission were rewritten")
	}
}
