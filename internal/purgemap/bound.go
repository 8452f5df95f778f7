package purgemap

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// An Asked is what trusted keys ask to take out of missions that share commits,
// apart from what these keys wrote themselves.
type Asked struct {
	By       []sshsig.Public
	Missions []record.ID
	Gone     bool  // the mission is to go, with all that is in it
	Turns    int   // that go as a whole
	Files    int   // that go as a whole
	Texts    int   // different ones, with those of other missions that go without a question
	Prose    int   // of these, what has several words
	Common   int   // files of HEAD that have one of them
	Cut, Of  int64 // how many bytes go, of how many
}

// Unasked is what others' purges have taken out without a question before, which
// counts with what they ask for now.
type Unasked struct {
	Texts int                 `json:"texts"`
	Prose int                 `json:"prose"`
	Cut   map[record.ID]int64 `json:"cut"` // bytes, by missions
}

// What is done without a question. A secret is one text in a few spellings, or
// a key in as many as it has lines, however many turns it stands in; a pattern
// that cuts words makes hundreds, one that cuts what was said makes sentences,
// and a word stands in many files.
const (
	fewTexts  = 8   // that may be a large part of a small mission
	mostTexts = 256 // of the longest keys, in two spellings
	fewBytes  = 4 << 10
	share     = 20 // of that many bytes one may go
	mostFiles = 3
)

// within reports whether it is done without a question: texts alone, few, or a
// small part of what there is, and none that many of the user's files have.
func (a *Asked) within() bool {
	little := a.Cut <= a.Of/share
	switch {
	case a.Gone, a.Turns > 0, a.Files > 0:
		return false
	case a.Texts > mostTexts, a.Prose > fewTexts, a.Common > mostFiles:
		return false
	}
	return little || a.Texts <= fewTexts && a.Cut <= fewBytes
}

// user tells what the user decided, and who wrote what.
type user struct {
	own     sshsig.Public // the user's key; zero if there is none
	decided map[masked][]object.Hash
	made    map[object.Hash]bool // commits that a purge made: their signature is the purger's
}

func (m *Map) user(own sshsig.Public) user {
	u := user{own, make(map[masked][]object.Hash), m.Ends()}
	for _, s := range m.sheets {
		if s.by == own {
			for from, to := range s.entries {
				u.decided[from] = append(u.decided[from], to)
			}
		}
	}
	return u
}

// agreed reports whether the user's own key says that to replaces from.
func (u *user) agreed(from, to object.Hash) bool {
	seen := make(map[masked]bool)
	for next := []object.Hash{from}; len(next) > 0; next = next[1:] {
		m := mask(next[0])
		if seen[m] {
			continue
		}
		seen[m] = true
		for _, h := range u.decided[m] {
			if h == to {
				return true
			}
			if !h.IsZero() {
				next = append(next, h)
			}
		}
	}
	return false
}

// free reports whether nothing is asked by a pair: the user has decided it, or
// it was done here before, and what was fetched has it still.
func (p *pairing) free(l *line, h, to object.Hash) bool {
	return p.decided(l, h, to) || l.landed && !to.IsZero() && p.here[to]
}

// decided reports whether the user has decided a pair.
func (p *pairing) decided(l *line, h, to object.Hash) bool {
	c := p.classes[mask(h)]
	switch {
	case c == nil || p.accepts(l, h):
		return true
	case len(c.by) == 1 && c.by[p.user.own]:
		return true
	}
	return p.user.agreed(h, to)
}

// wasRemoved reports whether a commit is what another purge made of one that
// somebody has removed, which the user's own key has never said.
func (p *pairing) wasRemoved(h object.Hash) bool {
	c := p.classes[mask(h)]
	if c == nil || !c.is[object.Hash{}] {
		return false
	}
	for from, to := range p.user.decided {
		if p.classes[from] == c && slices.Contains(to, object.Hash{}) {
			return false
		}
	}
	return true
}

// accepts reports whether a person accepts a pair of a ledger.
func (p *pairing) accepts(l *line, h object.Hash) bool {
	return slices.Contains(p.accepted, l.id) || p.agreed[h] || !slices.Contains(l.events, h) && p.agrees(l)
}

// mayGo reports whether a mission is removed without a question.
func (p *pairing) mayGo(l *line) bool {
	if slices.Contains(p.accepted, l.id) || p.free(l, l.tip, object.Hash{}) {
		return true
	}
	for _, h := range l.events {
		shared := slices.ContainsFunc(p.list, func(other *line) bool {
			return other.id != l.id && !p.removed[other.tip] && slices.Contains(other.events, h)
		})
		if !shared && !p.wroteIt(l.tip, h) {
			return false
		}
	}
	return true
}

