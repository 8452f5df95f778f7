//go:build e2e

package e2e

import (
	"crypto/rand"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

var update = flag.Bool("update", false, "write the screens of the tours to testdata")

// A stop is one screen of the tour.
type stop struct {
	name  string
	line  string   // what is typed at the shell's prompt; empty to stay where the stop before ended
	press []string // then these keys, by their names in tmux
	until string   // what the finder then shows; if empty, the shell's prompt or the pager's is awaited
	once  bool     // it changes something, so it is done only once
}

// What the last line of the screen is when a command has ended, or a page.
var (
	idle  = regexp.MustCompile(`(^|\n)\$$`)
	paged = regexp.MustCompile(`\n(:|\(END\))$`)
	bare  = regexp.MustCompile(`^\$$`)
)

// arrival is what one sees before anything was recorded, and first in a repository.
var arrival = []stop{
	{name: "alone", line: "git agent-turn"},
	{name: "nothing-to-list", line: "git agent-turn list"},
	{name: "init", line: "git agent-turn init", once: true},
	{name: "init-again", line: "git agent-turn init", once: true},
	{name: "no-missions", line: "git agent-turn missions", once: true},
}

// before is how one takes in what the client did before recording was on.
var before = []stop{
	{name: "importable", line: "git agent-turn"},
	{name: "import-dry-run", line: "git agent-turn import --dry-run"},
	{name: "import", line: "git agent-turn import", once: true},
	{name: "import-again", line: "git agent-turn import", once: true},
}

// meanwhile is what one sees while the fifth turn runs.
var meanwhile = []stop{
	{name: "running", line: "git agent-turn"},
	{name: "list-running", line: "git agent-turn list"},
	{name: "missions-running", line: "git agent-turn missions"},
}

// daily is what one does every day, after a session of five turns and a fork.
var daily = []stop{
	{name: "now", line: "git agent-turn"},
	{name: "list", line: "git agent-turn list"},
	{name: "list-grep", line: "git agent-turn list --grep greet -- greet.sh"},
	{name: "list-all", line: "git agent-turn list --all"},
	{name: "missions", line: "git agent-turn missions"},
	{name: "tree", line: "git agent-turn missions --tree"},
	{name: "show", line: "git agent-turn show 1"},
	{name: "show-patch", line: "git agent-turn show -p 4"},
	{name: "show-range", line: "git agent-turn show 1..4"},
	{name: "conversation", line: "git agent-turn show --conversation 2..5"},
	{name: "conversation-end", press: []string{"G"}, until: `\(END\)`},
	{name: "conversation-full", line: "git agent-turn show --conversation --full 4"},
	{name: "search", line: "git agent-turn search hello"},
	{name: "search-words", line: "git agent-turn search --in prompt several yes"},
	{name: "search-nothing", line: "git agent-turn search no such words"},
	{name: "search-finder", line: "git agent-turn search -i name", until: "4/4"},
	{press: []string{"Escape"}},
	{name: "diff-stat", line: "git agent-turn diff --stat 1^..5"},
	{name: "finder", line: "git agent-turn show -i", until: "5/5"},
	{name: "finder-word", press: []string{"s", "l", "o", "w"}, until: "1/5"},
	{press: []string{"Escape"}},
	{name: "handoffs", line: "git agent-handoff list"},
	{name: "doctor", line: "git agent-turn doctor"},
	{name: "no-such-turn", line: "git agent-turn show 99"},
	{name: "restore", line: "git agent-turn restore 2^ -- greet.sh", once: true},
	{name: "undo", line: "git agent-turn undo", once: true},
	{name: "redo", line: "git agent-turn undo", once: true},
	{name: "undo-redo", line: "git agent-turn undo", once: true},
	{name: "revert-conflict", line: "git agent-turn revert 1", once: true},
	{name: "revert", line: "git agent-turn revert 4", once: true},
	{name: "states", line: "git agent-turn list --states", once: true},
	{name: "undo-revert", line: "git agent-turn undo", once: true},
}

// TestTour shows the commands to a person who sees them in a terminal, small and large, dark and light.
// The screens are in testdata/tour; with -update they are written there.
func TestTour(t *testing.T) {
	gittest.Nightly(t)
	for _, size := range []struct{ columns, lines int }{{80, 24}, {200, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size.columns, size.lines), func(t *testing.T) {
			t.Parallel()
			r := newRigIn(t, shortRepo(t))
			// An age is one column wider after ten seconds, and a date is not.
			r.repo.Git("config", "--global", "log.date", "format:%H:%M")
			light, dark := r.tour(size.columns, size.lines, "0;15"), r.tour(size.columns, size.lines, "15;0")
			light.visit(arrival, false)
			dark.visit(arrival, true)
			r.vars = []string{"GIT_AGENT_DISABLE=1"} // what the client did before the hooks came
			r.mock.play(on("Which", say("It is in C, and does nothing yet.")))
			r.claude(r.repo.Dir, "Which language is this written in?").ok()
			r.vars = nil
			light.visit(before, false)
			dark.visit(before, true)
			gate := r.gate("slow")
			r.mock.play(
				on("Greet", write("greet.sh", "#!/bin/sh\necho \"hello, $1\"\n"), bash("chmod +x greet.sh && ./greet.sh world"),
					say("`greet.sh` greets whoever is named:\n\n- it takes **one** argument\n- it prints `hello, world`\n\nShall it greet several?")),
				on("Yes", write("greet.sh", "#!/bin/sh\nfor name; do\n\techo \"hello, $name\"\ndone\n"), bash("./greet.sh one two; false"), say("It greets all of them now.")),
				on("Why", say("It starts a shell for every name.\n\n```sh\nfor name; do echo \"hello, $name\"; done\n```\n\nThat is *slow* for a million names.")),
				on("Document", write("README.md", "# Greetings\n\n    ./greet.sh <name>...\n"), write("docs/names.md", strings.Repeat("A name.\n", 30)), say("README.md and docs/names.md say how.")),
				on("Thanks", bash(gate.wait()), say("You're welcome.")),
			)
			s := r.interactive(r.repo.Dir)
			s.prompt("Greet whoever is named on the command line, in a script.")
			s.prompt("Yes, several.")
			s.prompt("Why is it so slow with very many names? Don't change anything, just tell me what you think of it.")
			s.prompt("Document it: 日本語 and all.")
			s.enter("Thanks!")
			gate.reached()
			light.visit(meanwhile, false)
			dark.visit(meanwhile, true)
			gate.open()
			s.stopped(5, "Thanks!")
			s.exit()
			fork := exec.Command("git", "agent-fork", "2", "--no-worktree", "--title", "Another greeting")
			fork.Dir, fork.Env = r.repo.Dir, r.env()
			if out, err := fork.CombinedOutput(); err != nil {
				t.Fatalf("fork: %v\n%s", err, out)
			}
			light.visit(daily, false)
			dark.visit(daily, true)
		})
	}
}

