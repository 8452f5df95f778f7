//go:build e2e

package e2e

import (
	"bytes"
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
	"testing"
	"time"

	"gitagent/test/gittest"
)

// A finder is a command that lets a person choose a turn, in a terminal.
type finder struct {
	r    *rig
	term *terminal
}

// find opens the finder of `git agent-fork` in a terminal of that many columns.
func (r *rig) find(columns int, args ...string) *finder {
	r.t.Helper()
	return r.open(columns, 30, nil, "git agent-fork "+strings.Join(args, " "))
}

// open runs a command line in a terminal of that size, with more variables.
func (r *rig) open(columns, rows int, vars []string, line string) *finder {
	r.t.Helper()
	script := fmt.Sprintf("read -r go; %s; echo status $?", line)
	// A server of its own: the one before may still be ending.
	dir, err := os.MkdirTemp(r.tmp, "")
	gittest.Must(r.t, err)
	env := append(r.env(), "TMUX_TMPDIR="+dir)
	f := &finder{r: r, term: newTerminalOf(r.t, columns, rows, env, r.repo.Dir, append([]string{"env"}, append(vars, "sh", "-c", script)...)...)}
	f.term.keys("Enter")
	return f
}

func (f *finder) await(what string, ok func(screen string) bool) {
	f.r.t.Helper()
	defer func() {
		if f.r.t.Failed() {
			f.r.t.Logf("the screen:\n%s", f.term.screen())
		}
	}()
	f.r.await(what, func() bool { return ok(f.term.screen()) })
}

func (f *finder) shows(text string) {
	f.r.t.Helper()
	f.await("on the screen: "+text, func(screen string) bool { return strings.Contains(screen, text) })
}

// flat is the screen as one line without blanks, for text that the terminal has wrapped.
func (f *finder) flat() string { return strings.Join(strings.Fields(f.term.screen()), "") }

// made are the branches and worktrees of forks, and the session files.
func (r *rig) made() string {
	files, _ := filepath.Glob(filepath.Join(r.home, ".claude", "projects", "*", "*.jsonl"))
	return r.repo.Git("for-each-ref") + "\n" + r.repo.Git("worktree", "list") + "\n" + strings.Join(files, "\n")
}

func numbered(n int) []string {
	prompts := make([]string, n)
	for i := range prompts {
		prompts[i] = fmt.Sprintf("Prompt number %d of many", i+1)
	}
	return prompts
}

