//go:build e2e

package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/journal"
	"gitagent/test/gittest"
)

// Two sessions and a person work in one checkout at the same time: with editing tools, sed, a formatter that names no file,
// mv, rm, a command that takes its time. Every line begins with who wrote it, or who takes it away, and in which turn. What
// the commands say of a turn has none of anybody else's.
func TestBeside(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.person()
	p.begin(map[string]string{
		"both.txt":     lines("base", 20),
		"a.txt":        lines("base", 5) + "A1 goes\n" + lines("more", 5),
		"b.txt":        lines("base", 5),
		"old.txt":      lines("B1 moved", 6),
		"unwanted.txt": lines("A1 unwanted", 6),
		"code.txt":     "base\nB1 formatted \nbase\nB1 formatted, too \n",
		"log.txt":      lines("base", 5),
		"notes.txt":    "base\n",
		"format.sh":    "for f in code.t*; do sed -i 's/ *$//' $f; done\n",
	})
	early, long, ready, late, more, further := r.gate("early"), r.gate("long"), r.gate("ready"), r.gate("late"), r.gate("more"), r.gate("further")
	read := func(path string) reply {
		return reply{"tool": "Read", "input": map[string]any{"file_path": "${CWD}/" + path}}
	}
	edit := func(path, old, text string) reply {
		return reply{"tool": "Edit", "input": map[string]any{"file_path": "${CWD}/" + path, "old_string": old + "\n", "new_string": text + "\n"}}
	}
	r.mock.play(
		on("TA1", read("both.txt"), edit("both.txt", "base 02", "base 02\nA1 edit\nA1 edit, too"), write("a-new.txt", lines("A1 new", 3)), bash(early.wait()),
			bash(long.wait()+"; sed -i -e '/A1 goes/d' -e '2a A1 sed' a.txt"), bash("rm unwanted.txt"), say("A1 done")),
		on("TB1", write("b-new.txt", lines("B1 new", 4)), bash(ready.wait()), bash("sed -i '3a B1 sed' b.txt"),
			read("both.txt"), edit("both.txt", "base 15", "base 15\nB1 edit"), bash("mv old.txt moved.txt"), bash("sh format.sh"), bash(late.wait()), say("B1 done")),
		on("TA2", bash(more.wait()+"; echo 'A2 log' >> log.txt"), write("a2.txt", lines("A2 new", 3)),
			bash("sleep 1; echo 'A2 log after a second' >> log.txt"), read("a.txt"), edit("a.txt", "more 03", "more 03\nA2 edit"), say("A2 done")),
		on("TB2", bash(further.wait()+"; echo 'B2 made' > made.txt"), write("b2.txt", lines("B2 new", 3)), bash("echo 'B2 other' > other.txt"),
			bash("sleep 1; echo 'B2 made after a second' >> made.txt"), bash("sed -i '$a B2 sed' b.txt"), say("B2 done")),
	)
	a, b := r.driven(), r.driven()
	a.ask("TA1 hello")
	early.reached()
	b.ask("TB1 hello")
	ready.reached()
	p.appends("both.txt")
	p.appends("a.txt")
	early.open()
	long.reached()
	r.rested()
	ready.open()
	late.reached()
	p.appends("notes.txt")
	p.appends("both.txt")
	long.open()
	r.stops(1)
	late.open()
	r.stops(2)
	a.ask("TA2 hello")
	b.ask("TB2 hello")
	more.reached()
	further.reached()
	p.appends("notes.txt")
	p.appends("both.txt")
	r.rested()
	more.open()
	further.open()
	r.stops(4)
	a.leave()
	b.leave()
	for _, d := range []*driven{a, b} {
		if heard := d.heard(""); strings.Count(heard, "git-agent: beside this session, Claude Code (mission ") != 1 {
			t.Errorf("a user was told\n%s", heard)
		}
	}
	who := map[string]string{a.session(): "A", b.session(): "B"}
	r.owned(who)
}

func lines(what string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%s %02d\n", what, i+1)
	}
	return b.String()
}

// A person works in the rig's repository beside its agents, with an editor.
type person struct {
	r     *rig
	saved int
}

func (r *rig) person() *person { return &person{r: r} }

// begin commits files.
func (p *person) begin(files map[string]string) {
	p.r.t.Helper()
	for path, content := range files {
		p.r.repo.Write(path, content)
	}
	p.r.repo.Commit("files")
}