// shortRepo makes a repository in a home directory whose name has always the same length, because
// lines are wrapped and cut where a path is in them.
func shortRepo(t *testing.T) *gittest.Repo {
	t.Helper()
	var b [4]byte
	rand.Read(b[:])
	const length = len("/xxx/tour-01234567")
	name := fmt.Sprintf("tour-%x", b)
	n := length - len(os.TempDir()) - 1
	if n < 8 || n > len(name) {
		t.Skipf("TMPDIR is too long or too short for a home directory with a name of %d bytes", length)
	}
	home := filepath.Join(os.TempDir(), name[len(name)-n:])
	gittest.Must(t, os.Mkdir(home, 0o700))
	t.Cleanup(func() { os.RemoveAll(home) })
	repo := gittest.New(t).In(filepath.Join(home, "repo"))
	repo.Env = gittest.Env(home)
	gittest.Must(t, os.Mkdir(repo.Dir, 0o777))
	repo.Git("init", "-q", "-b", "main")
	return repo
}

// A tour is a shell in a terminal of one size and background.
type tour struct {
	r      *rig
	term   *terminal
	dir    string // below testdata
	size   string
	light  bool
	number int // of the stop
}

// tour opens a shell; colours says what the terminal's are, as COLORFGBG does.
func (r *rig) tour(columns, lines int, colours string) *tour {
	r.t.Helper()
	dir, err := os.MkdirTemp(r.tmp, "")
	gittest.Must(r.t, err)
	env := append(r.env(), "TMUX_TMPDIR="+dir, "PS1=$ ", "COLORFGBG="+colours, "HISTFILE=")
	v := &tour{r: r, dir: "tour", size: fmt.Sprintf("%dx%d", columns, lines), light: colours == "0;15"}
	v.term = newTerminalOf(r.t, columns, lines, env, r.repo.Dir, "bash", "--norc", "--noprofile", "-i")
	if v.light {
		v.term.tmux("set-option", "-g", "window-style", "fg=black,bg=white")
	}
	return v
}

