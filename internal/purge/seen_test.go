package purge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/test/gittest"
)

// TestProcesses: however many missions there are, in one of which it was said, a plan takes the same number of processes.
func TestProcesses(t *testing.T) {
	t.Parallel()
	r, p := recorded(t)
	repo := p.Repo
	processes := func() int {
		r.Git("repack", "-adq")
		trace := filepath.Join(t.TempDir(), "trace")
		p.Repo = repo.With(git.Env("GIT_TRACE2_EVENT=" + trace))
		if plan := planned(t, p); plan.Empty() || len(plan.Found) == 0 {
			t.Fatalf("planned: %+v", plan.Report)
		}
		p.Repo = repo
		data, err := os.ReadFile(trace)
		gittest.Must(t, err)
		return strings.Count(string(data), `"event":"start"`)
	}
	r.Write("key.txt", "none\n")
	few := processes()
	for i := range 5 {
		_, err := recorder.Record(t.Context(), p.Workspace, recorder.Signal{
			Event: recorder.Stopped, At: time.Now(), Agent: "test", Mission: record.ID(fmt.Sprintf("0000000%d", i)), Session: fmt.Sprint("s", i), Prompt: "go on", Reply: "ok", Outcome: record.Done,
		})
		gittest.Must(t, err)
	}
	if many := processes(); many != few {
		t.Errorf("%d processes for 6 missions, %d for one", many, few)
	}
}
