package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/gitdiff"
	"gitagent/internal/objectpurge"
	"gitagent/internal/purge"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
)

// sayPlan prints what a purge would do, and what it can't.
func sayPlan(c *cli.Context, w *workspace.Workspace, p *purge.Plan) error {
	out := c.App.Writer
	columns := cmdline.Columns(out)
	say := func(label, format string, args ...any) {
		fmt.Fprintln(out, cmdline.Labelled(fmt.Sprintf("%-10s", label), cmdline.OneLine(fmt.Sprintf(format, args...)), columns))
	}
	for _, line := range foundIn(p.Found) {
		say("found", "%s", line)
	}
	for _, id := range p.Target.Missions {
		say("goes", "mission %s, with all that no other one needs", id)
	}
	if p.Objects > 0 {
		say("goes", "%s: what holds it, and what leads to that", cmdline.Plural(p.Objects, "object"))
	}
	for _, file := range p.Files {
		say("goes", "from %s", file)
	}
	for commits := p.Commits; len(commits) > 0; {
		after := likeFirst(commits)
		text := describe(commits[0])
		if after > 0 {
			text += fmt.Sprintf("; so do %s that come after it", cmdline.Plural(after, "commit"))
			if after == 1 {
				text = strings.Replace(text, "so do", "so does", 1)
			}
		}
		say("yours", "%s", text)
		commits = commits[1+after:]
	}
	pushed, err := branchesAt(c, w, p.Pushed)
	if err != nil {
		return err
	}
	for _, b := range pushed {
		say("pushed", "%s has it: a fetch brings it back until it is replaced there, which is yours to do", b.name)
	}
	for _, s := range sayStays(w.Repo, p.Stays) {
		say("stays", "in %s", s)
	}
	sayFiles(say, "worktree", p.Worktree, "take it out there")
	sayFiles(say, "client", p.Clients, "delete what you don't need")
	if text := sayCommon(p.Common); text != "" {
		if !c.Bool("common") {
			text += ", which needs --common"
		}
		say("common", "it stands %s: it is cut out of all that is recorded from then on, in every clone", text)
	}
	if p.Trust.Keys().Own == nil {
		say("key", "there is none, so other clones don't learn of this: they keep what goes, and may send it again; see: git agent-turn doctor")
	}
	if err := sayRemotes(c, w, say); err != nil {
		return err
	}
	if p.Target.Finder != nil {
		say("rotate", "what it opens: who has fetched it, or read it at a host, has it")
	}
	return nil
}

// sayCommon says where something stands that is no secret by that, or "".
func sayCommon(c purge.Common) string {
	var where []string
	if n := len(c.Paths); n > commonPaths {
		where = append(where, fmt.Sprintf("in %d files", n))
	}
	if c.Turns > commonTurns {
		where = append(where, fmt.Sprintf("in %d turns", c.Turns))
	}
	if c.Texts > commonTexts {
		where = append(where, fmt.Sprintf("as %d different texts", c.Texts))
	}
	if len(c.Head) > 0 {
		where = append(where, "in HEAD ("+someOf(c.Head)+")")
	}
	return strings.Join(where, ", ")
}

// sayBeside names other files that have the text, if there is nothing to purge.
func sayBeside(c *cli.Context, p *purge.Plan) {
	for _, file := range slices.Concat(p.Worktree, p.Clients) {
		cmdline.WriteMessage(c.App.ErrWriter, "", "it is in "+cmdline.Escape(file)+", which stays as it is")
	}
}

func sayRemotes(c *cli.Context, w *workspace.Workspace, say func(label, format string, args ...any)) error {
	conf, err := w.Repo.Config(c.Context)
	if err != nil {
		return err
	}
	remotes, err := remote.Consenting(c.Context, w, conf)
	for _, r := range remotes {
		say("remote", "%s was sent missions: you are asked whether to replace what it has; clones of it have it until they fetch", r)
	}
	return err
}

// foundIn formats finds, one line for each turn with the kinds of its texts.
func foundIn(found map[purgerewrite.Find]int) []string {
	type key struct {
		mission       record.ID
		turn, handoff int
		fate          purgerewrite.Fate
	}
	kinds := make(map[key]map[string]int)
	for f, n := range found {
		k := key{f.Mission, f.Turn, f.Handoff, f.Fate}
		if kinds[k] == nil {
			kinds[k] = make(map[string]int)
		}
		what := string(f.Kind)
		if f.Path != "" {
			what += " " + gitdiff.QuotePath(f.Path, false)
		}
		kinds[k][what] += n
	}
	keys := slices.SortedFunc(maps.Keys(kinds), func(a, b key) int {
		return cmp.Or(strings.Compare(string(a.mission), string(b.mission)), a.turn-b.turn, a.handoff-b.handoff, strings.Compare(string(a.fate), string(b.fate)))
	})
	var lines []string
	for _, k := range keys {
		line := "mission " + string(k.mission)
		if k.mission == "" {
			line = "no mission"
		}
		if k.turn > 0 {
			line += fmt.Sprintf(", turn %d", k.turn)
		}
		if k.handoff > 0 {
			line += fmt.Sprintf(", handoff %d", k.handoff)
		}
		if k.fate != purgerewrite.Redacted {
			line += ", " + string(k.fate)
		}
		lines = append(lines, line+": "+strings.Join(slices.Sorted(maps.Keys(kinds[k])), ", "))
	}
	return lines
}

