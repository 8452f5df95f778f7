package recorder

import (
	"maps"
	"os"
	"slices"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/internal/owners"
	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// A span is what the journal has about a turn that ends.
type span struct {
	journal.Span
	who  string
	to   int64       // ms
	head object.Hash // as the turn began
}

// claims returns what the sessions have said that they did.
func (p *span) claims() []owners.Claim {
	var list []owners.Claim
	last := make(map[string]int64) // of each session, when it was seen last
	for _, e := range p.Seen {
		from := e.From
		if from == 0 {
			from = max(p.From, last[e.Session])
		}
		last[e.Session] = e.At
		c := owners.Claim{Who: e.Session, From: from, To: e.At, Named: e.Named, Git: e.Git}
		if e.Open {
			c.To = p.to
		}
		any := false
		for _, call := range e.Calls {
			if call.Path != "" {
				c.Paths = append(c.Paths, call.Path)
			} else {
				any = true
			}
		}
		if len(c.Paths) > 0 {
			list = append(list, owners.Claim{Who: c.Who, From: c.From, To: c.To, Paths: c.Paths})
		}
		if any {
			c.Paths = nil
			list = append(list, c)
		}
	}
	return list
}

// untold returns the claims among calls of the session that the journal lacks.
func (p *span) untold(repo *git.Repo, ran []hooks.Ran) (list []owners.Claim) {
	seen := make(map[string]bool)
	for _, e := range p.Seen {
		for _, call := range e.Calls {
			seen[call.ID] = seen[call.ID] || e.Session == p.who
		}
	}
	for _, c := range ran {
		t := touchedBy(repo, Batch{Cwd: c.Cwd, Calls: []hooks.Call{c.Call}})
		if len(t.calls) == 0 || seen[c.ID] || c.To < p.From || c.From > p.to {
			continue
		}
		claim := owners.Claim{Who: p.who, From: c.From, To: c.To, Paths: t.edits, Git: t.git}
		for _, name := range t.names[:min(len(t.names), maxNamed)] {
			if path, ok := snapshot.Inside(repo, name); ok {
				claim.Named = append(claim.Named, path)
			}
		}
		list = append(list, claim)
	}
	return list
}

// quiet reports whether the journal alone shows that nobody else was there, and
// that no file changed twice: most turns are such, and no tree has to be read.
func (p *span) quiet(base, end object.Hash, claims []owners.Claim) bool {
	if p.Began != base {
		return false
	}
	tree, from := base, p.From
	changed := make(map[string]bool)
	for _, e := range p.Seen {
		switch {
		case e.Session != p.who:
			return false
		case e.Tree.IsZero():
			continue
		case e.Tree != tree && len(e.Ctimes) == 0:
			return false
		}
		for path, at := range e.Ctimes {
			c := owners.Change{Ctime: at}
			if at != 0 {
				c.Entry.Mode = filemode.Regular
			}
			if changed[path] || !slices.ContainsFunc(claims, func(claim owners.Claim) bool { return claim.May(path, c, from, e.At) }) {
				return false
			}
			changed[path] = true
		}
		tree, from = e.Tree, e.At
	}
	return tree == end
}

// lacks reports whether the journal lacks calls of the turn's that edited files
// of the worktree: then any change may be of one. Sub-agents' calls are in the
// journal alone. The conversation is read only if there are fewer than counted;
// elsewhere are the calls of which that says that they edited other files. had
// tells of files that are not there whether they were: where a worktree was within
// this one and is gone, they were not.
func (p *span) lacks(repo *git.Repo, t *turns.Turn, segment []byte, had func(path string) bool) (lacks bool, elsewhere []hooks.Call) {
	a := agent.Of(t.Agent)
	edits, unnamed := 0, 0
	for tool, n := range t.Tools {
		if a.Effects(tool) == hooks.Edits {
			edits += n
		}
	}
	seen := make(map[string]bool)
	for _, e := range p.Seen {
		for _, call := range e.Calls {
			switch {
			case e.Session != p.who || e.Agent != "" || a.Effects(call.Tool) != hooks.Edits:
			case call.ID == "":
				unnamed++
			default:
				seen[call.ID] = true
			}
		}
	}
	if edits <= len(seen)+unnamed {
		return false, nil
	}
	edited := transcript.Edited(a.Reader(), segment, func(tool string) bool { return a.Effects(tool) == hooks.Edits })
	maps.DeleteFunc(edited, func(id, path string) bool {
		name := absolute(repo.Top, path)
		at, inside := snapshot.Inside(repo, name)
		if _, err := os.Lstat(name); err != nil {
			inside = inside && had(at)
		}
		if inside = inside || path == ""; !inside {
			elsewhere = append(elsewhere, hooks.Call{ID: id, Effect: hooks.Edits, Paths: []string{name}})
		}
		return seen[id] || !inside
	})
	return len(edited) > unnamed, elsewhere
}

// last returns when the turn's session was seen last, in ms.
func (p *span) last() int64 {
	for _, e := range slices.Backward(p.Seen) {
		if e.Session == p.who {
			return e.At
		}
	}
	return p.From
}
