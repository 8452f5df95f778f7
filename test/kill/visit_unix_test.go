//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/test/gittest"
	"gitagent/test/replay"
)

// visited are two repositories beside the one that the session is at home in.
func (l *lab) visited() []*gittest.Repo {
	l.t.Helper()
	for len(l.guests) < 2 {
		g := gittest.New(l.t)
		g.Write("file", "none\n")
		g.Write(".git/agent/enabled", "")
		g.Commit("first")
		g.Git("config", "gc.autoDetach", "false")
		l.guests = append(l.guests, g)
	}
	return l.guests
}

// edits is a tool's call that edits a file in a visited repository.
func (l *lab) edits(in *gittest.Repo) command {
	path := filepath.Join(in.Dir, "file")
	return l.event(func(c *replay.Client) {
		c.Call("Edit", map[string]any{"file_path": path}, func() { in.Write("file", l.prompt+"\n") })
	})
}

// arriving is the first call in another repository.
func arriving(l *lab) command {
	if l.enter(); l.c.Busy() {
		l.turn()
	}
	l.undisturbed("UserPromptSubmit", l.prompted())
	return l.onceIn(l.edits(l.visited()[0]), l.visited()[:1])
}

// leaving is the end of a turn that has visited two repositories.
func leaving(l *lab) command {
	l.undisturbed("the first call there", arriving(l))
	l.undisturbed("another one", l.edits(l.visited()[1]))
	return l.onceIn(l.stopped(), l.visited())
}

// movingIn is the end of the first turn of a session that stands in no repository.
func movingIn(l *lab) command {
	guests := l.visited()
	l.enter()
	c := replay.New(l.config, l.outside, nil)
	c.PID = l.c.PID
	defer l.as(c)()
	l.undisturbed("a prompt outside", l.prompted())
	for _, g := range guests {
		l.undisturbed("a call from outside", l.edits(g))
	}
	prompt := l.prompt
	stop := func() command {
		c := l.event(func(c *replay.Client) { c.Stop("did " + prompt) })
		c.stops = "" // it is not recorded here
		return c
	}
	end := l.onceIn(stop(), guests)
	check := end.then
	end.then = func(l *lab, done result) {
		home := l.as(c)
		l.undisturbed("a prompt outside", l.prompted())
		l.undisturbed("a Stop outside", stop())
		home()
		check(l, done)
	}
	return end
}

// as lets another client be the one that events are of, until the function that it returns is called.
func (l *lab) as(c *replay.Client) (back func()) {
	home, prompt := l.c, l.prompt
	l.c = c
	return func() { l.c, l.prompt = home, prompt }
}

// onceIn lets a command be followed by a check that the turn which runs now is recorded once in each of some
// repositories, with what it has changed there, and that nothing is left there of who was killed.
func (l *lab) onceIn(c command, guests []*gittest.Repo) command {
	prompt := l.prompt
	c.then = func(l *lab, _ result) {
		l.family.Await() // housekeeping there, too
		for i, g := range guests {
			there := *l
			there.Repo, there.main, there.common = g, g, filepath.Join(g.Dir, ".git")
			there.traces()
			if wrong := there.fsck(); wrong != "" {
				l.find("git fsck of a visited repository", "%s", wrong)
			}
			var found []string
			for line := range strings.Lines(l.must(command{dir: g.Dir, args: []string{"git-agent-turn", "list", "--all", "--json"}}).stdout) {
				var t struct {
					Prompt string
					Paths  []string
				}
				gittest.Must(l.t, json.Unmarshal([]byte(line), &t))
				if t.Prompt == prompt {
					found = append(found, fmt.Sprint(t.Paths))
				}
			}
			if !slices.Equal(found, []string{"[file]"}) {
				l.find("a turn is not once where it acted", "%q is in repository %d with %q; its log: %s", prompt, i, found, there.log())
			}
		}
	}
	return c
}