// describe says why a purge affects a commit of the user, and what they can do.
func describe(commit purge.RewrittenCommit) string {
	branch := strings.TrimPrefix(commit.Branch, "refs/heads/")
	text := fmt.Sprintf("%.12s %q on %s", commit.Hash, commit.Line, branch)
	if len(commit.Paths) > 0 {
		text += " has it in " + strings.Join(commit.Paths, ", ")
	}
	if onto := commit.Onto; !onto[0].IsZero() && !onto[1].IsZero() {
		text += fmt.Sprintf("; it sits on a turn that is rewritten; --rewrite-mine moves it, and so does: git rebase --onto %.12s %.12s %s", onto[1], onto[0], cmdline.Shell([]string{branch}))
	}
	return text
}

// likeFirst returns how many commits after the first are on its branch, have
// the text in the same files, and need no other remark.
func likeFirst(commits []purge.RewrittenCommit) (n int) {
	for _, c := range commits[1:] {
		if c.Branch != commits[0].Branch || !slices.Equal(c.Paths, commits[0].Paths) || !c.Onto[0].IsZero() {
			break
		}
		n++
	}
	return n
}

// maxNamed is how many files, and entries of a log, are named.
const maxNamed = 10

func sayFiles(say func(label, format string, args ...any), label string, files []string, remedy string) {
	if len(files) == 1 {
		say(label, "%s has it, and stays as it is: %s", files[0], remedy)
		return
	}
	for i, file := range files {
		if i == maxNamed {
			say(label, "%d more files have it, and stay as they are", len(files)-i)
			return
		}
		if i == 0 {
			say(label, "%d files have it, and stay as they are: %s", len(files), remedy)
		}
		say(label, "%s", file)
	}
}

// A pushedBranch is a user's branch at a remote; a purge keeps it there.
type pushedBranch struct {
	name    string
	replace string // a command; "" if the remote is unknown
}

// branchesAt returns where branches that a purge moves were pushed to.
func branchesAt(c *cli.Context, w *workspace.Workspace, pushed []git.Update) (list []pushedBranch, err error) {
	names, err := remote.Names(c.Context, w.Repo)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, u := range pushed {
		b := pushedBranch{name: u.Ref}
		for _, name := range names {
			branch, ok := strings.CutPrefix(u.Ref, "refs/remotes/"+name+"/")
			if !ok {
				continue
			}
			b.name = fmt.Sprintf("%s at %s", branch, name)
			if !u.New.IsZero() { // the old value is gone here, and the ref replaces it
				ref := "refs/heads/" + branch
				b.replace = cmdline.Shell([]string{"git", "push", fmt.Sprintf("--force-with-lease=%s:%s", ref, u.Old), name, u.Ref + ":" + ref})
			}
			break
		}
		list = append(list, b)
	}
	return list, nil
}

// sayStays names what keeps objects, and the command that releases it, if any.
// A log's entries stand together, oldest first: the others keep their numbers.
func sayStays(repo *git.Repo, stays []purge.Stay) (lines []string) {
	logs := make(map[string][]int)
	has := func(kind objectpurge.Kind) bool {
		return slices.ContainsFunc(stays, func(s purge.Stay) bool { return s.Kind == kind })
	}
	for _, s := range stays {
		if s.Kind == objectpurge.Log {
			logs[s.Ref] = append(logs[s.Ref], s.Entry)
		}
	}
	for _, s := range stays {
		switch {
		case s.Kind == objectpurge.Log:
			if entries := logs[s.Ref]; len(entries) > 0 {
				lines = append(lines, sayLog(repo, s.Ref, entries))
			}
			delete(logs, s.Ref)
		case s.Kind == objectpurge.Ref && s.Ref == "refs/stash" && has(objectpurge.Stash): // its entries are named
		case s.Kind == objectpurge.Index && s.Worktree != "" && len(s.Files) == 0 && has(objectpurge.Ref):
			// It equals HEAD, which is named.
		default:
			lines = append(lines, stay(s))
		}
	}
	return lines
}