// appends adds a line to a file. A person is slower than programs, which change several files in a moment.
func (p *person) appends(path string) {
	p.r.t.Helper()
	pause := func() {
		since := time.Now()
		p.r.await("a person", func() bool { return time.Since(since) > 200*time.Millisecond })
	}
	pause()
	p.saved++
	f, err := os.OpenFile(filepath.Join(p.r.repo.Dir, path), os.O_APPEND|os.O_WRONLY, 0)
	if err == nil {
		_, err = fmt.Fprintf(f, "P by hand %02d\n", p.saved)
	}
	gittest.Must(p.r.t, err)
	f.Close()
	pause()
}

// A driven is the client, without a terminal, that a program gives prompts one after the other.
type driven struct {
	*headless
	prompts io.WriteCloser
}

func (r *rig) driven() *driven {
	r.t.Helper()
	h, prompts := r.stream(r.repo.Dir)
	return &driven{h, prompts}
}

// ask gives it a prompt.
func (d *driven) ask(prompt string) {
	d.r.t.Helper()
	line := map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}}
	gittest.Must(d.r.t, json.NewEncoder(d.prompts).Encode(line))
}

// leave ends it.
func (d *driven) leave() {
	d.r.t.Helper()
	d.prompts.Close()
	d.wait()
	d.ok()
}

// heard is what hooks of an event told its user; of all events if it is "".
func (h *headless) heard(event string) string {
	var b strings.Builder
	for _, x := range h.hooks {
		var answer struct {
			SystemMessage string `json:"systemMessage"`
		}
		if json.Unmarshal([]byte(x.Stdout), &answer) == nil && (event == "" || x.Event == event) {
			fmt.Fprintln(&b, answer.SystemMessage)
		}
	}
	return b.String()
}

// rested waits until the next command that may write anything has the whole worktree looked at: after such a look there is a
// pause of 20 times what it took, and what a person saves and an agent then changes in one file is told apart by a state in between.
func (r *rig) rested() {
	r.t.Helper()
	repo, err := git.Find(r.repo.Dir)
	gittest.Must(r.t, err)
	r.await("the end of the pause after a look", func() bool {
		entries, err := journal.Read(repo)
		gittest.Must(r.t, err)
		return !slices.ContainsFunc(entries, func(e *journal.Entry) bool { return e.At+20*e.Cost > time.Now().UnixMilli() })
	})
}

// stops waits until as many turns have ended.
func (r *rig) stops(n int) {
	r.t.Helper()
	r.await(fmt.Sprintf("Stop %d", n), func() bool { return len(r.witness.named("Stop")) == n })
}

// owned fails the test if a command says of a turn of a session what is not its own: who are the letters with which the
// lines of each session begin, before the number of the turn. It reports which share of the lines is surely their turn's.
func (r *rig) owned(who map[string]string) {
	r.t.Helper()
	wrote := make(map[string]string) // the turn of a line's first word
	journal := r.repo.Read(".git/agent/steps")
	defer func() {
		if r.t.Failed() {
			r.t.Log(journal)
		}
	}()
	surely, all := 0, 0
	for _, turn := range r.list() {
		name, tag := fmt.Sprintf("%s/%d", turn.Mission, turn.Turn), fmt.Sprintf("%s%d", who[turn.Session], turn.Turn)
		wrote[tag] = name
		own := changedLines(r.command(r.repo.Dir, "diff", "-U0", name))
		r.only(tag, "diff "+name, own)
		whole := changedLines(r.repo.Git("diff", "-U0", "-M", turn.Base, turn.Code))
		if got := changedLines(r.command(r.repo.Dir, "diff", "--all", "-U0", name)); !slices.Equal(got, whole) {
			r.t.Errorf("diff --all of turn %s has %q, want %q", name, got, whole)
		}
		r.reverted(name, tag, own)
		truly := 0
		for _, line := range whole {
			if of(tag, line[1:]) {
				truly++
			}
		}
		own = slices.DeleteFunc(own, func(line string) bool { return !slices.Contains(whole, line) }) // of a file that was moved
		r.t.Logf("turn %s of %s: %d of %d lines are surely its own", name, tag, len(own), truly)
		surely, all = surely+len(own), all+truly
	}
	r.t.Logf("%d of %d lines are surely their turn's", surely, all)
	if 2*surely < all {
		r.t.Errorf("it is sure of %d of %d lines alone", surely, all)
	}
	r.blamed(wrote)
	for session, letter := range who {
		name := "finish " + passive(session)
		r.command(r.repo.Dir, "finish", "-m", "work of "+letter, passive(session))
		r.only(letter, name, changedLines(r.repo.Git("show", "--format=", "-U0", "HEAD")))
	}
	r.blamed(wrote)
}

