package snapshot

import (
	"os"

	"github.com/go-git/go-git/v5/config"
)

// askSubmodules starts looking for submodules with changes that no commit of them holds,
// and returns a function that waits for their paths. It is a process for each
// submodule, and it only serves to name them, so a failure is no failure of the snapshot.
//
// It must not be part of the one pass over the worktree: git would hand that one's
// settings down, and rewrite the submodules' indexes with them.
func (t *taker) askSubmodules() func() []string {
	none := func() []string { return nil }
	b, err := os.ReadFile(t.file(".gitmodules"))
	if err != nil {
		return none
	}
	modules := config.NewModules()
	if err := modules.Unmarshal(b); err != nil || len(modules.Submodules) == 0 {
		return none
	}
	args := []string{"status", "--porcelain=v2", "-z", "-unormal", "--no-renames", "--ignore-submodules=none", "--"}
	for _, m := range modules.Submodules {
		args = append(args, m.Path)
	}
	repo := t.index.repo.With("GIT_INDEX_FILE="+t.index.path, "GIT_OPTIONAL_LOCKS=0", "GIT_LITERAL_PATHSPECS=1")
	p, err := repo.Start(t.ctx, args...)
	if err != nil {
		return none
	}
	return func() []string {
		out, err := p.Finish(nil)
		if err != nil {
			return nil
		}
		_, entries, err := parseStatus(string(out))
		if err != nil {
			return nil
		}
		var dirty []string
		for _, e := range entries {
			if e.dirty {
				dirty = append(dirty, e.path)
			}
		}
		return dirty
	}
}