func TestFinder(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	prompts := numbered(30)
	prompts[6] = "Look for the needle" + strings.Repeat(" in the hay", 50) + ", and thread it."
	prompts[27] = "Own \x1b]0;owned\x07the \x1b[2J\x1b[31mterminal"
	prompts[28] = "日本語のテキスト 👩‍👩‍👧 wide"
	prompts[29] = "שלום עולם right to left"
	r.generate(prompts)

	f := r.find(120)
	f.shows("Prompt number 27")
	f.shows("3 files, +47 -12") // the preview comes after the list
	screen := f.term.screen()
	for _, want := range []string{"+47   -12", "src/main.c", "日本語のテキスト", "שלום עולם", "Reply 30.", "Bash, Edit 2", "3 files, +47 -12", "Enter: fork >"} {
		if !strings.Contains(screen, want) {
			t.Errorf("the screen lacks %q:\n%s", want, screen)
		}
	}
	if newest, older := strings.LastIndex(screen, "שלום"), strings.LastIndex(screen, "Prompt number 27"); newest < older {
		t.Errorf("the newest turn is not next to the prompt:\n%s", screen)
	}
	if got := f.term.tmux("display-message", "-p", "#{pane_title}"); strings.Contains(got, "owned") {
		t.Errorf("a prompt has set the terminal's title to %q", got)
	}
	f.term.text("needle")
	f.await("the one turn that matches, and its preview", func(screen string) bool {
		return !strings.Contains(screen, "Prompt number") && strings.Contains(f.flat(), "threadit.")
	})
	if got := f.term.screen(); !strings.Contains(got, "Reply 7.") {
		t.Errorf("the preview lacks the reply:\n%s", got)
	}
	f.term.keys("Enter")
	f.shows("status 0")
	var about struct {
		ForkedFrom struct {
			Mission string
			Turn    int
		} `json:"forked_from"`
	}
	var forked string
	for ref := range strings.Lines(r.repo.Git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/agent/missions")) {
		if ref = strings.TrimSpace(ref); ref != generated {
			forked = ref
		}
	}
	if err := json.Unmarshal([]byte(r.show(forked, "mission.json")), &about); err != nil || about.ForkedFrom.Mission != generated || about.ForkedFrom.Turn != 7 {
		t.Errorf("the fork is %+v (%v), want one of turn 7", about, err)
	}
	if got := f.flat(); !strings.Contains(got, "repo-"+forked+"&&claude--resume") {
		t.Errorf("the command to go on with is not shown:\n%s", f.term.screen())
	}

	// Esc: nothing was made.
	before := r.made()
	f = r.find(120, "--mission", generated)
	f.shows("Prompt number 27")
	f.term.keys("Escape")
	f.shows("status 1")
	f.shows("no turn was chosen")
	if got := r.made(); got != before {
		t.Errorf("Esc has left\n%s\nthere was\n%s", got, before)
	}

	// A signal leaves the terminal as it was.
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP} {
		pid := filepath.Join(t.TempDir(), "pid")
		f = r.open(120, 30, nil, fmt.Sprintf("sh -c 'echo $$ >%s; exec git-agent-fork --mission %s'; stty -a", pid, generated))
		f.shows("Prompt number 27")
		text, err := os.ReadFile(pid)
		gittest.Must(t, err)
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		gittest.Must(t, err)
		gittest.Must(t, syscall.Kill(n, signal))
		f.shows("status 0") // stty's
		if got := f.term.screen(); !strings.Contains(got, " icanon ") || !strings.Contains(got, " echo ") {
			t.Errorf("after %v the terminal is as the finder has it:\n%s", signal, got)
		}
	}

	// In a narrow terminal, across missions, by words of another script.
	f = r.find(40, "--all", "--no-worktree")
	f.shows(generated + "/30")
	f.term.text("שלום")
	f.await("the one turn that matches", func(screen string) bool {
		return strings.Contains(screen, generated+"/30") && !strings.Contains(screen, generated+"/29")
	})
	for range 2 {
		f.term.keys("BSpace")
	}
	f.term.keys("Enter")
	f.shows("Enter: fork") // a page with the turn
	f.term.keys("Enter")
	f.shows("status 0")
	if got := strings.Count(r.made(), "refs/agent/missions/"); got != strings.Count(before, "refs/agent/missions/")+1 {
		t.Errorf("choosing made\n%s\nthere was\n%s", r.made(), before)
	}
	if bytes.ContainsAny([]byte(f.term.screen()), "\x1b") {
		t.Error("an escape sequence is on the screen")
	}
}

// The finder is on the screen before it has read all the turns.
func TestFinderOfManyTurns(t *testing.T) {
	gittest.Nightly(t)
	r := newBareRig(t)
	prompts := numbered(10_000)
	prompts[0] = "The oldest: a zebra"
	r.generate(prompts)
	var paints []time.Duration
	for range 5 {
		f := r.find(120)
		began := time.Now()
		f.shows("number 10000")
		paints = append(paints, time.Since(began))
		f.term.text("zebra")
		f.shows("Reply 1.")
		f.term.keys("Escape")
		f.shows("status 1")
	}
	slices.Sort(paints)
	t.Logf("first paint over 10,000 turns, as seen through tmux, from the shell's start of git: %v", paints)
}

func TestFinderWithoutTerminal(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	r.generate(numbered(3))
	before := r.made()
	for _, tt := range []struct {
		name string
		vars []string
		attr *syscall.SysProcAttr
	}{
		{"no controlling terminal", nil, &syscall.SysProcAttr{Setsid: true}},
		{"TERM=dumb", []string{"TERM=dumb"}, nil},
		{"no TERM", []string{"TERM="}, nil},
	} {
		cmd := exec.Command("git", "agent-fork")
		cmd.Dir, cmd.Env, cmd.SysProcAttr = r.repo.Dir, append(r.env(), tt.vars...), tt.attr
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		err := cmd.Run()
		if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 2 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "name the turn: git agent-fork <turn>") {
			t.Errorf("%s: %v, %q, %q, want exit status 2 and how to name a turn", tt.name, err, &stdout, &stderr)
		}
	}
	if got := r.made(); got != before {
		t.Errorf("there is more than before:\n%s", got)
	}
}

