//go:build unix

package neighbours

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A line is what list prints of a turn.
type line struct {
	Mission, Prompt, Outcome, Code string
	Turn                           int
}

// list is every turn that is recorded, by its prompt.
func (w *world) list() map[string][]line {
	all := make(map[string][]line)
	r := w.own("git-agent-turn", "list", "--all", "--archived", "--json")
	if r.status != 0 {
		w.told.WriteString("list fails: " + r.stderr)
	}
	for text := range strings.Lines(r.stdout) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			w.find("list prints no JSON", "%q: %v", text, err)
		} else if !slices.ContainsFunc(all[l.Prompt], func(o line) bool { return o.name() == l.name() }) { // forks have it, too
			all[l.Prompt] = append(all[l.Prompt], l)
		}
	}
	return all
}

func (l line) name() string { return fmt.Sprintf("%s/%d", l.Mission, l.Turn) }

// named takes a turn's name apart.
func (t *turn) named(name string) bool {
	mission, number, ok := strings.Cut(name, "/")
	n, err := strconv.Atoi(number)
	t.mission, t.number = mission, n
	return ok && err == nil
}

// about matches what a user is told when something of ours is amiss.
var about = regexp.MustCompile(`(?i)refs/agent|ledger|mission|turns? |recorded|repair`)

// look checks that each acknowledged turn is there. Where one is not, the user
// must have been told, and doctor must bring it back.
func (w *world) look() {
	missing := w.missing()
	if len(missing) > 0 {
		w.family.Await() // what the background tells, it tells in the end
		told := about.MatchString(w.told.String())
		r := w.own("git-agent-turn", "doctor", "--json")
		findings := w.wrong(r.stdout)
		told = told || about.MatchString(findings)
		w.own("git-agent-turn", "doctor", "--repair")
		for _, remedy := range remedies(r.stdout) {
			w.ran(w.shell(w.ours, remedy))
		}
		lost := w.missing()
		switch text := strings.Join(missing, "\n") + "\nthey were told: " + w.told.String() + "\ndoctor: " + findings; {
		case len(lost) > 0 && !told:
			w.find("lost in silence", "%s\nafter a repair: %s", text, strings.Join(lost, "\n"))
		case len(lost) > 0:
			w.find("lost", "%s\nafter a repair: %s", text, strings.Join(lost, "\n"))
		case !told:
			w.find("missing in silence", "%s", text)
		default:
			w.tally.add("looks at which something was missing, said and brought back", 1)
		}
	}
	w.told.Reset()
	w.looked = time.Now().Truncate(time.Second) // as the log has it
	w.tally.add("looks", 1)
	w.tally.add("turns looked at", len(w.turns))
	w.sound()
	w.same()
}

func (w *world) finish() { w.look() }

// wrong are doctor's findings that may be about something that is missing, and
// what was logged since the last look: that is where the background tells it.
func (w *world) wrong(findings string) string {
	var all []string
	for text := range strings.Lines(findings) {
		var f struct {
			Level, What string
			At          time.Time
		}
		if json.Unmarshal([]byte(text), &f) != nil || f.Level != "ok" && f.What != "remote" && f.What != "readers" ||
			f.What == "log" && !f.At.Before(w.looked) {
			all = append(all, text)
		}
	}
	return strings.Join(all, "")
}

// remedies are the commands that doctor leaves to the user, who wants the other
// user to read here.
func remedies(findings string) (all []string) {
	for text := range strings.Lines(findings) {
		var f struct{ Level, What, Remedy string }
		if json.Unmarshal([]byte(text), &f) == nil && f.Level != "ok" && f.What != "readers" && strings.HasPrefix(f.Remedy, "git ") {
			all = append(all, f.Remedy)
		}
	}
	return all
}