// of says whether a line begins with a tag, which a number may follow.
func of(tag, line string) bool {
	word, _, _ := strings.Cut(line, " ")
	return strings.TrimRight(word, "0123456789") == strings.TrimRight(tag, "0123456789") && strings.HasPrefix(word, tag)
}

// only fails the test if a changed line is not of the tag.
func (r *rig) only(tag, what string, changed []string) {
	r.t.Helper()
	for _, line := range changed {
		if !of(tag, line[1:]) {
			r.t.Errorf("%s of %s has %q", what, tag, line)
		}
	}
}

// reverted takes a turn out of the worktree, and fails the test if that touches what is not its own, or is not what was
// said before. It puts back what was there.
func (r *rig) reverted(name, tag string, own []string) {
	r.t.Helper()
	before := r.contents()
	plus, minus := 0, 0
	for stat := range strings.Lines(r.command(r.repo.Dir, "revert", "-n", name)) {
		var p, m int
		if _, err := fmt.Sscanf(stat, "+%d -%d ", &p, &m); err != nil {
			r.t.Errorf("revert -n %s says %q", name, stat)
		}
		plus, minus = plus+p, minus+m
	}
	if got := r.contents(); !maps.Equal(got, before) {
		r.t.Errorf("revert -n %s has changed something", name)
	}
	r.command(r.repo.Dir, "revert", name)
	after := r.contents()
	if said, did := plus-minus, total(after)-total(before); said != did {
		r.t.Errorf("revert -n %s says %+d lines, and it does %+d", name, said, did)
	}
	for line, count := range before {
		if after[line] < count && !of(tag, line) {
			r.t.Errorf("revert of %s takes %q away", name, line)
		}
	}
	for _, line := range own {
		if line[0] == '+' && after[line[1:]] >= before[line[1:]] || line[0] == '-' && after[line[1:]] <= before[line[1:]] {
			r.t.Errorf("revert of %s leaves %q", name, line)
		}
	}
	r.command(r.repo.Dir, "undo")
	if got := r.contents(); !maps.Equal(got, before) {
		r.t.Fatalf("undo leaves %v, want %v", got, before)
	}
}

// contents counts the lines of all files.
func (r *rig) contents() map[string]int {
	r.t.Helper()
	lines := make(map[string]int)
	for path := range strings.Lines(r.repo.Git("ls-files", "-co", "--exclude-standard") + "\n") {
		text, err := os.ReadFile(filepath.Join(r.repo.Dir, strings.TrimSpace(path)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			r.t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			lines[strings.TrimSuffix(line, "\n")]++
		}
	}
	return lines
}

func total(contents map[string]int) (n int) {
	for _, count := range contents {
		n += count
	}
	return n
}

// blamed fails the test if blame is sure of a turn that did not write a line; wrote are the turns by the lines' first words.
func (r *rig) blamed(wrote map[string]string) {
	r.t.Helper()
	sure, all := 0, 0
	for path := range strings.Lines(r.repo.Git("ls-files", "-co", "--exclude-standard") + "\n") {
		path = strings.TrimSpace(path)
		if _, err := os.Stat(filepath.Join(r.repo.Dir, path)); err != nil {
			continue
		}
		for line := range strings.Lines(r.command(r.repo.Dir, "blame", "--json", path)) {
			var x struct {
				Text       string
				Confidence string
				Turn       struct {
					Mission string
					Turn    int
				}
			}
			gittest.Must(r.t, json.Unmarshal([]byte(line), &x))
			first, _, _ := strings.Cut(x.Text, " ")
			if wrote[first] != "" && !strings.Contains(x.Text, " moved ") {
				all++
			}
			if x.Confidence != "one" {
				continue
			}
			if turn := fmt.Sprintf("%s/%d", x.Turn.Mission, x.Turn.Turn); turn != wrote[first] {
				r.t.Errorf("blame of %s gives %q to turn %s", path, x.Text, turn)
			}
			sure++
		}
	}
	r.t.Logf("blame is sure of %d of %d lines", sure, all)
}

// changedLines are the lines of a diff that were added or removed, with their mark.
func changedLines(diff string) (changed []string) {
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "+++ ") || strings.HasPrefix(line, "--- ") {
			continue
		}
		if line[0] == '+' || line[0] == '-' {
			changed = append(changed, strings.TrimSuffix(line, "\n"))
		}
	}
	return changed
}