// Of turns that match equally the newest is next to the prompt, whether anything is typed or not.
func TestFinderOrder(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	gittest.EachTmux(t, func(t *testing.T, tmux string) {
		r := newBareRig(t)
		r.vars = append(r.vars, "PATH="+filepath.Dir(tmux)+string(filepath.ListSeparator)+os.Getenv("PATH"))
		r.generate(slices.Repeat([]string{"The same prompt"}, 12))
		for _, tt := range []struct {
			columns int
			keys    []string
			turn    int
		}{
			{120, []string{"Enter"}, 12},
			{120, []string{"s", "Enter"}, 12},
			{120, []string{"s", "a", "m", "e", "Enter"}, 12},
			{120, []string{"s", "Up", "Enter"}, 11},
			{120, []string{"s", "BSpace", "Up", "Up", "Enter"}, 10},
			{20, []string{"s", "Enter", "Enter"}, 12}, // by the turn's page
		} {
			f := r.open(tt.columns, 20, nil, "git agent-fork --choose show")
			f.shows("12/12")
			if tt.columns < 100 {
				f.shows("The same pr") // a prompt, in 20 columns
				f.term.keys("x")
				f.shows("> x")
				f.term.keys("BSpace")
			}
			f.term.keys(tt.keys...)
			f.shows("status 0")
			f.shows(fmt.Sprintf("%s/%d\n", generated, tt.turn))
		}
	})
}

// A terminal of which nobody has a description is taken for one like xterm, and where nothing can be drawn this is said.
func TestFinderTerm(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	r.generate(numbered(3))
	for _, tt := range []struct{ term, shows string }{
		{"xterm-256color", ""},
		{"tmux-256color", ""},
		{"screen", ""},
		{"linux", ""},
		{"vt100", ""},
		{"alacritty", ""},
		{"foot", ""},
		{"wezterm", ""},
		{"contour", ""},
		{"ms-terminal", ""},
		{"xterm-ghostty", ""},
		{"unknown", "choosing a turn needs a terminal"},
		{"dumb", "choosing a turn needs a terminal"},
	} {
		for _, columns := range []int{80, 120} {
			f := r.open(columns, 30, []string{"TERM=" + tt.term}, "git agent-turn show --no-pager -i")
			if tt.shows != "" {
				f.shows("status 2")
				f.shows(tt.shows)
				continue
			}
			f.shows("Prompt number 3")
			f.term.keys("Up", "Enter")
			if columns < 100 {
				f.shows("Enter: show")
				f.term.keys("Enter")
			}
			f.shows("status 0")
			f.shows("Reply 2.")
		}
	}
}

