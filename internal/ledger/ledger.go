package ledger

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// A Ledger is the state of a mission at one event.
type Ledger struct {
	ID      record.ID
	Tip     object.Hash // the ledger commit; zero for a mission that has none yet
	Mission *record.Mission

	objects *git.Objects
	tree    object.Hash
	dirs    map[string]map[string]object.Entry
	held    int // approximate bytes in memory
}

// Open opens the ledger of a mission, live or archived. If there is none, the
// error wraps [git.ErrNotFound].
func Open(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID) (*Ledger, error) {
	tip, err := Tip(ctx, repo, id)
	if err != nil {
		return nil, fmt.Errorf("open mission %s: %w", id, err)
	}
	return At(objects, id, tip)
}

// At opens the ledger at one of its commits. See [record.ParseHead] for ids.
func At(objects *git.Objects, id record.ID, tip object.Hash) (*Ledger, error) {
	if tip.IsZero() { // the ref's file is damaged
		return nil, fmt.Errorf("read ledger of %s: its ref is %w", id, git.ErrDamaged)
	}
	tree, err := objects.TreeOf(tip)
	if err != nil {
		return nil, fmt.Errorf("read ledger of %s: %w", id, err)
	}
	l := &Ledger{ID: id, Tip: tip, objects: objects, tree: tree, dirs: make(map[string]map[string]object.Entry)}
	data, err := l.Read(HeadFile)
	if err != nil {
		return nil, err
	}
	if l.Mission, err = record.ParseHead(id, string(data), tip.Format()); err != nil {
		return nil, fmt.Errorf("read ledger of %s: %w", id, err)
	}
	l.held += headSize * len(data)
	return l, nil
}

// New returns the ledger of a mission that has recorded nothing yet.
func New(objects *git.Objects, m *record.Mission) *Ledger {
	m.Began = m.ID
	return &Ledger{ID: m.ID, Mission: m, objects: objects, dirs: make(map[string]map[string]object.Entry)}
}

// HeadFile is the file of a ledger that has its mission.
const HeadFile = "mission.json"

// Upper bounds of memory, in bytes, for a directory's entry and for a byte of
// mission.json, which may hold nearly as many strings in lists.
const (
	entrySize = 150
	headSize  = 16
)

// Held returns the approximate bytes in memory, which grow as l is read.
func (l *Ledger) Held() int { return l.held }

// Read returns the content of a file. If there is none, the error wraps
// [git.ErrNotFound]; if it exceeds its limit, [git.ErrTooLarge].
func (l *Ledger) Read(name string) ([]byte, error) { return l.ReadUpTo(name, limit(name)) }

// ReadUpTo is Read with a further limit on the file's bytes.
func (l *Ledger) ReadUpTo(name string, most int64) ([]byte, error) {
	hash, err := l.File(name)
	var data []byte
	if err == nil {
		data, err = l.objects.Blob(hash, min(most, limit(name)))
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of mission %s: %w", name, l.ID, err)
	}
	return data, nil
}

// Stream calls f with the content of a file, a large one while it is read.
// Errors are those of Read and of f.
func (l *Ledger) Stream(name string, f func(io.Reader) error) error {
	hash, err := l.File(name)
	if err == nil {
		err = l.objects.Stream(hash, limit(name), f)
	}
	if err != nil {
		return fmt.Errorf("read %s of mission %s: %w", name, l.ID, err)
	}
	return nil
}

// File returns a file's blob, or an error that wraps [git.ErrNotFound].
func (l *Ledger) File(name string) (object.Hash, error) {
	e, err := l.Entry(name)
	if err == nil && !isFile(e) {
		err = git.ErrNotFound
	}
	return e.Hash, err
}

// Entry returns what the ledger holds at a path, or the zero Entry.
func (l *Ledger) Entry(name string) (object.Entry, error) {
	dir, err := l.dir(path.Dir(name))
	return dir[path.Base(name)], err
}

// dir returns the entries of a directory, if it exists. "." is the top.
func (l *Ledger) dir(name string) (map[string]object.Entry, error) {
	if d, ok := l.dirs[name]; ok {
		return d, nil
	}
	hash := l.tree
	if name != "." {
		parent, err := l.dir(path.Dir(name))
		if err != nil {
			return nil, err
		}
		e := parent[path.Base(name)]
		if e.Mode != filemode.Dir {
			return nil, nil
		}
		hash = e.Hash
	}
	d, err := l.objects.Tree(hash, MaxTree)
	if err != nil {
		return nil, fmt.Errorf("read ledger of %s: %w", l.ID, err)
	}
	l.dirs[name] = d
	l.held += entrySize * (1 + len(d))
	return d, nil
}

// isFile reports whether an entry is a file. Anything else in its place is
// ignored as unknown.
func isFile(e object.Entry) bool {
	return e.Mode == filemode.Regular || e.Mode == filemode.Executable
}

// FileIn returns the blob of a file among the entries of a directory.
func FileIn(entries map[string]object.Entry, name string) (blob object.Hash, ok bool) {
	e := entries[name]
	return e.Hash, isFile(e)
}

// An Event is one step of a mission: what it adds and what it keeps reachable.
type Event struct {
	Subject string            // first line of the ledger commit's message
	Files   map[string][]byte // content by path; nil removes the file
	Keep    []object.Hash     // commits to keep reachable; zero and repeated ones are ignored

	Author, Committer object.Signature
	Key               *sshsig.Key // to sign with; nil for a commit without a signature
}

