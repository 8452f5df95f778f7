package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/turns"
)

const (
	// manyRefs freed refs are worth advice: 1,000 are 72 KB of each push.
	manyRefs = 1000
	// sampled is how many missions are measured at most, for averages.
	sampled = 100
)

// sizes reports what missions cost, and what commands would free.
func (x *examination) sizes(c config.Capture, now time.Time) {
	refs, err := x.repo.Refs(x.ctx, "refs/agent/missions/", "refs/notes/agent/", "refs/heads/"+c.BranchPrefix)
	if err != nil {
		x.problem("missions", err.Error(), "")
		return
	}
	m := measure(refs, c.BranchPrefix)
	archived, unread := ledger.ListArchived(x.ctx, x.repo)
	if unread != nil && !errors.As(unread, new(*ledger.UnreadError)) {
		x.problem("missions", unread.Error(), "")
	}
	text := fmt.Sprintf("%d with %s, which are %s of each push; %d archived",
		m.missions(), cmdline.Plural(m.refs, "ref"), cmdline.Size(m.advertised), len(archived))
	x.figures("missions", text, map[string]int64{"missions": int64(m.missions()), "refs": int64(m.refs), "advertised": m.advertised, "archived": int64(len(archived))})
	each := x.perMission(refs, m, c.BranchPrefix)
	x.toFree(m, each, now)
	for _, dir := range []struct{ path, what string }{
		{filepath.Join(x.repo.CommonDir, "objects"), "of objects, the user's own among them"},
		{session.Open(x.repo.CommonDir).Dir().Path("."), "of local state"},
		{filepath.Join(handoffstore.DataDir(os.Getenv), "handoffs"), "of copies of handoffs, of all repositories"},
	} {
		if n, err := size(dir.path); err == nil && n > 0 {
			x.figures("size", cmdline.Size(n)+" "+dir.what, map[string]int64{"bytes": n})
		}
	}
}

func (x *examination) figures(what, text string, figures map[string]int64) {
	x.add(finding{Level: fine, What: what, Text: text, Figures: figures})
}

// A measured is the cost of all missions' refs.
type measured struct {
	of         map[record.ID]cost
	refs       int
	advertised int64 // bytes
}

// A cost is what one mission's refs cost.
type cost struct {
	refs       int
	advertised int64
	ledger     object.Hash // zero if there is none
}

func (m *measured) missions() (n int) {
	for _, c := range m.of {
		if !c.ledger.IsZero() {
			n++
		}
	}
	return n
}

// measure computes what refs cost. A push is told of each ref in a line: its
// length in 4 digits, the hash, a space, the name and a newline.
func measure(refs map[string]object.Hash, prefix string) *measured {
	m := &measured{of: make(map[record.ID]cost)}
	for ref, tip := range refs {
		id, isLedger := strings.CutPrefix(ref, "refs/agent/missions/")
		for _, before := range []string{"refs/notes/agent/", "refs/heads/" + prefix} {
			id = strings.TrimPrefix(id, before)
		}
		line := int64(4 + tip.Format().Digits() + 1 + len(ref) + 1)
		c := m.of[record.ID(id)]
		c.refs++
		c.advertised += line
		if isLedger {
			c.ledger = tip
		}
		m.of[record.ID(id)] = c
		m.refs++
		m.advertised += line
	}
	return m
}

// perMission returns a mission's average objects, from a sample if need be.
func (x *examination) perMission(refs map[string]object.Hash, m *measured, prefix string) (each git.DiskUse) {
	if m.missions() == 0 || x.conf.Promisor() != "" { // git would fetch what it counts
		return each
	}
	var tips []object.Hash
	ids := sample(m, sampled)
	for _, id := range ids {
		tips = append(tips, m.of[id].ledger)
		if notes := refs[id.NotesRef()]; !notes.IsZero() {
			tips = append(tips, notes)
		}
	}
	all, err := git.Usage(x.ctx, x.repo, tips, prefix)
	if err != nil {
		x.add(unreadable("missions", fmt.Errorf("their objects could not be counted: %w", err)))
		return each
	}
	n := int64(len(ids))
	each = git.DiskUse{Objects: all.Objects / n, Bytes: all.Bytes / n}
	text := fmt.Sprintf("%s and %s each", cmdline.Plural(int(each.Objects), "object"), cmdline.Size(each.Bytes))
	if len(ids) < m.missions() {
		text += fmt.Sprintf(", by %d of them", n)
	}
	x.figures("missions", text, map[string]int64{"objects": each.Objects, "bytes": each.Bytes, "measured": n})
	return each
}

// sample returns at most most missions with a ledger, spread evenly over their
// ids, which are random.
func sample(m *measured, most int) []record.ID {
	var ids []record.ID
	for id, c := range m.of {
		if !c.ledger.IsZero() {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	if len(ids) <= most {
		return ids
	}
	some := make([]record.ID, most)
	for i := range some {
		some[i] = ids[i*len(ids)/most]
	}
	return some
}

// archiving reports what archiving would free, and advises it if that is much.
func archiving(old int64, gone cost) finding {
	const command = "git agent-turn archive"
	text := fmt.Sprintf("%s of %s without a turn in %s, %s of each push", cmdline.Plural(gone.refs, "ref"),
		cmdline.Plural(int(old), "mission"), archiveAge, cmdline.Size(gone.advertised))
	f := finding{Level: fine, What: "to free", Text: command + ": " + text}
	if gone.refs >= manyRefs {
		f = finding{Level: warning, What: "refs", Text: text, Remedy: command}
	}
	f.Figures = map[string]int64{"missions": old, "refs": int64(gone.refs), "advertised": gone.advertised}
	return f
}

// toFree reports what commands would free.
func (x *examination) toFree(m *measured, each git.DiskUse, now time.Time) {
	lines, err := turns.Missions(x.ctx, x.repo)
	if err != nil && !errors.As(err, new(*ledger.UnreadError)) {
		x.problem("missions", err.Error(), "")
		return
	}
	age, _ := config.ParseAge(archiveAge)
	var old int64
	var gone cost
	for _, l := range lines {
		if isOlder(l, now.Add(-age)) {
			old++
			gone.refs += m.of[l.ID].refs
			gone.advertised += m.of[l.ID].advertised
		}
	}
	if old > 0 {
		x.add(archiving(old, gone))
		if each.Objects > 0 {
			x.figures("to free", fmt.Sprintf("git agent-turn remove --older-than %s: about %s and %s, of as many missions, for good",
				archiveAge, cmdline.Plural(int(old*each.Objects), "object"), cmdline.Size(old*each.Bytes)),
				map[string]int64{"missions": old, "objects": old * each.Objects, "bytes": old * each.Bytes})
		}
	}
	d, err := git.Disorders(x.ctx, x.repo)
	if err != nil {
		x.say("to free", err.Error())
		return
	}
	if d.Loose.Objects+int64(d.LooseRefs) > 0 {
		x.figures("to free", fmt.Sprintf("git gc: packs %s of %s, %s and %s", cmdline.Plural(int(d.Loose.Objects), "loose object"), cmdline.Size(d.Loose.Bytes),
			cmdline.Plural(int(d.Packs), "pack"), cmdline.Plural(d.LooseRefs, "loose ref")),
			map[string]int64{"objects": d.Loose.Objects, "bytes": d.Loose.Bytes, "packs": d.Packs, "refs": int64(d.LooseRefs)})
	}
}

// size returns the number of bytes in the files below dir.
func size(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // git may have packed it
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}