// visit makes the stops, and those that change something only if all.
func (v *tour) visit(stops []stop, all bool) {
	v.r.t.Helper()
	for _, s := range stops {
		if s.name != "" {
			v.number++
		}
		if s.once && !all || s.line == "" && idle.MatchString(v.screen()) { // or all was on one page
			continue
		}
		if s.line != "" {
			if paged.MatchString(v.screen()) {
				v.term.keys("q")
				v.until("the pager's end", idle)
			}
			v.term.keys("C-l")
			v.until("a clear screen", bare)
			v.term.text(s.line)
			v.until("what was typed", regexp.MustCompile(regexp.QuoteMeta(s.line)+"$"))
			v.term.keys("Enter")
		}
		if len(s.press) > 0 {
			v.term.keys(s.press...)
		}
		there := regexp.MustCompile(idle.String() + "|" + paged.String())
		if s.until != "" {
			there = regexp.MustCompile(s.until)
		}
		screen := v.until(s.name, there)
		if s.name == "" {
			continue
		}
		v.compare(s.name, screen)
		v.colours(s.name)
	}
}

// until waits until that is on the screen, and the screen is at rest.
func (v *tour) until(what string, found *regexp.Regexp) string {
	v.r.t.Helper()
	last := ""
	defer func() {
		if v.r.t.Failed() {
			v.r.t.Logf("the screen:\n%s", v.term.screen())
		}
	}()
	v.r.await(what+": "+found.String(), func() bool {
		screen := v.screen()
		rests := screen == last
		last = screen
		return rests && found.MatchString(screen)
	})
	return last
}

// screen is what is on the screen, without the empty rest of it.
func (v *tour) screen() string { return strings.TrimRight(v.term.screen(), "\n ") }

// compare compares a screen with the one of the same stop that is kept.
func (v *tour) compare(name, screen string) {
	v.r.t.Helper()
	file := filepath.Join("testdata", v.dir, v.size, fmt.Sprintf("%02d-%s.txt", v.number, name))
	got := v.normal(screen)
	if *update {
		gittest.Must(v.r.t, os.MkdirAll(filepath.Dir(file), 0o777))
		gittest.Must(v.r.t, os.WriteFile(file, []byte(got), 0o666))
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		v.r.t.Error(err)
	} else if got != string(want) {
		v.r.t.Errorf("%s: the screen is\n%s\nand was\n%s", file, got, want)
	}
}