// missing are the turns that are not as they were acknowledged.
func (w *world) missing() (all []string) {
	listed, at := w.list(), make(map[*turn]line)
	var names strings.Builder
	for _, t := range w.turns {
		lines := listed[t.prompt]
		switch {
		case len(lines) == 0:
			all = append(all, fmt.Sprintf("%s %q is not listed", t.name(), t.prompt))
			continue
		case len(lines) > 1 || lines[0].name() != t.name():
			all = append(all, fmt.Sprintf("%s %q is %+v now", t.name(), t.prompt, lines))
			continue
		}
		l := lines[0]
		at[t] = l
		if l.Outcome != "done" {
			all = append(all, fmt.Sprintf("%s is %s", t.name(), l.Outcome))
		}
		for file := range t.files {
			fmt.Fprintf(&names, "%s:%s\n", l.Code, file)
		}
		ref := "refs/agent/missions/" + t.mission
		fmt.Fprintf(&names, "%s:turns/%04d/%06d.json\n%[1]s:transcript/%04[2]d/%06[3]d.jsonl\n", ref, t.number/100, t.number)
	}
	contents := w.contents(names.String())
	for _, t := range w.turns {
		l, ok := at[t]
		if !ok {
			continue
		}
		for file, want := range t.files {
			if got := contents[l.Code+":"+file]; got != want {
				all = append(all, fmt.Sprintf("%s: its %s is %q, want %q", t.name(), file, got, want))
			}
		}
		ref := "refs/agent/missions/" + t.mission
		said := contents[fmt.Sprintf("%s:transcript/%04d/%06d.jsonl", ref, t.number/100, t.number)]
		record, inLedger := contents[fmt.Sprintf("%s:turns/%04d/%06d.json", ref, t.number/100, t.number)]
		if t.archived = !inLedger && w.isArchived(t.mission); t.archived {
			record = t.prompt
			said = w.own("git-agent-turn", "show", "--transcript", t.name()).stdout
		}
		if !strings.Contains(record, t.prompt) {
			all = append(all, fmt.Sprintf("%s: its ledger has no record of it", t.name()))
		}
		if !strings.Contains(said, t.said) {
			all = append(all, fmt.Sprintf("%s: its conversation is gone", t.name()))
		}
	}
	if t := w.any(); t != nil {
		if r := w.own("git-agent-turn", "show", "--json", t.name()); !strings.Contains(r.stdout, t.prompt) {
			all = append(all, fmt.Sprintf("show %s: %+v", t.name(), r))
		}
	}
	return all
}

func (w *world) isArchived(mission string) bool {
	return w.ran(w.command(w.ours.dir(), "git", "rev-parse", "-q", "--verify", "refs/agent/missions/"+mission)).status != 0 &&
		strings.Contains(w.own("git-agent-turn", "missions", "--archived", "--json").stdout, `"`+mission+`"`)
}

// contents are those of objects, as plain git finds them.
func (w *world) contents(names string) map[string]string {
	cmd := w.command(w.ours.dir(), "git", "--no-replace-objects", "cat-file", "--batch=%(objectsize)")
	cmd.Stdin = strings.NewReader(names)
	all, out := make(map[string]string), w.ran(cmd).stdout
	for name := range strings.Lines(names) {
		head, rest, _ := strings.Cut(out, "\n")
		size, err := strconv.Atoi(head)
		if err != nil {
			out = rest // missing
			continue
		}
		all[strings.TrimSuffix(name, "\n")], out = rest[:size], rest[size+1:]
	}
	return all
}

// sound checks that git finds all there that refs lead to, if it does in the
// twin. A graph may have commits that were collected since.
func (w *world) sound() {
	check := func(s *side) result {
		return w.ran(w.command(s.dir(), "git", "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false", "fsck", "--connectivity-only", "--no-dangling", "--no-progress"))
	}
	wrong := func() string {
		r := check(w.ours)
		if r.status == 0 {
			return ""
		}
		return strings.Join(slices.DeleteFunc(strings.Split(r.stdout+r.stderr, "\n"), func(l string) bool {
			return l == "" || strings.Contains(l, "warning: ") || strings.Contains(l, "refs/remotes/") // HEAD of a remote that was pruned
		}), "\n")
	}
	text := wrong()
	if text != "" { // git lists objects before it reads logs, and something may be at work in the background
		text = wrong()
	}
	if text != "" && check(w.twin).status == 0 {
		w.find("git fsck", "%s", text)
	}
}

// seen is what the user sees of their own work.
const seen = `export GIT_OPTIONAL_LOCKS=0
git for-each-ref --format='%(refname) %(objectname)' | grep -v -e 'agent/' -e refs/replace/ -e renamed-agent -e AGENT_; git symbolic-ref -q HEAD; git status --porcelain -uall
git ls-files -s | git hash-object --stdin; git stash list | grep -v agent; for dir in ../w[0-9]*; do echo "$dir"; git -C "$dir" status --porcelain -b -uall; done 2>/dev/null`

// same checks that the user's own work is what it is in the twin, and that no
// hook of theirs was told what we do.
func (w *world) same() {
	if told, err := os.ReadFile(filepath.Join(w.ours.top, "told")); err == nil {
		w.find("hooks of the user's are told", "%s", told)
	}
	if w.apart {
		return
	}
	ours, twins := w.ran(w.shell(w.ours, seen)).stdout, w.ran(w.shell(w.twin, seen)).stdout
	more, less := followed.ReplaceAllString(differ(ours, twins), ""), differ(twins, ours)
	if strings.TrimSpace(more+less) != "" {
		w.find("the user's own", "%s\nin the twin\n%s", more, less)
	}
}

// followed are tags that git has followed as it fetched missions.
var followed = regexp.MustCompile(`(?m)^refs/tags/.*$`)

// differ are the lines of a that b has not, or not as often.
func differ(a, b string) string {
	rest := strings.Split(b, "\n")
	return strings.Join(slices.DeleteFunc(strings.Split(a, "\n"), func(l string) bool {
		at := slices.Index(rest, l)
		if at >= 0 {
			rest = slices.Delete(rest, at, at+1)
		}
		return at >= 0
	}), "\n")
}