// Append stages the ledger commit of an event, with mission.json from
// l.Mission, and returns its hash. To go on, open that commit.
//
// Before the first event it stages a commit without parents, with mission.json
// alone, so that the first-parent chain has ledger commits only.
func (l *Ledger) Append(e Event) (object.Hash, error) {
	commit, err := l.stage(e)
	if err != nil {
		return object.Hash{}, fmt.Errorf("write ledger of %s: %w", l.ID, err)
	}
	return commit, nil
}

func (l *Ledger) stage(e Event) (object.Hash, error) {
	head, err := l.Mission.Encode()
	if err != nil {
		return object.Hash{}, err
	}
	files := map[string][]byte{HeadFile: head}
	if l.Tip.IsZero() {
		tree, err := l.edit(object.Hash{}, files)
		if err == nil {
			l.Tip, err = l.commit(tree, nil, e, "mission "+string(l.ID))
		}
		if err != nil {
			return object.Hash{}, err
		}
	}
	maps.Copy(files, e.Files)
	for name := range files {
		if _, err := l.dir(path.Dir(name)); err != nil { // it may be too large to edit
			return object.Hash{}, err
		}
	}
	tree, err := l.edit(l.tree, files)
	if err == nil && !l.objects.Staged(l.Tip) {
		err = l.objects.Share(tree, l.tree)
	}
	if err != nil {
		return object.Hash{}, err
	}
	var parents []object.Hash
	for _, p := range append([]object.Hash{l.Tip}, e.Keep...) {
		if !p.IsZero() && !slices.Contains(parents, p) {
			parents = append(parents, p)
		}
	}
	return l.commit(tree, parents, e, e.Subject)
}

func (l *Ledger) commit(tree object.Hash, parents []object.Hash, e Event, subject string) (object.Hash, error) {
	c := &object.Commit{Tree: tree, Parents: parents, Author: e.Author, Committer: e.Committer, Message: subject + "\n"}
	return l.objects.Write(plumbing.CommitObject, Sign(c.Encode(), l.ID, e.Key, l.objects.Format()))
}

// edit stages tree with changed files.
func (l *Ledger) edit(tree object.Hash, files map[string][]byte) (object.Hash, error) {
	changes := make(map[string]object.Entry, len(files))
	for name, data := range files {
		if data == nil {
			changes[name] = object.Entry{}
			continue
		}
		hash, err := l.objects.Write(plumbing.BlobObject, data)
		if err != nil {
			return object.Hash{}, fmt.Errorf("write %s: %w", name, err)
		}
		changes[name] = object.Entry{Mode: filemode.Regular, Hash: hash}
	}
	return l.objects.EditTree(tree, changes)
}

// List returns the missions that have refs, with the tips of their ledgers.
func List(ctx context.Context, repo *git.Repo) (map[record.ID]object.Hash, error) {
	refs, err := Refs(ctx, repo)
	if err != nil {
		return nil, err
	}
	return OfRefs(refs), nil
}

// Refs returns all refs where those of missions are. Others may be among them.
func Refs(ctx context.Context, repo *git.Repo) (map[string]object.Hash, error) {
	refs, err := repo.Refs(ctx, record.MissionRefs)
	if err != nil {
		return nil, fmt.Errorf("list missions: %w", err)
	}
	return refs, nil
}

// Keeping returns the missions whose ledgers keep a commit, as [List] does.
func Keeping(ctx context.Context, repo *git.Repo, commit object.Hash) (map[record.ID]object.Hash, error) {
	refs, err := repo.Containing(ctx, commit, record.MissionRefs)
	if err != nil {
		return nil, fmt.Errorf("find the missions that keep %s: %w", commit, err)
	}
	return OfRefs(refs), nil
}

// Count returns how many missions there are among refs.
func Count(refs map[string]object.Hash) (n int) {
	for ref := range refs {
		if record.ID(strings.TrimPrefix(ref, record.MissionRefs)).Valid() {
			n++
		}
	}
	return n
}

// OfRefs returns the missions among refs.
func OfRefs(refs map[string]object.Hash) map[record.ID]object.Hash {
	missions := make(map[record.ID]object.Hash, len(refs))
	for ref, tip := range refs {
		if id, err := record.ParseID(strings.TrimPrefix(ref, record.MissionRefs)); err == nil {
			missions[id] = tip
		}
	}
	return missions
}

// Diverged returns tip's first commit that beside lacks, after ledgers
// diverged. That part is named by it; see [record.OfCommit].
func Diverged(ctx context.Context, repo *git.Repo, tip, beside object.Hash) (object.Hash, error) {
	out, err := repo.Output(ctx, nil, "rev-list", "--first-parent", "--reverse", tip.String(), "^"+beside.String())
	if err != nil {
		return object.Hash{}, err
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if !object.IsHash(first) {
		return object.Hash{}, fmt.Errorf("%s has nothing that %s lacks", tip, beside)
	}
	return object.NewHash(first), nil
}

// Missing reports whether err means that something does not exist.
func Missing(err error) bool {
	return errors.Is(err, git.ErrNotFound) || errors.Is(err, plumbing.ErrObjectNotFound)
}

// Limits in bytes of what is read of a ledger, which docs/format.md sets: an
// untrusted ledger of 500 KB in git can hold 500 MB.
const (
	MaxTree    = 8 << 20
	MaxHead    = 1 << 20 // mission.json
	MaxTurn    = 4 << 20 // the record of a turn
	MaxSegment = 512 << 20
	MaxHandoff = 16 << 20 // the record of a handoff
	maxFile    = 4 << 20  // any other
)

func limit(name string) int64 {
	switch {
	case name == HeadFile:
		return MaxHead
	case strings.HasPrefix(name, "turns/"):
		return MaxTurn
	case strings.HasPrefix(name, "transcript/"):
		return MaxSegment
	case strings.HasSuffix(name, "/handoff.json"):
		return MaxHandoff
	}
	return maxFile
}
