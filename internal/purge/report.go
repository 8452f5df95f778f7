package purge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/objectpurge"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/transcript"
)

// A Report says where something was found, what goes and what stays. It never
// quotes the secret.
type Report struct {
	Found    map[purgerewrite.Find]int
	Objects  int               // that hold it or lead to it, and go
	Files    []string          // of ours, which are rewritten
	Commits  []RewrittenCommit // of the user's own
	Pushed   []git.Update
	Stays    []Stay
	Worktree []string // files of worktrees that hold it
	Clients  []string // files of clients that hold it

	Common Common
}

// A Common says how common what was found is.
type Common struct {
	Texts int      // different ones that were found
	Turns int      // whose texts or files have it
	Paths []string // of files, in states, worktrees and branches; each once
	Head  []string // files that HEAD of a worktree goes on to have; the first ones
}

// A RewrittenCommit is a commit of the user's own, on a branch, to be
// rewritten.
type RewrittenCommit struct {
	Hash   object.Hash
	Branch string         // full name
	Line   string         // the first line of its message; redacted
	Paths  []string       // files of it that hold the secret
	Onto   [2]object.Hash // the replaced turn's commit that it sits on and its successor, or zero
}

// A Stay is something of the user's that keeps what should go.
type Stay struct {
	objectpurge.Root
	Worktree string   // of an index; "" for one that no worktree has
	Files    []string // that are staged there, from its top; none if it is as HEAD has it
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool {
	return len(p.updates) == 0 && len(p.goes) == 0 && len(p.Files) == 0
}

// report searches the repository, our files, worktrees and clients.
func (p *Plan) report(ctx context.Context) error {
	p.Found = p.rewrite.Found()
	leading, err := p.leading(ctx)
	if err != nil {
		return err
	}
	roots, err := leading.Roots(ctx, p.Repo, p.has())
	if err != nil {
		return err
	}
	if err := p.commitsOf(ctx, leading); err != nil {
		return err
	}
	if err := p.inHeads(ctx, leading); err != nil {
		return err
	}
	roots = slices.DeleteFunc(roots, func(r objectpurge.Root) bool { return p.goesWith(r) })
	if p.Stays, err = p.staysIn(ctx, roots); err != nil {
		return err
	}
	p.Pushed = p.pushed()
	p.goes = leading.Without(roots)
	p.Objects = len(p.goes)
	if p.Files, err = p.scrub().holding(p.dirs()); err != nil {
		return err
	}
	if info, err := p.Store.Dir().Lstat(unsearched); err == nil && info.IsDir() && !p.Empty() {
		p.Files = append(p.Files, p.Store.Dir().Path(unsearched))
	}
	pages, err := p.Store.LeftPages() // whatever they hold
	if err != nil {
		return err
	}
	if !p.Empty() {
		p.Files = append(p.Files, pages...)
	}
	if err := p.worktrees(ctx); err != nil {
		return err
	}
	if err := p.common(); err != nil {
		return err
	}
	return p.clients()
}

// inHeads finds what stays in HEAD of a worktree.
func (p *Plan) inHeads(ctx context.Context, leading *objectpurge.Referrers) error {
	if p.Target.Finder == nil {
		return nil
	}
	for _, w := range p.checkouts {
		if w.Head.IsZero() || p.replaced(w.Head) && p.moved(w.Branch) {
			continue
		}
		tree, err := p.objects.TreeOf(w.Head)
		var paths []string
		if err == nil {
			paths, err = p.paths(leading, tree, "")
		}
		if err != nil && !git.Lost(err) {
			return err
		}
		p.Common.Head = append(p.Common.Head, paths...)
	}
	slices.Sort(p.Common.Head)
	p.Common.Head = slices.Compact(p.Common.Head)
	return nil
}

func (p *Plan) common() error {
	if p.Target.Finder == nil {
		return nil
	}
	seen := make(map[string]bool)
	for _, path := range p.Common.Head {
		seen[path] = true
	}
	for _, c := range p.Commits {
		for _, path := range c.Paths {
			seen[path] = true
		}
	}
	turns := make(map[record.TurnID]bool)
	for f := range p.Found {
		if f.Turn > 0 {
			turns[record.TurnID{Mission: f.Mission, Turn: f.Turn}] = true
		}
		if f.Kind == purgerewrite.Code || f.Kind == purgerewrite.FileName {
			seen[f.Path] = true
		}
	}
	for _, file := range p.Worktree {
		for _, w := range p.checkouts { // the same file may be in several worktrees
			if name, ok := git.Within(w.Path, file); ok {
				seen[name] = true
				break
			}
		}
	}
	p.Common.Texts, p.Common.Turns = len(p.secrets), len(turns)
	p.Common.Paths = slices.Sorted(maps.Keys(seen))
	return nil
}

// pushed returns remotes' copies of the user's branches that are replaced here,
// which the next fetch would bring back.
func (p *Plan) pushed() (list []git.Update) {
	for _, u := range p.updates {
		id := record.ID(u.Ref[strings.LastIndexByte(u.Ref, '/')+1:])
		ours := strings.HasSuffix(u.Ref, strings.TrimPrefix(p.Branch(id), "refs/heads"))
		if !ours && strings.HasPrefix(u.Ref, "refs/remotes/") {
			list = append(list, u)
		}
	}
	return list
}

// staysIn adds which files the user has staged in an index that stays.
func (p *Purge) staysIn(ctx context.Context, roots []objectpurge.Root) ([]Stay, error) {
	list := make([]Stay, len(roots))
	if len(roots) == 0 {
		return list, nil
	}
	worktrees, err := p.Repo.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for i, r := range roots {
		list[i].Root = r
		for _, w := range worktrees {
			repo, err := git.Find(w.Path)
			if r.Kind != objectpurge.Index || err != nil || filepath.Join(repo.GitDir, "index") != r.Path {
				continue
			}
			list[i].Worktree = w.Path
			if list[i].Files, err = p.stagedOf(ctx, repo, w.Head, r.Hashes); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// stagedOf returns the files of an index that have contents HEAD lacks there.
func (p *Purge) stagedOf(ctx context.Context, repo *git.Repo, head object.Hash, contents []object.Hash) (files []string, err error) {
	staged, err := stagedIn(ctx, repo)
	if err != nil {
		return nil, err
	}
	objects := p.Repo.Objects(ctx)
	defer objects.Close()
	var tree object.Hash
	if !head.IsZero() {
		if tree, err = objects.TreeOf(head); err != nil {
			return nil, err
		}
	}
	for path, e := range staged {
		if !slices.Contains(contents, e.Hash) {
			continue
		}
		name, _, _ := strings.Cut(path, "\x00")
		var was object.Entry
		if !tree.IsZero() {
			if was, err = objects.Lookup(tree, name); err != nil {
				return nil, err
			}
		}
		if was.Hash != e.Hash {
			files = append(files, p.clean(name))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// learn keeps, in memory only, the secret as an object decoded spells it.
func (p *Plan) learn(t plumbing.ObjectType, h object.Hash) error {
	content, err := p.objects.Read(t, h, maxFile)
	if errors.Is(err, git.ErrTooLarge) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, text := range p.Target.Finder.Found(content) {
		if !slices.ContainsFunc(p.secrets, func(s []byte) bool { return bytes.Equal(s, text) }) {
			p.secrets = append(p.secrets, text)
		}
	}
	return nil
}

// has returns what looks for the secret, or nil.
func (p *Purge) has() func([]byte) bool {
	if p.Target.Finder == nil {
		return nil
	}
	return func(text []byte) bool { return len(p.Target.Finder.Spans(text)) > 0 }
}

// goesWith reports whether a root leads to nothing that goes after the purge,
// as a ref that moves or something that git noted of ours.
func (p *Plan) goesWith(r objectpurge.Root) bool {
	switch r.Kind {
	case objectpurge.Ref:
		if slices.ContainsFunc(p.updates, func(u git.Update) bool { return u.Ref == r.Ref }) {
			return true
		}
	case objectpurge.Index:
		if p.follows(r) {
			return true
		}
	}
	return own(p.Repo, r, p.replaced)
}

// own reports whether something that git noted is only about replaced objects.
func own(repo *git.Repo, r objectpurge.Root, replaced func(object.Hash) bool) bool {
	switch r.Kind {
	case objectpurge.Ref:
		return !strings.Contains(r.Ref, "refs/") && noted[path.Base(r.Ref)]
	case objectpurge.Log:
		if strings.HasPrefix(r.Ref, "refs/agent/") || strings.HasPrefix(r.Ref, "refs/notes/agent/") || git.IsKeeper(r.Ref) {
			return true
		}
		return len(r.Hashes) > 0 && !slices.ContainsFunc(r.Hashes, func(h object.Hash) bool { return !replaced(h) })
	case objectpurge.File, objectpurge.Index:
		return noted[filepath.Base(r.Path)] || slices.ContainsFunc(stateDirs(repo), func(dir *statedir.Dir) bool {
			_, within := git.Within(dir.Path("."), r.Path)
			return within
		})
	}
	return false
}

// noted are files or refs in which git notes the past, which go.
var noted = map[string]bool{"ORIG_HEAD": true, "FETCH_HEAD": true, "COMMIT_EDITMSG": true, "AUTO_MERGE": true}

// follows reports whether what an index has of what goes all follows HEAD. Git
// forgets its cached trees then.
func (p *Plan) follows(r objectpurge.Root) bool {
	staged, ok := p.staged[r.Path]
	return ok && !slices.ContainsFunc(r.Hashes, func(h object.Hash) bool { return staged[h] })
}

// commitsOf finds commits on the user's branches that lead to what goes.
func (p *Plan) commitsOf(ctx context.Context, leading *objectpurge.Referrers) error {
	ours := p.rewrite.Ours()
	seen := make(map[object.Hash]bool)
	for _, ref := range slices.Sorted(maps.Keys(p.refs)) {
		if !strings.HasPrefix(ref, "refs/heads/") || !leading.Has(p.refs[ref]) {
			continue
		}
		out, err := p.Repo.Output(ctx, nil, "rev-list", "--topo-order", "--reverse", p.refs[ref].String(), "--")
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(out)) {
			h := object.NewHash(strings.TrimSpace(line))
			if seen[h] || ours[h] || !leading.Has(h) {
				continue
			}
			seen[h] = true
			c, err := p.objects.Commit(h)
			if err != nil {
				return err
			}
			found := RewrittenCommit{Hash: h, Branch: ref, Line: p.clean(firstLine(c.Message))}
			for _, parent := range c.Parents {
				if ours[parent] && p.replaced(parent) {
					found.Onto = [2]object.Hash{parent, p.rewrite.Successor(parent)}
				}
			}
			if found.Paths, err = p.paths(leading, c.Tree, ""); err != nil {
				return err
			}
			p.Commits = append(p.Commits, found)
		}
	}
	return nil
}

func (p *Purge) clean(text string) string {
	if p.Target.Finder == nil {
		return text
	}
	return string(p.Target.Finder.Replace([]byte(text)))
}

func firstLine(message string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(message), "\n")
	return line
}

const maxPaths = 20

func (p *Plan) paths(leading *objectpurge.Referrers, tree object.Hash, dir string) (list []string, err error) {
	if !leading.Has(tree) {
		return nil, nil
	}
	entries, err := p.objects.Tree(tree, git.MaxTree)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		e, path := entries[name], dir+name
		if !leading.Has(e.Hash) || len(list) >= maxPaths {
			continue
		}
		if !e.Mode.IsFile() {
			below, err := p.paths(leading, e.Hash, path+"/")
			if err != nil {
				return nil, err
			}
			list = append(list, below...)
			continue
		}
		list = append(list, p.clean(path))
	}
	return list[:min(len(list), maxPaths)], nil
}

// maxFile bounds the files of worktrees and clients that are searched.
const maxFile = ledger.MaxSegment

// holds reports whether a regular, readable file holds the secret.
func (p *Purge) holds(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && p.has()(text)
}

// tells is [Purge.holds] of a client's file, which may be packed.
func (p *Purge) tells(path string) bool {
	r, err := transcript.Open(path)
	if err != nil {
		return false
	}
	defer r.Close()
	text, _ := io.ReadAll(io.LimitReader(r, maxFile)) // of a damaged one, too
	return p.has()(text)
}

// worktrees finds the files with it that the next turn would record.
func (p *Plan) worktrees(ctx context.Context) error {
	args := []string{"ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"}
	switch {
	case len(p.Target.Paths.Specs) > 0:
		args = append(args, p.Target.Paths.Specs...)
	case p.Target.Finder == nil:
		return nil
	}
	for _, w := range p.checkouts {
		if _, err := git.Find(w.Path); errors.Is(err, fs.ErrNotExist) || errors.Is(err, git.ErrNotFound) {
			continue
		}
		for _, all := range []bool{false, true} {
			if all && len(p.Target.Paths.Specs) == 0 || !all && p.Target.Finder == nil {
				continue
			}
			dir, asked := w.Path, args
			if !all {
				asked = args[:6]
			} else {
				dir = filepath.Join(w.Path, p.Target.Paths.Dir)
			}
			if _, err := os.Stat(dir); err != nil {
				continue
			}
			out, err := p.Repo.With(git.Others).Output(ctx, nil, append([]string{"-C", dir}, asked...)...)
			if err != nil {
				return err
			}
			for name := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
				path := filepath.Join(dir, string(name))
				if len(name) > 0 && (all || p.holds(path)) && !slices.Contains(p.Worktree, path) {
					p.Worktree = append(p.Worktree, path)
				}
			}
		}
	}
	slices.Sort(p.Worktree)
	return nil
}

// clients finds the clients' files of the missions in which it was found, and of
// those that go.
func (p *Plan) clients() error {
	missions := make(map[record.ID]bool)
	if p.Target.Finder != nil {
		for f := range p.Found {
			missions[f.Mission] = true
		}
	}
	if p.Map == nil { // what others have removed is theirs to tell
		for _, id := range p.Target.Missions {
			missions[id] = true
		}
	}
	var unread error
	for id := range missions {
		tip := p.tip(id)
		if tip.IsZero() {
			continue
		}
		l, err := ledger.At(p.objects, id, tip)
		if err != nil {
			unread = fmt.Errorf("mission %s: %w", id, err)
			continue
		}
		goes := slices.Contains(p.Target.Missions, id)
		for _, session := range l.Mission.Sessions {
			paths, err := filesOf(session)
			unread = errors.Join(unread, err)
			for _, path := range paths {
				if !slices.Contains(p.Clients, path) && (goes || p.tells(path)) {
					p.Clients = append(p.Clients, path)
				}
			}
		}
	}
	slices.Sort(p.Clients)
	return unread
}

// filesOf returns the files that clients have of a session and its sub-agents.
func filesOf(session string) (paths []string, err error) {
	for _, a := range agent.All() {
		files, e := a.Files(a.ConfigDir(os.Getenv), session)
		if e != nil {
			continue // it has none on this machine
		}
		for _, file := range files {
			paths = append(paths, file.Path)
			if a.Subagents == nil {
				continue
			}
			sides, e := a.Subagents(file.Path, nil, nil, true)
			err = errors.Join(err, e)
			for _, side := range sides {
				paths = append(paths, side.Path)
			}
		}
	}
	return paths, err
}