// The finder is readable on dark and on light backgrounds: it uses the terminal's own two colours, in
// reverse for the cursor, and of the others none that is hard to see on either.
func TestFinderLook(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	prompts := numbered(60)
	prompts[58] = strings.Repeat("A prompt that is long. ", 30) + "Its-end."
	r.generate(prompts)
	styles := regexp.MustCompile("\x1b\\[([0-9;]*)m")
	for _, tt := range []struct {
		name          string
		columns, rows int
		vars          []string
		plain         bool
	}{
		{"80x24", 80, 24, nil, false},
		{"200x50", 200, 50, nil, false},
		{"all colours", 120, 30, []string{"COLORTERM=truecolor"}, false},
		{"tmux", 120, 30, []string{"TERM=tmux-256color"}, false},
		{"screen", 80, 24, []string{"TERM=screen"}, false},
		{"linux", 120, 30, []string{"TERM=linux"}, false},
		{"without colours", 120, 30, []string{"NO_COLOR=1"}, true},
		{"vt100", 120, 30, []string{"TERM=vt100"}, true},
	} {
		f := r.open(tt.columns, tt.rows, tt.vars, "git agent-turn show --no-pager -i")
		f.shows("number 60")
		check := func(where string) {
			screen, err := f.term.try("capture-pane", "-e", "-p")
			gittest.Must(t, err)
			for _, m := range styles.FindAllStringSubmatch(screen, -1) {
				for style := range strings.SplitSeq(m[1], ";") {
					allowed := []string{"", "0", "1", "2", "4", "7", "39", "49"}
					if !tt.plain {
						allowed = append(allowed, "31", "32", "36")
					}
					if !slices.Contains(allowed, style) {
						t.Errorf("%s: %s has the style %q:\n%q", tt.name, where, m[1], screen)
						return
					}
				}
			}
			if !strings.Contains(screen, ";7m") && !strings.Contains(screen, "[7m") && !strings.Contains(screen, "[1m") {
				t.Errorf("%s: nothing stands out in %s:\n%q", tt.name, where, screen)
			}
		}
		check("the list")
		f.term.text("Number 59")
		f.await("nothing that matches", func(screen string) bool { return strings.Contains(screen, "0/60") })
		f.term.keys("C-u")
		f.term.text("long")
		f.await("the one turn that matches", func(screen string) bool { return strings.Contains(screen, "1/60") })
		check("a list that was searched")
		if tt.columns < 100 {
			f.term.keys("Enter")
			f.shows("Enter: show")
			check("the page")
			f.term.keys("Escape")
			f.await("the one turn that matches, again", func(screen string) bool { return strings.Contains(screen, "1/60") })
			f.term.keys("Enter")
			f.shows("Enter: show")
			f.term.keys("End")
			f.shows("three.txt")
		} else {
			f.shows("Its-end.")
			f.shows("Reply 59.")
		}
		f.term.keys("Enter")
		f.shows("status 0")
		f.shows("    Reply 59.")
	}
}

// Commands that work on a turn let a person choose it, and do nothing if none was chosen.
func TestChoosing(t *testing.T) {
	t.Parallel()
	gittest.Nightly(t)
	r := newBareRig(t)
	r.generate(numbered(12))
	for _, tt := range []struct{ line, verb, key, status, shows string }{
		{"git agent-turn show --no-pager -i", "show", "Enter", "status 0", "turn " + generated + "/12"},
		{"git agent-turn diff --no-pager --interactive --stat | cat", "diff", "Enter", "status 0", ""},
		{"git agent-turn restore -i --dry-run", "restore", "Enter", "status 0", ""},
		{"git agent-turn restore -i", "restore", "Escape", "status 1", "no turn was chosen"},
		{"git agent-turn show -i", "show", "C-c", "status 1", "no turn was chosen"},
		{"git agent-turn show -i 3", "", "", "status 2", "name none"},
		{"TERM=dumb git agent-turn show -i", "", "", "status 2", "choosing a turn needs a terminal"},
	} {
		before := r.made()
		f := r.open(200, 50, nil, tt.line)
		if tt.verb != "" {
			f.shows("Enter: " + tt.verb + " >")
			f.shows("number 12")
		}
		if tt.key != "" {
			f.term.keys(tt.key)
		}
		f.shows(tt.status)
		f.shows(tt.shows)
		if got := r.made(); tt.key != "Enter" && got != before {
			t.Errorf("%s: there is now\n%s\nthere was\n%s", tt.line, got, before)
		}
	}
	// Among what a search finds no more are shown than were asked for.
	f := r.open(200, 50, nil, "git agent-turn search -i -n 2 number")
	f.shows("2/2")
	f.term.keys("Escape")
	f.shows("no turn was chosen")
	// Names on standard input are chosen among.
	f = r.open(200, 50, nil, "printf '%s\\n' "+generated+"/3 "+generated+"/5 | git agent-fork --choose show --among")
	f.shows("2/2")
	f.term.keys("Up")
	f.await("the second", func(string) bool {
		return strings.Contains(f.term.screen(), ">  "+generated+"/5") || strings.Contains(f.term.screen(), "> "+generated+"/5")
	})
	f.term.keys("Enter")
	f.shows("status 0")
	f.shows(generated + "/5")
}
