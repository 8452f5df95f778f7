package powers

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"gitagent/test/gittest"
)

// A member is a person with a home and a clone of the host in it.
type member struct {
	*world
	name  string
	trust []string // whose keys they trust

	had    map[int]bool // turns that were in their clone
	files  map[int]bool // of these, in whose state was the turn's file
	asks   bool         // they have purged something
	agreed bool         // they have said yes to what others asked
	purged []string     // secrets that they have purged
	clean  bool         // they have seen the host without these since
	told   int          // how often they had been told then that it had them again
}

// env is an environment in which programs start as cheaply as they can: there are thousands.
func (m *member) env() []string { return append(gittest.Env(m.home), "GOMAXPROCS=1", "GOGC=off") }

func (m *member) trusts(name string) bool { return name == m.name || slices.Contains(m.trust, name) }

// git runs a command, which may end as one does whose user has something to do.
func (o *order) git(m *member, stdin string, args ...string) string {
	o.t.Helper()
	if args[1] != "record" { // it would send in the background, whenever that is
		args = append([]string{"-c", "agent.../../host.push=all"}, args...)
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(m.home, "repo"), m.env(), strings.NewReader(stdin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it has no terminal
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		o.t.Fatal(err)
	}
	return o.ran(m, cmd.Args, cmd.ProcessState.ExitCode(), string(out))
}

// answers fetches on a terminal, on which the member says the same to all questions.
func (o *order) answers(m *member, answer string, args ...string) string {
	o.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "agent.../../host.push=all", "agent-turn", "fetch"}, args...)...)
	cmd.Dir, cmd.Env = filepath.Join(m.home, "repo"), append(m.env(), "TERM=xterm", "GIT_PAGER=cat")
	line := slices.Clone(cmd.Args)
	s := gittest.OnTerminal(o.t, cmd)
	s.Types(strings.Repeat(answer+"\n", 12) + "\x04")
	status, said := s.End()
	return o.ran(m, line, status, said)
}

// progress is what git says on a terminal while it fetches, and what was typed.
var progress = regexp.MustCompile(`^(remote:|Unpacking|From |\* \[new|warning: fetch normally|but that check|flag or run|yes$|no$|keep$)`)

// ran notes what a command has said, and complains of what is never right.
func (o *order) ran(m *member, line []string, status int, out string) string {
	o.t.Helper()
	o.log("%s: %s: %d", m.name, strings.Join(line, " "), status)
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); !progress.MatchString(line) {
			o.log("\t%s", line)
		}
	}
	o.said[m.name] += out
	if status != 0 && status != 1 && status != 3 || strings.Contains(out, "panic:") {
		o.t.Errorf("%s: %s: exit status %d\n%s", m.name, strings.Join(line, " "), status, out)
	}
	return out
}

var marker = regexp.MustCompile(`marker-(\d+)\.`)

// A place is where a turn is in a member's clone.
type place struct {
	n       int
	mission string
	number  int
	state   string
}

// places returns where turns are in a member's clone.
func (o *order) places(m *member) (all []place) {
	m.t.Helper()
	list := m.read("list", "--all", "--json")
	ids := strings.Fields(m.must("repo", "git", "for-each-ref", "--format=%(refname:lstrip=3)", "refs/agent/missions"))
	ids = slices.DeleteFunc(ids, func(id string) bool { return len(id) != 12 }) // sides, which are not in the list
	if o.archived {
		for line := range strings.Lines(m.read("missions", "--archived", "--json")) {
			var mission struct{ ID string }
			gittest.Must(m.t, json.Unmarshal([]byte(line), &mission))
			ids = append(ids, mission.ID)
		}
	}
	for _, id := range ids {
		list += m.read("list", "--mission", id, "--json")
	}
	for line := range strings.Lines(list) {
		var turn struct {
			Mission, Prompt, Code string
			Turn                  int
		}
		gittest.Must(m.t, json.Unmarshal([]byte(line), &turn))
		if found := marker.FindStringSubmatch(turn.Prompt); found != nil {
			n, _ := strconv.Atoi(found[1])
			all = append(all, place{n, turn.Mission, turn.Turn, turn.Code})
		}
	}
	return all
}

// read returns what a command says that finds nothing with status 3.
func (m *member) read(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("git", append([]string{"agent-turn"}, args...)...)
	cmd.Dir, cmd.Env = filepath.Join(m.home, "repo"), m.env()
	out, err := cmd.Output()
	if err != nil && cmd.ProcessState.ExitCode() != 3 {
		m.t.Errorf("%s: %s: %v", m.name, strings.Join(args, " "), err)
	}
	return string(out)
}

// list returns which turns a member's clone lists, and in whose state is the turn's file.
func (o *order) list(m *member) (listed, files map[int]bool) {
	m.t.Helper()
	listed, files = make(map[int]bool), make(map[int]bool)
	var states strings.Builder
	for _, p := range o.places(m) {
		listed[p.n] = true
		fmt.Fprintf(&states, "%s:f-%d\n", p.state, p.n)
	}
	if len(listed) == 0 {
		return listed, files
	}
	content := m.objects("repo", states.String())
	for n := range listed {
		files[n] = strings.Contains(content, contentOf(n))
	}
	return listed, files
}

// objects returns what git has by some names, or all that it has.
func (w *world) objects(dir, names string) string {
	w.t.Helper()
	args := []string{"cat-file", "--batch"}
	if names == "" {
		args = append(args, "--batch-all-objects", "--unordered")
	}
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env, cmd.Stdin = filepath.Join(w.home, dir), gittest.Env(w.home), strings.NewReader(names)
	out, err := cmd.Output()
	gittest.Must(w.t, err)
	return string(out)
}

// held returns which missions wait for a member's decision, and which they keep.
func (m *member) held() (waits, keeps []string) {
	m.t.Helper()
	names, err := filepath.Glob(filepath.Join(m.home, "repo/.git/agent/held/*"))
	gittest.Must(m.t, err)
	for _, name := range names {
		data, err := os.ReadFile(name)
		gittest.Must(m.t, err)
		var h struct{ Kept, Away bool }
		gittest.Must(m.t, json.Unmarshal(data, &h))
		if h.Kept {
			keeps = append(keeps, filepath.Base(name))
		} else if !h.Away {
			waits = append(waits, filepath.Base(name))
		}
	}
	return waits, keeps
}

// wasTold counts how often a member's log and commands have said something.
func (o *order) wasTold(m *member, what string) int {
	log, _ := os.ReadFile(filepath.Join(m.home, "repo/.git/agent/log")) // there may be none
	return strings.Count(string(log), what) + strings.Count(o.said[m.name], what)
}
