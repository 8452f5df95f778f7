package powers

import (
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/power"
	"gitagent/test/gittest"
)

// asking are commands that ask a person, for each flag that makes them ask, in a shell of the world's repository. before
// makes it so that nothing is left to do but what is asked about.
var asking = map[string]struct{ before, line string }{
	"agent-fork adopt --remove-others": {
		`git config --unset agent.../remote.push && git agent-fork --no-conversation --title won --worktree ../won aaaaaaaa/1 && git agent-fork --no-conversation --title lost --worktree ../lost aaaaaaaa/1 &&
		basename $(git -C ../won symbolic-ref HEAD) >../won/id && cd ../won && git agent-turn record --prompt x && cd ../repo && git agent-fork adopt $(cat ../won/id) &&
		git agent-fork adopt $(cat ../won/id)`,
		"git agent-fork adopt --remove-others $(cat ../won/id)",
	},
	"agent-handoff accept":             {"", "git agent-handoff accept cccccccc/1"},
	"agent-turn fetch --accept-purges": {"", "git agent-turn fetch --accept-purges --mission aaaaaaaa origin"},
	"agent-turn prune --remote":        {"", "git agent-turn prune --older-than 0h --remote origin"},
	"agent-turn purge":                 {"", "git agent-turn purge --fixed"},
	"agent-turn purge --push":          {"git agent-turn purge --fixed --yes", "git agent-turn purge --push"},
	"agent-turn remove":                {"git agent-turn init --remove", "git agent-turn remove --all"},
	"agent-turn remove --remote":       {"", "git agent-turn remove --older-than 0h --remote origin"},
	"agent-turn trust accept":          {"", "git agent-turn trust accept cccccccc"},
	"agent-turn trust add":             {"", "git agent-turn trust add desk ../key.pub"},
	// A person who names what goes has said so.
	"agent-turn finish --remove": {},
	"agent-turn prune":           {},
}

// TestAsked: a command that asks a person changes nothing unless a person says yes.
func TestAsked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	asks := func(uses []power.Use) bool {
		return slices.ContainsFunc(uses, func(u power.Use) bool { return power.Of(power.Person, u.Deed, u.Whose) == power.Asked })
	}
	var names []string
	for name, does := range power.Commands() {
		if asks(does.Does) {
			names = append(names, name)
		}
		for flag, more := range does.With {
			if asks(more) {
				names = append(names, name+" --"+flag)
			}
		}
	}
	if slices.Sort(names); !slices.Equal(names, slices.Sorted(maps.Keys(asking))) {
		t.Fatalf("these ask a person: %q, and these are tried: %q", names, slices.Sorted(maps.Keys(asking)))
	}
	first := newWorld(t)
	s := first.stranger()
	s.must("repo", "git", "agent-turn", "fetch", "origin")
	s.must("repo", "git", "config", "agent."+filepath.Join(first.home, "remote")+".push", "all")
	s.must("repo", "git", "agent-turn", "purge", "--mission", own, "--yes")
	_, _ = first.run("repo", nil, "git", "agent-turn", "fetch", "origin") // it fails, as the purge waits for a person
	for name, line := range asking {
		for who, answer := range map[string]string{"no": "no\n", "the end": "\x04", "Ctrl-C": "\x03", "a pipe": "", "yes": "yes\n"} {
			if line.line == "" {
				continue
			}
			t.Run(name+", "+who, func(t *testing.T) {
				t.Parallel()
				w := first.copied(t)
				if line.before != "" {
					w.must("repo", "sh", "-c", line.before)
				}
				before := w.content()
				cmd := exec.Command("sh", "-c", line.line)
				if who == "a pipe" {
					cmd.Args[2] = "yes | " + line.line
				}
				cmd.Dir, cmd.Env = filepath.Join(w.home, "repo"), append(gittest.Env(w.home), "TERM=xterm", "GIT_PAGER=cat")
				said, asked := atQuestions(t, cmd, text+"\n", answer)
				if asked == (who == "a pipe") {
					t.Errorf("it asked: %t\n%s", asked, said)
				}
				after := w.content()
				for path := range after {
					if before[path] == after[path] {
						delete(after, path)
					}
					delete(before, path)
				}
				changed := fmt.Sprint(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
				if changed = strings.ReplaceAll(changed, w.home, ""); (changed != "[] []") != (who == "yes") {
					t.Errorf("gone, and changed, are %s\n%s", changed, said)
				}
			})
		}
	}
}
