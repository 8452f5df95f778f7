//go:build unix

package neighbours

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// A kept is what list prints of a turn, as far as it says whose lines are whose.
type kept struct {
	Mission, Prompt, Session string
	PromptID                 string `json:"prompt_id"`
	Turn                     int
	Base, Code               string
	Own                      *struct{ Of, Others, Shared string }
	Worktrees                []struct{ Base, Code string }
}

// A claim is a record that has a line as its turn's.
type claim struct {
	in     *place
	turn   *abroad
	name   string
	unsure bool
}

func (c claim) String() string {
	return fmt.Sprintf("%s of %s, %s, unsure: %t", c.name, c.in.dir, c.turn.name, c.unsure)
}

var lineOf = regexp.MustCompile(`line\d+\.`)

// look checks all lines of turns that are recorded.
func (l *land) look() {
	claims := make(map[string][]claim)
	for _, p := range l.places {
		if !isMain(p) {
			continue
		}
		if p.off {
			if r := l.ran(l.command(p.dir, "git", "for-each-ref", "refs/agent", "refs/notes")); r.stdout != "" {
				l.find("recorded where it is off", "%s: %s", p.dir, r.stdout)
			}
			continue
		}
		l.claims(p, claims)
	}
	for text, w := range l.lines {
		if w.by != nil && !w.by.ended {
			continue
		}
		l.tally.add("looks at lines", 1)
		all := claims[text]
		sure := slices.DeleteFunc(slices.Clone(all), func(c claim) bool { return c.unsure })
		right := func(c claim) bool { return w.may(c.turn) && c.in == w.in.main }
		switch {
		case w.by == nil && slices.ContainsFunc(sure, func(c claim) bool { return !right(c) }):
			l.find("a person's line is an agent's", "%s in %s: %v", text, w.in.dir, all)
		case slices.ContainsFunc(sure, func(c claim) bool { return !right(c) }):
			l.find("a line is another's", "%s by %s in %s: %v", text, w.by.name, w.in.dir, all)
		case w.by != nil && len(sure) > 1:
			l.find("a line is in several records", "%s by %s in %s: %v", text, w.by.name, w.in.dir, all)
		case w.by == nil || w.in.off || w.gone || len(sure) == 1:
		case slices.ContainsFunc(all, right) && l.crowded(w.in, w.by):
			l.tally.add("looks at lines that are unsure", 1)
		default:
			l.find("a line is in no record", "%s by %s in %s: %v", text, w.by.name, w.in.dir, all)
		}
	}
}

// may reports whether a line may be a turn's.
func (w *written) may(t *abroad) bool { return t == w.by || slices.Contains(w.maybe, t) }

// crowded reports whether others than a turn's session have written in a place, so
// that it may be unsure whose a line is.
func (l *land) crowded(p *place, t *abroad) bool {
	for _, w := range l.lines {
		if w.in == p && (w.by == nil || w.by.session != t.session) {
			return true
		}
	}
	return false
}

// claims adds what a repository's records have.
func (l *land) claims(p *place, claims map[string][]claim) {
	r := l.ran(l.command(p.dir, "git-agent-turn", "list", "--all", "--archived", "--json"))
	if r.status != 0 {
		l.find("list fails", "%s: %+v", p.dir, r)
	}
	for text := range strings.Lines(r.stdout) {
		var k kept
		if err := json.Unmarshal([]byte(text), &k); err != nil {
			l.find("list prints no JSON", "%q: %v", text, err)
			continue
		}
		t := l.turns[k.PromptID]
		if t == nil || t.session != k.Session {
			l.find("a turn that was none", "%s: %s", p.dir, text)
			continue
		}
		if !l.contains(p, t) && (t.stands == nil || t.stands.main != p) && !l.conversation(p, t.session) {
			l.find("recorded where nothing was changed", "%s has %s: %s", p.dir, t.name, text)
		}
		add := func(from, to string, unsure bool) {
			for _, line := range l.between(p, from, to) {
				claims[line] = append(claims[line], claim{p, t, fmt.Sprintf("%s/%d", k.Mission, k.Turn), unsure})
			}
		}
		from := k.Base
		if o := k.Own; o != nil && o.Of == k.Code && o.Others != "" {
			if from = o.Others; o.Shared != "" {
				from = o.Shared
				add(o.Others, o.Shared, true)
			}
		}
		add(from, k.Code, false)
		for _, w := range k.Worktrees {
			add(w.Base, w.Code, false)
		}
	}
}

