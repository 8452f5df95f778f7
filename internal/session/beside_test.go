package session

import (
	"fmt"
	"slices"
	"sync"
	"testing"

	"gitagent/internal/git/object"
)

func TestUpdateBeside(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if list := s.LoadBeside("s"); list != nil {
		t.Errorf("a session without worktrees has %v", list)
	}
	var all sync.WaitGroup
	for i := range 20 { // sub-agents stop at once
		all.Go(func() {
			e := Beside{GitDir: fmt.Sprint("/repo/.git/worktrees/", i), Made: int64(i), Name: "w", Base: object.NewHash("1111111111111111111111111111111111111111")}
			if err := s.UpdateBeside(t.Context(), "s", func(list []Beside) []Beside { return append(list, e) }); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list := s.LoadBeside("s")
	slices.SortFunc(list, func(a, b Beside) int { return int(a.Made - b.Made) })
	for i, e := range list {
		if e.Made != int64(i) || e.Name != "w" || e.Base.IsZero() || !e.Code.IsZero() {
			t.Errorf("entry %d is %+v", i, e)
		}
	}
	if len(list) != 20 {
		t.Errorf("of 20 entries %d are there", len(list))
	}
	if other := s.LoadBeside("other"); other != nil {
		t.Errorf("another session has %v", other)
	}
}

// TestLoadBesideDamaged: a list that can't be read is as none.
func TestLoadBesideDamaged(t *testing.T) {
	t.Parallel()
	s := Open(t.TempDir())
	if err := s.dir.WriteFile(besidePath("s"), []byte(`[{"git_dir":`)); err != nil {
		t.Fatal(err)
	}
	if list := s.LoadBeside("s"); list != nil {
		t.Errorf("half a list is %v", list)
	}
	if err := s.UpdateBeside(t.Context(), "s", func(list []Beside) []Beside { return append(list, Beside{Name: "w"}) }); err != nil {
		t.Fatal(err)
	}
	if list := s.LoadBeside("s"); len(list) != 1 {
		t.Errorf("then there are %v", list)
	}
}

func TestSameBeside(t *testing.T) {
	t.Parallel()
	a := Beside{GitDir: "/repo/.git/worktrees/a", Made: 1, Name: "a", Agent: "a1"}
	for other, want := range map[Beside]bool{
		{GitDir: a.GitDir, Made: 1, Name: "moved"}:     true,
		{GitDir: a.GitDir, Made: 2, Name: "a"}:         false, // made again at its place
		{GitDir: "/repo/.git", Name: "a", Agent: "a1"}: false,
	} {
		if got := a.Same(other); got != want {
			t.Errorf("Same(%+v) = %t", other, got)
		}
	}
}