var (
	hex    = regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b[0-9a-f]{7,64}\b|\b[0-9a-f]{4}/`)
	digits = regexp.MustCompile(`[0-9a-f]+`)
	cut    = regexp.MustCompile(`(turn |mission/)[0-9a-f]{1,8}…`)
	clock  = regexp.MustCompile(`\b\d\d:\d\d\b(:\d\d\b)?`)
	age    = regexp.MustCompile(`\b\d+[smh] ago\b|less than a minute ago`)
	day    = regexp.MustCompile(`\b[MTWFS][a-z]{2}, \d{1,2} [A-Z][a-z]{2} \d{4} `)
	aged   = regexp.MustCompile(` +(\d+m)?\d+[sm] `)
	took   = regexp.MustCompile(`\b(\d+m)?\d+(\.\d+)?m?s$`)
	build  = regexp.MustCompile(`\b(v?\d+\.\d+\.\d+|devel)[-+.\w]*`)
	size   = regexp.MustCompile(`\b\d+(\.\d)?( ?)(bytes|kB|MB|GB|KiB|MiB|GiB)\b`)
)

// sha1 has what SHA-1 makes of what depends on the format: the lines of 6 refs have 24 bytes less each.
var sha1 = strings.NewReplacer("objects in the format sha256", "objects in the format sha1", "587 B of each push", "443 B of each push")

// normal is a screen without what differs from run to run, or between the formats of objects. Everything keeps its
// width, but a hash of SHA-256, which has that of SHA-1.
func (v *tour) normal(screen string) string {
	names := map[string]rune{}
	screen = strings.ReplaceAll(screen, v.r.home, "/home/dev"+strings.Repeat("-", len(v.r.home)-len("/home/dev")))
	screen = hex.ReplaceAllStringFunc(screen, func(s string) string {
		return digits.ReplaceAllStringFunc(s, func(d string) string {
			key := s[:4]      // the beginning of a hash has the same name as all of it
			if len(s) == 12 { // two states that are saved in one second may be one commit
				return "ssssssssssss"
			}
			if names[key] == 0 {
				names[key] = 'a' + rune(len(names)%26)
			}
			n := len(d)
			if n == 64 { // the screens are those of SHA-1
				n = 40
			}
			return strings.Repeat(string(names[key]), n)
		})
	})
	screen = cut.ReplaceAllStringFunc(screen, func(s string) string {
		i := strings.IndexAny(s, " /") + 1
		return s[:i] + strings.Repeat("z", len(s)-len("…")-i) + "…"
	})
	screen = clock.ReplaceAllStringFunc(screen, func(s string) string { return "12:34:56"[:len(s)] })
	screen = sha1.Replace(screen)
	screen = day.ReplaceAllString(screen, "Sun, 22 Nov 2026 ")
	screen = age.ReplaceAllString(screen, "a while ago")
	screen = aged.ReplaceAllStringFunc(screen, func(s string) string { return strings.Repeat(" ", len(s)-3) + "1s " })
	screen = build.ReplaceAllString(screen, "1.2.3")
	screen = size.ReplaceAllString(screen, "1${2}${3}")
	var lines []string
	for line := range strings.Lines(screen) {
		lines = append(lines, took.ReplaceAllString(strings.TrimRight(line, " \n"), "1s"))
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// TestTourNormal shows that missions of any id make one screen; some have no digit that is not a letter.
func TestTourNormal(t *testing.T) {
	v := &tour{r: &rig{home: "/home/dev/repo"}}
	for _, ids := range [][2]string{{"1a2b3c4d", "5e6f7081"}, {"aeaebcde", "bcd12345"}, {"abcdefab", "12345678"}} {
		screen := fmt.Sprintf("%s  title\n%s  %s/2  another\n", ids[0], ids[1], ids[0][:4])
		if got, want := v.normal(screen), "aaaaaaaa  title\nbbbbbbbb  aaaa/2  another\n"; got != want {
			t.Errorf("%q is normally %q, want %q", screen, got, want)
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[([0-9;]*)m")

// unreadable are the colours, of the sixteen that a terminal's user chooses, that can't be seen on
// a light background, and on a dark one.
var unreadable = map[bool][]string{
	true:  {"37", "97", "93", "96", "92"},
	false: {"30"},
}

// colours checks that nothing on the screen is in a colour that can't be read there.
func (v *tour) colours(name string) {
	v.r.t.Helper()
	out, err := v.term.try("capture-pane", "-e", "-p")
	gittest.Must(v.r.t, err)
	fg, bg := "", ""
	rest := out
	for {
		at := sgr.FindStringSubmatchIndex(rest)
		text := rest
		if at != nil {
			text = rest[:at[0]]
		}
		if strings.TrimSpace(text) != "" && v.bad(fg, bg) {
			v.r.t.Errorf("%s, light %t: %q is in colour %q on %q", name, v.light, text, fg, bg)
		}
		if at == nil {
			return
		}
		fg, bg = paint(rest[at[2]:at[3]], fg, bg)
		rest = rest[at[1]:]
	}
}

func (v *tour) bad(fg, bg string) bool {
	if bg != "" {
		return fg != "" && fg == strings.Replace(bg, "4", "3", 1)
	}
	for _, c := range unreadable[v.light] {
		if fg == c {
			return true
		}
	}
	return false
}

// paint is what foreground and background are after a sequence.
func paint(codes, fg, bg string) (string, string) {
	list := strings.Split(codes, ";")
	for i := 0; i < len(list); i++ {
		switch c := list[i]; {
		case c == "" || c == "0":
			fg, bg = "", ""
		case c == "39":
			fg = ""
		case c == "49":
			bg = ""
		case c == "38" || c == "48":
			n := min(len(list), i+3)
			if i+1 < len(list) && list[i+1] == "2" {
				n = min(len(list), i+5)
			}
			if value := strings.Join(list[i:n], ";"); c == "38" {
				fg = value
			} else {
				bg = value
			}
			i = n - 1
		case len(c) == 2 && (c[0] == '3' || c[0] == '9'):
			fg = c
		case len(c) == 2 && c[0] == '4' || len(c) == 3 && strings.HasPrefix(c, "10"):
			bg = c
		}
	}
	return fg, bg
}