// contains reports whether a turn has changed, or may have, a repository or one within it, whose
// commit is a part of its state. A commit there that others made may be of the call
// that was interrupted.
func (l *land) contains(p *place, t *abroad) bool {
	for _, o := range l.places {
		moved := func(other *abroad) bool { return other.changed[o] }
		if within(p.dir, o.dir) && (moved(t) || t.cut && o != p && slices.ContainsFunc(slices.Collect(maps.Values(l.turns)), moved)) {
			return true
		}
	}
	return false
}

// between are the lines that a state has and the one before has not.
func (l *land) between(p *place, from, to string) []string {
	if from == "" || to == "" || from == to {
		return nil
	}
	key := from + to
	if known, ok := l.diffs[key]; ok {
		return known
	}
	r := l.ran(l.command(p.dir, "git", "diff", "-U0", "--no-renames", "--no-ext-diff", from, to))
	if r.status != 0 {
		l.find("states can't be compared", "%s: %s %s: %+v", p.dir, from, to, r)
	}
	var more, less []string
	for text := range strings.Lines(r.stdout) {
		for _, line := range lineOf.FindAllString(text, -1) {
			switch text[0] {
			case '+':
				more = append(more, line)
			case '-':
				less = append(less, line)
			}
		}
	}
	more = slices.DeleteFunc(more, func(line string) bool { return slices.Contains(less, line) })
	l.diffs[key] = more
	return more
}

// objects are all that a repository has, as text.
func (l *land) objects(p *place) string {
	return l.ran(l.command(p.dir, "git", "cat-file", "--batch-all-objects", "--batch")).stdout
}

var secretOf = regexp.MustCompile(`secret\d+\.`)

// conversation reports whether a repository has something of a session's.
func (l *land) conversation(p *place, session string) bool {
	return slices.ContainsFunc(secretOf.FindAllString(l.objects(p), -1), func(said string) bool {
		return l.secret[said] != nil && l.secret[said].session == session
	})
}

// finish ends all that runs, and looks at everything.
func (l *land) finish() {
	l.done = append(l.done, "end")
	for _, a := range l.agents {
		if !a.dead {
			l.end(a)
		}
	}
	for _, p := range l.places { // a new session there ends what the dead have left
		if !p.gone {
			l.arrive(0, p.dir, p)
			l.end(l.agents[0])
		}
	}
	for _, t := range l.turns {
		t.ended = true
	}
	l.look()
	l.private()
}

// private checks that one repository alone has the conversation of a session.
func (l *land) private() {
	homes, said := make(map[string][]*place), make(map[string][]string)
	for _, p := range l.places {
		if !isMain(p) {
			continue
		}
		objects := l.objects(p)
		for _, at := range secretOf.FindAllStringIndex(objects, -1) {
			session := l.secret[objects[at[0]:at[1]]].session
			if !slices.Contains(homes[session], p) {
				homes[session] = append(homes[session], p)
				said[session] = append(said[session], fmt.Sprintf("%s: %q", p.dir, objects[max(0, at[0]-300):at[1]]))
			}
			l.tally.add("what was said, found in objects", 1)
		}
	}
	for session, list := range homes {
		if len(list) > 1 {
			l.find("several repositories have a conversation", "%s: %s", session, strings.Join(said[session], "\n"))
		}
		for _, t := range l.turns {
			if t.session == session && t.stands != nil && !t.stands.off && t.stands.main != list[0] {
				l.find("not its home has a conversation", "%s: %s", t.name, list[0].dir)
			}
		}
	}
}