// wroteIt reports whether an event was written by the one key that replaces a
// commit.
func (p *pairing) wroteIt(replaced, event object.Hash) bool {
	c := p.classes[mask(replaced)]
	if c == nil || len(c.by) != 1 || p.user.made[event] || p.objects == nil {
		return false
	}
	content, err := p.objects.Read(plumbing.CommitObject, event, git.MaxCommit)
	if err != nil {
		return false
	}
	s, ok := ledger.ParseSigned(content)
	return ok && c.by[s.By] && s.Verify()
}

func (p *pairing) by(commits ...object.Hash) []sshsig.Public {
	all := make(map[sshsig.Public]bool)
	for _, h := range commits {
		if c := p.classes[mask(h)]; c != nil {
			maps.Copy(all, c.by)
		}
	}
	delete(all, p.user.own)
	return slices.SortedFunc(maps.Keys(all), func(a, b sshsig.Public) int { return bytes.Compare(a[:], b[:]) })
}

// removal is what is asked where a mission is to go.
func (p *pairing) removal(l *line) *Asked {
	a := &Asked{By: p.by(l.tip), Missions: []record.ID{l.id}, Gone: true}
	if p.objects == nil {
		return a
	}
	if at, err := ledger.At(p.objects, l.id, l.tip); err == nil {
		a.Turns, _ = at.LastTurn()
	}
	return a
}

// A group is ledgers that share commits that are replaced, and what pairs take
// out of them.
type group struct {
	lines []*line
	free  purgerewrite.Taken // what the user decided
	done  purgerewrite.Taken // what was taken out here before, and learned then if it may be
	own   purgerewrite.Taken // of what the purgers wrote
	asked purgerewrite.Taken
	bad   bool // a pair did not prove itself
	files map[object.Hash]object.Hash
}

func (g *group) taken() []*purgerewrite.Taken {
	return []*purgerewrite.Taken{&g.free, &g.own, &g.asked}
}

func (p *pairing) groups() (all []*group) {
	of := make(map[object.Hash]*group)
	for _, l := range p.list {
		if p.pairs[l] == nil {
			continue
		}
		g := &group{lines: []*line{l}}
		for h := range p.pairs[l] {
			if other := of[h]; other != nil && other != g {
				g.lines = append(other.lines, g.lines...)
				all = slices.DeleteFunc(all, func(a *group) bool { return a == other })
				for h, is := range of {
					if is == other {
						of[h] = g
					}
				}
			}
			of[h] = g
		}
		all = append(all, g)
	}
	return all
}

// proveGroup proves the pairs of a group, the oldest first: what several events have
// counts as of whom wrote the first one. States come before the records that
// name what these leave out.
func (p *pairing) proveGroup(ctx context.Context, g *group, by *purgerewrite.Prover) error {
	g.files = by.Files
	for _, l := range g.lines {
		for _, event := range slices.Backward(l.events) {
			for _, h := range append(slices.Clone(l.keeps[event]), event) {
				to, ok := p.pairs[l][h]
				bad, before := p.refused[h]
				if g.bad = g.bad || bad != nil; !ok || before {
					continue
				}
				switch {
				case p.decided(l, h, to):
					by.Into = &g.free
				case p.free(l, h, to):
					by.Into = &g.done
				case p.wroteIt(h, event):
					by.Into = &g.own
				default:
					by.Into = &g.asked
				}
				prove := by.State
				if h == event {
					prove = by.Event
				}
				bad = prove(h, to)
				if ctx.Err() != nil {
					return ctx.Err()
				}
				p.refuse(h, to, bad)
				g.bad = g.bad || bad != nil
			}
		}
	}
	return nil
}

