package recall

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/turns"
)

// A Kind says what an entry is.
type Kind string

// The kinds.
const (
	Tried   Kind = "tried"   // a turn's change that was given up
	Why     Kind = "why"     // the turn that wrote lines
	Handoff Kind = "handoff" // one that speaks of the file
)

// An Entry is what one turn or handoff has on a file. Its texts are quoted from
// the record, on one line each.
type Entry struct {
	Kind  Kind      `json:"kind"`
	Name  string    `json:"name"` // of the turn or handoff: a1b2c3d4/12
	At    time.Time `json:"at"`
	By    string    `json:"by,omitempty"`    // whose it is, if not this user's on this machine: see [trust.Writers]
	Fate  Fate      `json:"fate,omitempty"`  // of what was tried
	In    string    `json:"in,omitempty"`    // the turn that took it back, if one did
	Lines string    `json:"lines,omitempty"` // that the turn wrote: 3,7-9
	Asked string    `json:"asked,omitempty"` // the prompt
	Said  string    `json:"said,omitempty"`  // the reply, or what the handoff says
	Then  string    `json:"then,omitempty"`  // the prompt of the turn that took it back
}

// Wrote returns the entry of a turn that wrote lines.
func Wrote(t *turns.Turn, lines string) Entry {
	return Entry{Kind: Why, Name: t.ID().String(), At: t.At, Lines: lines, Asked: line(t.Prompt), Said: said(t)}
}

func said(t *turns.Turn) string { return line(strings.TrimPrefix(t.Reply, "…")) }

// line makes a text one line without controls.
func line(text string) string { return cmdline.OneLine(text) }

// Tried returns what was given up in a file where the lines are, the newest
// first; now is the file as it is. What can't be read is left out.
func (p *Past) Tried(path string, lines Lines, now []byte) []Entry {
	var list []Entry
	for _, g := range p.tried(path, lines, now) {
		if t, err := p.turn(g.of); err == nil {
			by, _ := p.turn(g.in) // which may not be known
			list = append(list, g.entry(t, by))
		}
	}
	return list
}

// entry returns the entry of a turn that was given up, by another one or nil.
func (g given) entry(t, by *turns.Turn) Entry {
	e := Entry{Kind: Tried, Name: t.ID().String(), At: t.At, Fate: g.fate, Asked: line(t.Prompt), Said: said(t)}
	if by != nil {
		e.In, e.Then = by.ID().String(), line(by.Prompt)
	}
	return e
}

// Sign notes whose the entries are.
func (p *Past) Sign(entries []Entry) error {
	for i := range entries {
		e := &entries[i]
		of := turnOf(e.Name)
		l := p.ledgers[of.Mission]
		if l == nil {
			continue
		}
		if p.writers[of.Mission] == nil {
			writers, err := p.w.Writers(p.ctx, p.objects, l.ID, l.Tip)
			if err != nil {
				return err
			}
			p.writers[of.Mission] = writers
		}
		if e.By = p.writers[of.Mission].Turn(of.Turn); e.Kind == Handoff {
			e.By = p.writers[of.Mission].Handoff(of.Turn)
		}
		if trust.Ours(e.By) {
			e.By = ""
		}
	}
	return nil
}

// HandedOff returns the missions that have handoffs on which the user may rely, up
// to the commits of their ledgers of which that is so.
func (p *Past) HandedOff() map[record.ID]object.Hash {
	tips := make(map[record.ID]object.Hash)
	for id, l := range p.ledgers {
		if n, err := l.LastHandoff(); n > 0 || err != nil {
			tips[id] = l.Tip
		}
	}
	return tips
}

// Head says in our words what the entry is.
func (e Entry) Head() string {
	name := e.Name
	if e.By != "" {
		name += " [" + line(e.By) + "]"
	}
	name += " (" + e.At.UTC().Format(time.DateOnly) + ")"
	switch {
	case e.Kind == Handoff:
		return "handoff " + name
	case e.Kind == Why && e.Lines != "":
		lines := "lines"
		if !strings.ContainsAny(e.Lines, "-,.") {
			lines = "line"
		}
		return fmt.Sprintf("why: turn %s wrote %s %s", name, lines, e.Lines)
	case e.Kind == Why:
		return "why: turn " + name
	case e.In != "":
		return fmt.Sprintf("tried: turn %s, %s in turn %s", name, e.Fate, e.In)
	}
	return fmt.Sprintf("tried: turn %s, %s", name, e.Fate)
}

// Texts returns what is quoted, with what it is.
func (e Entry) Texts() [][2]string {
	all := [][2]string{{"asked", e.Asked}, {"said", e.Said}, {"then asked", e.Then}}
	return slices.DeleteFunc(all, func(t [2]string) bool { return t[1] == "" })
}

// String returns the entry on one line.
func (e Entry) String() string {
	text := e.Head()
	for _, t := range e.Texts() {
		text += fmt.Sprintf("; %s: %s", t[0], t[1])
	}
	return text
}

// frame is how many tokens a text takes besides its own, with its name.
const frame = 4

// The texts of an entry, in tokens: as long as they may be, and then shorter, as
// long as there is too little room.
var lengths = []struct{ asked, said, then int }{{70, 70, 40}, {45, 40, 25}, {30, 15, 15}, {20, 0, 0}, {10, 0, 0}, {0, 0, 0}}

// fit returns the entry with texts so short that it takes at most most tokens.
func (e Entry) fit(most int) (short Entry, tokens int, ok bool) {
	for _, l := range lengths {
		short = e
		short.Asked, short.Said, short.Then = cutTo(e.Asked, l.asked), cutTo(e.Said, l.said), cutTo(e.Then, l.then)
		if short.Asked == "" {
			short.Said = cutTo(e.Said, l.asked) // a handoff has nothing else
		}
		if tokens = short.Tokens(); tokens <= most {
			return short, tokens, true
		}
	}
	return e, 0, false
}

// Tokens returns how many tokens the entry takes at most.
func (e Entry) Tokens() int {
	n := Tokens(e.Head()) + frame
	for _, t := range e.Texts() {
		n += Tokens(t[1]) + frame
	}
	return n
}

func cutTo(text string, most int) string {
	if most == 0 {
		return ""
	}
	return cut(text, most)
}

// Choose returns the entries that fit into a number of tokens, some shortened,
// and how many are left out: the newest of each kind first, what was tried before
// the rest. They come back by kind.
func Choose(entries []Entry, most int) (chosen []Entry, left int) {
	order := []Kind{Tried, Why, Handoff}
	ranked := slices.Clone(entries)
	rank := make(map[string]int) // within its kind
	slices.SortStableFunc(ranked, func(a, b Entry) int { return b.At.Compare(a.At) })
	seen := make(map[Kind]int)
	for _, e := range ranked {
		rank[string(e.Kind)+e.Name] = seen[e.Kind]
		seen[e.Kind]++
	}
	of := func(e Entry) int { return slices.Index(order, e.Kind) }
	slices.SortStableFunc(ranked, func(a, b Entry) int {
		return cmp.Or(rank[string(a.Kind)+a.Name]-rank[string(b.Kind)+b.Name], of(a)-of(b))
	})
	for i, e := range ranked {
		short, tokens, ok := e.fit(most)
		if !ok {
			left = len(ranked) - i
			break
		}
		most -= tokens
		chosen = append(chosen, short)
	}
	slices.SortStableFunc(chosen, func(a, b Entry) int { return of(a) - of(b) })
	return chosen, left
}