func sayLog(repo *git.Repo, ref string, entries []int) string {
	if ref == "HEAD" && repo.GitDir != repo.CommonDir {
		ref = "main-worktree/HEAD" // its name in a linked worktree
	}
	slices.SortFunc(entries, func(a, b int) int { return b - a })
	if len(entries) > maxNamed {
		return fmt.Sprintf("%d entries of the log of %s; drop all of that log with: git reflog expire --expire=all %s", len(entries), ref, cmdline.Shell([]string{ref}))
	}
	words := []string{"git", "reflog", "delete"}
	for _, n := range entries {
		words = append(words, fmt.Sprintf("%s@{%d}", ref, n))
	}
	if len(entries) == 1 {
		return fmt.Sprintf("entry %d of the log of %s; drop it with: %s", entries[0], ref, cmdline.Shell(words))
	}
	return fmt.Sprintf("%d entries of the log of %s; drop them with: %s", len(entries), ref, cmdline.Shell(words))
}

func stay(s purge.Stay) string {
	switch s.Kind {
	case objectpurge.Stash:
		return fmt.Sprintf("stash %d; drop it with: git stash drop %d", s.Entry, s.Entry)
	case objectpurge.Index:
		if len(s.Files) == 0 {
			return "the index " + s.Path
		}
		files := s.Files
		if len(files) > maxNamed {
			files = []string{"."}
		}
		return fmt.Sprintf("what is staged; take it out with: %s", cmdline.Shell(append([]string{"git", "-C", s.Worktree, "restore", "--staged", "--"}, files...)))
	case objectpurge.File:
		return s.Path
	}
	switch {
	case strings.HasPrefix(s.Ref, "refs/remotes/"):
		return s.Ref + ", which was pushed: it goes when that is replaced there, and fetched"
	case strings.HasPrefix(s.Ref, "refs/tags/"):
		return fmt.Sprintf("%s; drop it with: git tag -d %s", s.Ref, cmdline.Shell([]string{strings.TrimPrefix(s.Ref, "refs/tags/")}))
	}
	return s.Ref
}

// errStays reports that something of the user keeps the purged text.
var errStays = cmdline.Hint(errors.New("it stays in what is yours"),
	"let go of these as it says there, or let purge rewrite commits of yours with --rewrite-mine, and purge it again")

// staying returns errStays if a plan can't remove the text everywhere.
func staying(p *purge.Plan) error {
	if len(p.Stays) > 0 {
		return errStays
	}
	return nil
}

func sayPurged(c *cli.Context, w *workspace.Workspace, done *purge.Result) error {
	out := c.App.Writer
	columns := cmdline.Columns(out)
	_, err := fmt.Fprintln(out, cmdline.Labelled("purged: ", fmt.Sprintf("%s moved, %s erased, %s and %s rewritten", cmdline.Plural(done.Refs, "ref"),
		cmdline.Plural(done.Erased.Objects, "object"), cmdline.Plural(done.Erased.Packs, "pack"), cmdline.Plural(done.Files, "file")), columns))
	if err != nil {
		return err
	}
	stays := func(where string) { fmt.Fprintln(out, cmdline.Labelled("stays in ", cmdline.OneLine(where), columns)) }
	for _, s := range sayStays(w.Repo, done.Stays) {
		stays(s)
	}
	left := len(done.Stays)
	for _, dir := range done.Erased.Elsewhere {
		left++
		stays(dir + ", which this repository borrows from")
	}
	if s := done.Searched; s != nil {
		for _, f := range s.Found {
			switch {
			case f.Path != "":
				stays(f.Path)
			case left == 0: // otherwise they were named above
				stays(fmt.Sprintf("%s %s", f.Type, f.Object))
			}
		}
		for _, h := range s.Unread {
			fmt.Fprintf(out, "object %s is damaged, and can't be searched\n", h)
		}
		left = max(left, len(s.Found))
		fmt.Fprintf(out, "searched %s and %s: %s\n", cmdline.Plural(s.Objects, "object"), cmdline.Plural(s.Files, "file"), sayFound(s))
	}
	pushed, err := branchesAt(c, w, done.Pushed)
	if err != nil {
		return err
	}
	for _, b := range pushed {
		text := b.name + " still has it, and a fetch or pull brings it back"
		if b.replace != "" {
			text += "; replace it there with: " + b.replace
		}
		cmdline.WriteMessage(c.App.ErrWriter, "git-agent-turn: warning: ", cmdline.OneLine(text))
	}
	sayVisited(c, w)
	switch {
	case left == 0 && done.Searched != nil && len(done.Searched.Unread) > 0:
		return errors.New("not everything could be searched")
	case left == 0:
		return nil
	case len(done.Stays)+len(done.Erased.Elsewhere) == 0: // the search found it in what is ours
		return errors.New("it is not out of everything")
	}
	return errStays
}

func sayFound(s *objectpurge.Searched) string {
	switch n := len(s.Found); {
	case n > 0:
		return fmt.Sprintf("it is in %d of them", n)
	case len(s.Unread) > 0:
		return "it is in none that could be read"
	}
	return "it is in none"
}
