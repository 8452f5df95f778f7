package hook

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
)

// arrive notes that the session has begun to work in the worktree, and tells of
// company there. Two that arrive at the same moment both note it first, so each
// is told, one of them at its next prompt at the latest.
func (h *hook) arrive(w *workspace.Workspace) error {
	if err := session.PresenceIn(h.repo.GitDir).Arrive(h.event.SessionID); err != nil {
		return err
	}
	return h.company(w)
}

// company tells the agent and its user of other sessions at work in the same
// worktree, once of each. It reads no more than a directory if there are none.
func (h *hook) company(w *workspace.Workspace) error {
	if !w.Settings.Company.Tell {
		return nil
	}
	here := session.PresenceIn(h.repo.GitDir)
	others, err := here.Others(h.event.SessionID)
	if err != nil || len(others) == 0 {
		return err
	}
	slices.SortFunc(others, func(a, b session.Arrival) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Session, b.Session))
	})
	me := w.Store.Load(h.event.SessionID)
	me.Client = session.ReadClient(h.client.PID)
	var left []error
	var fresh []companion
	for _, o := range others[:min(len(others), handoffstore.MaxSessions)] {
		switch st := w.Store.Load(o.Session); {
		case st.Ended || st.Worktree != h.repo.GitDir:
			left = append(left, here.Leave(o.Session))
		case !w.Store.WasTold(me.Session, companyOf(o.Session)):
			fresh = append(fresh, companion{st, o.At})
		}
	}
	if len(fresh) > 0 {
		registry, err := agent.Running(os.Getenv)
		if err != nil {
			return err // whether they live can't be told
		}
		fresh = slices.DeleteFunc(fresh, func(c companion) bool {
			p := session.Peer{Known: c.Known, Liveness: session.LivenessOf(c.Known, registry)}
			return !p.Runs(registry, h.at) || !p.Beside(me, h.repo.GitDir) || !w.Store.Tell(me.Session, companyOf(c.Session), tellOf([]companion{c}, ""))
		})
	}
	if len(fresh) > 0 {
		text := tellOf(fresh, apart(h.repo, me.Session, fresh))
		h.add(hooks.Answer{Event: h.event.Name, Model: text, User: text})
	}
	return errors.Join(left...)
}

// companyOf is the kind of what a session is told about another one.
func companyOf(id string) string {
	sum := sha256.Sum256([]byte(id)) // two ids may be longer than a file's name
	return fmt.Sprintf("company-%x", sum[:8])
}

// A companion is another session at work in the worktree.
type companion struct {
	*session.Known
	since time.Time
}

// String says who it is, in our words: nothing of the session's own.
func (c companion) String() string {
	title, mission := "an agent", ""
	if a, ok := agent.Find(c.Agent); ok {
		title = a.Title
	}
	if c.Mission.Valid() {
		mission = fmt.Sprintf("mission %s, ", c.Mission)
	}
	return fmt.Sprintf("%s (%ssince %s)", title, mission, c.since.UTC().Format(time.RFC3339))
}

// head returns HEAD's commit as the session last saw it.
func (c companion) head() object.Hash {
	switch {
	case c.Open != nil:
		return c.Open.Head
	case c.Last != nil:
		return c.Last.Head
	}
	return object.Hash{}
}

const maxNamed = 3 // companions that are named

// tellOf tells of company, the agent and the user alike. command is how to work
// apart, "" if none is known to work.
func tellOf(list []companion, command string) string {
	var names []string
	for _, c := range list[:min(len(list), maxNamed)] {
		names = append(names, c.String())
	}
	if more := len(list) - len(names); more > 0 {
		names = append(names, cmdline.Plural(more, "more session"))
	}
	text := fmt.Sprintf("git-agent: beside this session, %s at work in this checkout. Each turn's own change is told apart as far as possible, "+
		"but a reset, a checkout or a stash takes the work of all along", verb(names, len(list)))
	if command != "" {
		return text + "; to work apart: " + command
	}
	return text + "."
}

func verb(names []string, n int) string {
	if n == 1 {
		return names[0] + " is"
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last] + " are"
}

// maxPlace bounds the path of a worktree that is proposed.
const maxPlace = 512

// apart returns the command that makes a worktree for a session, beside the
// repository, or "" if it would fail: git makes none of an unborn branch.
func apart(repo *git.Repo, id string, list []companion) string {
	mission, err := record.OfSession(id, 8)
	if err != nil || !slices.ContainsFunc(list, func(c companion) bool { return !c.head().IsZero() }) {
		return ""
	}
	main := repo.Top
	if filepath.Base(repo.CommonDir) == ".git" {
		main = filepath.Dir(repo.CommonDir)
	}
	dir := filepath.Dir(main)
	path := filepath.Join(dir, branchable(filepath.Base(main))+"-"+string(mission))
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || len(path) > maxPlace || !writable(dir) {
		return ""
	}
	return cmdline.Shell([]string{"git", "worktree", "add", path})
}

// branchable makes a name one that a branch may have as well: git names the
// branch of a new worktree after it.
func branchable(name string) string {
	name = strings.Map(func(r rune) rune {
		if r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' {
			return r
		}
		return '-'
	}, name)
	return cmp.Or(strings.TrimLeft(name, "-"), "worktree")
}
