//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestPlanted puts links into the git directory of a repository that was unpacked from an archive. No
// hook follows them, the user is told, and what can be recorded is.
func TestPlanted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, tt := range map[string]struct{ recorded, told bool }{
		"agent":              {false, true},
		"agent/locks":        {false, true},
		"agent/sessions":     {true, true}, // in the ledger, but the next event does not know it
		"agent/log":          {true, false},
		"agent/index":        {true, false},
		"agent/index.new":    {true, false},
		"agent/index.origin": {true, false},
		"agent/old-packs":    {true, false},
		"agent/joined-packs": {true, false},
	} {
		for _, kind := range []string{"file", "directory"} {
			t.Run(name+" to a "+kind, func(t *testing.T) {
				t.Parallel()
				gittest.Sample(t)
				h := newHost(t)
				gittest.Must(t, os.RemoveAll(filepath.Join(h.Dir, ".git/agent")))
				if name != "agent" {
					h.Git("config", "agent.record", "true")
				}
				home := gittest.TempDir(t)
				target := home
				if kind == "file" {
					target = filepath.Join(home, "victim")
				}
				gittest.Must(t, os.WriteFile(filepath.Join(home, "victim"), []byte("mine\n"), 0o600))
				path := filepath.Join(h.Dir, ".git", name)
				gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
				gittest.Must(t, os.Symlink(target, path))
				told := ""
				c := h.listening(&told)
				c.Prompt("one")
				h.Write("kept.txt", "changed\n")
				c.Stop("done")
				c.Flush()
				entries, err := os.ReadDir(home)
				if err != nil || len(entries) != 1 {
					t.Errorf("outside is %v, %v", entries, err)
				}
				if data, err := os.ReadFile(filepath.Join(home, "victim")); err != nil || string(data) != "mine\n" {
					t.Errorf("the victim is %q, %v", data, err)
				}
				refs := h.Git("for-each-ref", "refs/agent")
				if tt.recorded != (refs != "") {
					t.Errorf("refs: %q, want some: %t\n%s", refs, tt.recorded, told)
				}
				if tt.told != strings.Contains(told, path) || strings.Count(told, "\n") > 1 {
					t.Errorf("the user is told %q, want %s in it once: %t", told, path, tt.told)
				}
				h.fsck()
			})
		}
	}
}
