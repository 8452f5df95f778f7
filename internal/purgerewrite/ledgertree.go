package purgerewrite

import (
	"bytes"
	"context"
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// isRecord reports whether a path in a ledger is a record's or mission.json's.
func isRecord(file string) bool {
	return file == "mission.json" || strings.HasPrefix(file, "turns/") && strings.HasSuffix(file, ".json") ||
		strings.HasPrefix(file, "handoffs/") && path.Base(file) == "handoff.json"
}

// ofLedger matches the paths of ledgers. They stay if something is found in
// them, because readers need them.
var ofLedger = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(mission\.json|(turns|transcript)(/\d+(/\d+(\.jsonl?)?)?)?|handoffs(/\d+(/(handoff\.json|handoff\.md|uncommitted\.patch|terminal\.txt))?)?)$`)
})

// A ledgerTree is the tree of a ledger at one event.
type ledgerTree struct {
	*Rewrite
	began record.ID // by its mission.json
	tree  object.Hash
	dirs  map[string]map[string]object.RawEntry // read so far
}

// A dirKey has all that decides what replaces a directory: records have the
// sizes of segments, and say which turns segments are of.
type dirKey struct {
	hash, beside object.Hash
	path         string
}

// A recordKey has all that decides what replaces a record.
type recordKey struct{ record, segment, agents object.Hash }

func (r *Rewrite) ledgerAt(ctx context.Context, id record.ID, tree object.Hash) (*ledgerTree, error) {
	l := &ledgerTree{r, id, tree, map[string]map[string]object.RawEntry{}}
	head, err := l.entry(ctx, "mission.json")
	if err != nil || head.Hash.IsZero() {
		return l, err
	}
	if began, ok := r.began[head.Hash]; ok {
		l.began = began
		return l, nil
	}
	var s shape
	if content, err := r.read(plumbing.BlobObject, head.Hash, ledger.MaxHead); err == nil && json.Unmarshal(content, &s) == nil {
		if began, err := record.ParseID(s.ID); err == nil {
			l.began = began
		}
	}
	r.began[head.Hash] = l.began
	return l, nil
}

// entry returns what the tree has at a path, or the zero entry.
func (l *ledgerTree) entry(ctx context.Context, file string) (object.RawEntry, error) {
	dir, err := l.dir(ctx, path.Dir(file))
	return dir[path.Base(file)], err
}

func (l *ledgerTree) dir(ctx context.Context, name string) (map[string]object.RawEntry, error) {
	if d, ok := l.dirs[name]; ok {
		return d, nil
	}
	hash := l.tree
	if name != "." {
		e, err := l.entry(ctx, name)
		if err != nil || e.Kind() != filemode.Dir {
			return nil, err
		}
		hash = e.Hash
	}
	content, err := l.read(plumbing.TreeObject, hash, git.MaxTree)
	var list []object.RawEntry
	if err == nil {
		list, err = object.ParseRawTree(hash.Format(), content)
	}
	if err != nil {
		return nil, l.unread(ctx, Place{Mission: l.began, Kind: Record}, err)
	}
	d := make(map[string]object.RawEntry, len(list))
	for _, e := range l.given(list) {
		if _, twice := d[e.Name]; !twice {
			d[e.Name] = e
		}
	}
	l.dirs[name] = d
	return d, nil
}

// given puts what a map has given in the place of files.
func (l *ledgerTree) given(list []object.RawEntry) []object.RawEntry {
	if len(l.Given) == 0 {
		return list
	}
	var out []object.RawEntry
	for _, e := range list {
		if to, ok := l.Given[e.Hash]; ok && e.Kind() == isFile {
			if e.Hash = to; to.IsZero() {
				continue
			}
		}
		out = append(out, e)
	}
	return out
}

func (l *ledgerTree) rewrite(ctx context.Context) (object.Hash, error) {
	to, err := l.rewriteDir(ctx, "", l.tree)
	if err == nil && to.IsZero() {
		return l.Objects.EmptyTree()
	}
	return to, err
}

// beside returns the directory of segments for one of records, or the reverse.
func (l *ledgerTree) beside(ctx context.Context, dir string) (object.Hash, error) {
	top, rest, _ := strings.Cut(dir, "/")
	other := map[string]string{"turns": "transcript", "transcript": "turns"}[top]
	if dir == "" {
		return object.Hash{}, nil
	}
	if other == "" || other == "turns" && len(l.Target.Turns) == 0 {
		return object.Hash{}, nil
	}
	if first, _, deeper := strings.Cut(rest, "/"); deeper {
		rest = first // the segments of subagents
	}
	e, err := l.entry(ctx, path.Join(other, rest))
	return e.Hash, err
}

func (l *ledgerTree) rewriteDir(ctx context.Context, dir string, hash object.Hash) (object.Hash, error) {
	beside, err := l.beside(ctx, dir)
	if err != nil {
		return hash, err
	}
	key := dirKey{hash, beside, dir}
	if done, ok := l.ledgers[key]; ok {
		return done, nil
	}
	done, err := l.rewriteEntries(ctx, dir, hash)
	if err == nil {
		l.ledgers[key] = done
		if done != hash {
			l.replaced[hash] = done
		}
	}
	return done, err
}

func (l *ledgerTree) rewriteEntries(ctx context.Context, dir string, hash object.Hash) (object.Hash, error) {
	at := Place{Mission: l.began, Kind: Other}
	content, err := l.read(plumbing.TreeObject, hash, git.MaxTree)
	var list []object.RawEntry
	if err == nil {
		list, err = object.ParseRawTree(hash.Format(), content)
	}
	if err != nil {
		return hash, l.unread(ctx, at, err)
	}
	out := make([]byte, 0, len(content))
	for _, e := range l.given(list) {
		file := join(dir, e.Name)
		var to object.Hash
		if l.named(e.Name) {
			at := at
			at.Kind, at.Path = FileName, l.cleanText(file)
			if !ofLedger().MatchString(file) {
				l.find(at, LeftOut, 1)
				continue
			}
			l.find(at, Kept, 1)
		}
		switch top, _, _ := strings.Cut(file, "/"); {
		case e.Kind() == isFile && isRecord(file):
			to, err = l.rewriteRecord(ctx, file, e.Hash)
		case e.Kind() == isFile && top == "transcript":
			to, err = l.rewriteSegment(ctx, file, e.Hash)
		case e.Kind() == isFile || e.Kind() == filemode.Symlink:
			var done rewritten
			done, err = l.blob(ctx, fileOf(at, file), e.Hash, plain)
			to = done.hash
		case e.Kind() == filemode.Dir && strings.Count(file, "/") < 3:
			to, err = l.rewriteDir(ctx, file, e.Hash)
		case e.Kind() == filemode.Dir: // no part of a ledger
			at.Path = file
			var done pruned
			done, err = l.Rewrite.tree(ctx, at, e.Hash, nil)
			to = done.hash
		default:
			to = e.Hash
		}
		if err != nil {
			return hash, err
		}
		if !to.IsZero() {
			out = hash.Format().Append(append(out, e.Head...), to)
		}
	}
	switch {
	case bytes.Equal(out, content):
		return hash, nil
	case len(out) == 0:
		return object.Hash{}, nil
	}
	return l.write(plumbing.TreeObject, out)
}

// fileOf returns the place of a file that is neither record nor segment.
func fileOf(at Place, file string) Place {
	dir, name := path.Split(file)
	number := turnOf(path.Base(dir))
	if kind, ok := map[string]Kind{"handoff.md": Document, "uncommitted.patch": Patch, "terminal.txt": Terminal}[name]; ok && strings.HasPrefix(dir, "handoffs/") && number > 0 {
		at.Handoff, at.Kind = number, kind
		return at
	}
	at.Path = file
	return at
}

// numbered returns the turn of a path below transcript/; agent for a subagent.
func numbered(file string) (turn int, agent bool) {
	parts := strings.Split(file, "/")
	switch len(parts) {
	case 3:
		return turnOf(parts[2]), false
	case 4:
		return turnOf(parts[2]), true
	}
	return 0, false
}

func (l *ledgerTree) rewriteSegment(ctx context.Context, file string, hash object.Hash) (object.Hash, error) {
	done, err := l.segment(ctx, file, hash)
	return done.hash, err
}

func (l *ledgerTree) segment(ctx context.Context, file string, hash object.Hash) (rewritten, error) {
	turn, agent := numbered(file)
	at := Place{Mission: l.began, Turn: turn, Kind: Conversation}
	if agent {
		at.Kind = SubAgent
	}
	f := lines
	if turn > 0 && len(l.Target.Turns) > 0 {
		e, err := l.entry(ctx, ledger.TurnPath("turns", turn, ".json"))
		if err != nil {
			return rewritten{hash, -1}, err
		}
		var s shape
		if content, err := l.read(plumbing.BlobObject, e.Hash, ledger.MaxTurn); err == nil {
			_ = json.Unmarshal(content, &s)
		}
		if at.Mission = s.Mission; l.Target.turn(record.TurnID{Mission: s.Mission, Turn: turn}) {
			f = blank
		}
	}
	done, err := l.blob(ctx, at, hash, f)
	if err != nil || !l.Filtered {
		return done, err
	}
	content, err := l.read(plumbing.BlobObject, hash, ledger.MaxSegment)
	if err != nil {
		return done, l.unread(ctx, at, err)
	}
	done.size = int64(len(content))
	return done, nil
}

// rewriteRecord rewrites a record, with the sizes of the segments beside it.
func (l *ledgerTree) rewriteRecord(ctx context.Context, file string, hash object.Hash) (object.Hash, error) {
	key := recordKey{record: hash}
	with := asItWas
	if turn := turnOf(path.Base(file)); turn > 0 && strings.HasPrefix(file, "turns/") {
		name := ledger.TurnPath("transcript", turn, ".jsonl")
		segment, err := l.entry(ctx, name)
		if err != nil {
			return hash, err
		}
		if key.segment = segment.Hash; segment.Kind() == isFile {
			done, err := l.segment(ctx, name, segment.Hash)
			if err != nil {
				return hash, err
			}
			with.segment = done.size
		}
		dir := strings.TrimSuffix(name, ".jsonl")
		agents, err := l.entry(ctx, dir)
		if err != nil {
			return hash, err
		}
		if key.agents = agents.Hash; agents.Kind() == filemode.Dir {
			list, err := l.dir(ctx, dir)
			if err != nil {
				return hash, err
			}
			for name, e := range list {
				if e.Kind() != isFile {
					continue
				}
				done, err := l.segment(ctx, join(dir, name), e.Hash)
				if err != nil {
					return hash, err
				}
				if done.size >= 0 {
					if with.agents == nil {
						with.agents = map[string]int64{}
					}
					with.agents[strings.TrimSuffix(name, ".jsonl")] = done.size
				}
			}
		}
	}
	if done, ok := l.Rewrite.records[key]; ok {
		return done, nil
	}
	at := Place{Mission: l.began, Kind: Record}
	content, err := l.read(plumbing.BlobObject, hash, ledger.MaxHandoff)
	if err != nil {
		return hash, l.unread(ctx, at, err)
	}
	with.clean = l.clean(hash)
	out := l.record(at, content, with)
	to := hash
	if !bytes.Equal(out, content) {
		if to, err = l.write(plumbing.BlobObject, out); err != nil {
			return hash, err
		}
		l.replaced[hash] = to
	}
	l.Rewrite.records[key] = to
	return to, nil
}