// judge holds the groups of which too much is asked, and returns what was
// learned of the others.
func (p *pairing) judge(ctx context.Context, groups []*group) (learned [][]byte) {
	different, held := make(map[[sha256.Size]byte]bool), make(map[[sha256.Size]byte]bool)
	texts, sentences := p.unasked.Texts, p.unasked.Prose
	// What is held of one mission keeps nothing from being done in others.
	slices.SortStableFunc(groups, func(a, b *group) int { return len(a.asked.Texts) - len(b.asked.Texts) })
	for _, g := range groups {
		if g.bad {
			continue
		}
		all := maps.Clone(different)
		maps.Copy(all, g.asked.Texts)
		a := p.asked(ctx, g, texts+len(all), sentences)
		if a.within() {
			different, sentences = all, a.Prose
			p.unasked.Texts, p.unasked.Prose = a.Texts, a.Prose
			if g.asked.Cut > 0 {
				p.unasked.Cut[g.lines[0].id] += g.asked.Cut
			}
		} else {
			for _, l := range g.lines {
				p.hold(l, HeldBecause{Beyond: a})
				delete(p.pairs, l)
			}
			maps.Copy(held, g.asked.Texts)
			continue
		}
		maps.Copy(p.files, g.files)
		for _, t := range g.taken() {
			// What the purgers cut out of their own is theirs, but not as a rule
			// for what is recorded here.
			if t == &g.own && !p.askedBy(ctx, g, t, len(t.Texts), 0).within() {
				continue
			}
			learned = append(learned, t.Learned...)
		}
	}
	// What is learned is taken out everywhere, also of what is held.
	return slices.DeleteFunc(learned, func(text []byte) bool { return held[sha256.Sum256(text)] })
}

func (p *pairing) asked(ctx context.Context, g *group, texts, sentences int) *Asked {
	a := p.askedBy(ctx, g, &g.asked, texts, sentences)
	a.Turns, a.Files = len(g.asked.Turns), len(g.asked.Files)
	return a
}

func (p *pairing) askedBy(ctx context.Context, g *group, t *purgerewrite.Taken, texts, sentences int) *Asked {
	a := &Asked{Texts: texts, Prose: sentences, Cut: t.Cut, Of: t.Of}
	for _, text := range t.Learned {
		if len(bytes.Fields(text)) > 2 {
			a.Prose++
		}
	}
	var commits []object.Hash
	for _, l := range g.lines {
		commits = slices.AppendSeq(commits, maps.Keys(p.pairs[l]))
		if !slices.Contains(a.Missions, l.id) {
			a.Missions = append(a.Missions, l.id)
		}
	}
	slices.Sort(a.Missions)
	a.By = p.by(commits...)
	if t == &g.asked && t.Cut > 0 {
		for _, id := range a.Missions {
			a.Cut += p.unasked.Cut[id]
		}
	}
	if !a.within() && a.Texts <= mostTexts { // perhaps it is little of what there is
		a.Of = max(a.Of, p.size(ctx, g.lines))
	}
	if a.within() && len(t.Learned) > 0 {
		a.Common = p.common(ctx, t.Learned)
	}
	return a
}

// size returns the bytes of the files of ledgers. Those of the user do not
// count: beside them everything that was said is little.
func (p *pairing) size(ctx context.Context, lines []*line) (bytes int64) {
	for _, l := range lines {
		out, err := p.repo.Output(ctx, nil, "ls-tree", "-r", "-l", "-z", l.tip.String())
		if err != nil {
			continue // it counts as empty
		}
		for entry := range strings.SplitSeq(string(out), "\x00") {
			if what, _, _ := strings.Cut(entry, "\t"); what != "" {
				words := strings.Fields(what)
				n, _ := strconv.ParseInt(words[len(words)-1], 10, 64)
				bytes += n
			}
		}
	}
	return bytes
}

// common returns how many files of HEAD have one of some texts, too many if
// that can't be told.
func (p *pairing) common(ctx context.Context, texts [][]byte) int {
	var patterns []byte
	for _, text := range texts {
		var longest []byte                    // git looks for one line at a time
		for line := range bytes.Lines(text) { // none with a NUL, which git takes for a binary pattern
			if bytes.IndexByte(line, 0) >= 0 {
				continue
			}
			if line = bytes.TrimRight(line, "\r\n"); len(line) > len(longest) {
				longest = line
			}
		}
		if len(longest) > 0 {
			patterns = append(append(patterns, longest...), '\n')
		}
	}
	if len(patterns) == 0 {
		return 0
	}
	out, err := p.repo.Output(ctx, bytes.NewReader(patterns), "grep", "-l", "-z", "-a", "--fixed-strings", "-f", "-", "HEAD")
	if git.Status(err) == 1 { // there is none
		return 0
	}
	if err == nil {
		return bytes.Count(out, []byte{0})
	}
	if _, err := p.repo.Resolve(ctx, "HEAD"); errors.Is(err, git.ErrNotFound) {
		return 0
	}
	return mostFiles + 1
}
