package repair_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/repair"
	"gitagent/test/gittest"
	"gitagent/test/lab"
)

// TestProcesses: however many missions there are, the number of processes is the same.
func TestProcesses(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	processes := func(missions int) int {
		for i := range missions {
			l.Turn(l.Client(), fmt.Sprint("turn ", i), l.Writes("file", fmt.Sprintln(missions, i)))
		}
		l.Git("repack", "-adq") // each pack is verified
		trace := filepath.Join(t.TempDir(), "trace")
		w := l.Workspace(l.Dir)
		w.Repo = w.Repo.With(git.Env("GIT_TRACE2_EVENT=" + trace))
		found, err := repair.Run(t.Context(), w, time.Now(), true)
		if err != nil || len(found) > 0 {
			t.Fatal(found, err)
		}
		data, err := os.ReadFile(trace)
		gittest.Must(t, err)
		return strings.Count(string(data), `"event":"start"`)
	}
	few := processes(1)
	if many := processes(4); many != few {
		t.Errorf("%d processes for 5 missions, %d for one", many, few)
	}
}
