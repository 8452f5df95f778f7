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
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// A Ledger is the state of a mission at one event.
type Ledger struct {
	ID      record.ID
	Tip     git.Hash // the ledger commit; zero for a mission that has none yet
	Mission *record.Mission

	objects *git.Objects
	tree    git.Hash
	dirs    map[string]map[string]git.Entry
	held    int // bytes, about, that it takes in memory
}

// Open reads the ledger that the mission's ref points at, or that of an archived mission.
// If there is none, the error wraps [git.ErrNotFound].
func Open(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID) (*Ledger, error) {
	tip, err := Tip(ctx, repo, id)
	if err != nil {
		return nil, fmt.Errorf("open mission %s: %w", id, err)
	}
	return At(objects, id, tip)
}

// At reads the ledger at one of its commits. Its head gets its name as in [record.ParseHead].
func At(objects *git.Objects, id record.ID, tip git.Hash) (*Ledger, error) {
	if tip.IsZero() { // as a ref whose file is damaged says
		return nil, fmt.Errorf("read ledger of %s: its ref is %w", id, git.ErrDamaged)
	}
	tree, err := objects.TreeOf(tip)
	if err != nil {
		return nil, fmt.Errorf("read ledger of %s: %w", id, err)
	}
	l := &Ledger{ID: id, Tip: tip, objects: objects, tree: tree, dirs: make(map[string]map[string]git.Entry)}
	data, err := l.Read(headFile)
	if err != nil {
		return nil, err
	}
	if l.Mission, err = record.ParseHead(id, data, tip.Format()); err != nil {
		return nil, fmt.Errorf("read ledger of %s: %w", id, err)
	}
	l.held += headSize * len(data)
	return l, nil
}

// New returns the ledger of a mission that has not recorded anything yet.
func New(objects *git.Objects, m *record.Mission) *Ledger {
	m.Began = m.ID
	return &Ledger{ID: m.ID, Mission: m, objects: objects, dirs: make(map[string]map[string]git.Entry)}
}

// headFile is the path of the mission's head.
const headFile = "mission.json"

// What is read of a ledger takes so many bytes in memory, or less: an entry of a directory, and a byte of
// mission.json, of which a list may have nearly as many strings.
const (
	entrySize = 150
	headSize  = 16
)

// Held is about how many bytes it takes in memory. It grows with the directories that were looked into.
func (l *Ledger) Held() int { return l.held }

// Read returns the content of a file of the ledger. If there is none, the error wraps
// [git.ErrNotFound]; if it is larger than such a file may be, [git.ErrTooLarge].
func (l *Ledger) Read(name string) ([]byte, error) { return l.ReadUpTo(name, limit(name)) }

// ReadUpTo is Read for a file that must not be larger than that.
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

// Stream hands the content of a file to f, a large one while it is read. Errors are those of Read,
// and that of f.
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

// File returns the blob of a file. If there is none, the error wraps [git.ErrNotFound].
func (l *Ledger) File(name string) (git.Hash, error) {
	e, err := l.Entry(name)
	if err == nil && !isFile(e) {
		err = git.ErrNotFound
	}
	return e.Hash, err
}

// dir returns the entries of a directory, none if it does not exist. "." is the top.
func (l *Ledger) dir(name string) (map[string]git.Entry, error) {
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

// isFile reports whether an entry is a file. Symbolic links and submodules are not, and a reader
// takes them, as it takes a directory, for something that it does not know.
func isFile(e git.Entry) bool {
	return e.Mode == filemode.Regular || e.Mode == filemode.Executable
}

// An Event is one step of a mission: what it adds to the ledger and what it keeps reachable.
type Event struct {
	Subject string            // first line of the ledger commit's message
	Files   map[string][]byte // content by path; nil removes the file
	Keep    []git.Hash        // commits that the ledger keeps reachable; zero and repeated ones are ignored

	Author, Committer git.Signature
	Key               *sshsig.Key // to sign with; nil for a commit without a signature
}

// Append stages the ledger commit of an event and returns its hash. It writes mission.json from
// l.Mission. To continue from the event, open the new commit.
//
// A mission's first event follows a commit without parents that holds mission.json alone, so that
// the first-parent chain of a ledger has ledger commits only.
func (l *Ledger) Append(e Event) (git.Hash, error) {
	commit, err := l.stage(e)
	if err != nil {
		return git.Hash{}, fmt.Errorf("write ledger of %s: %w", l.ID, err)
	}
	return commit, nil
}

func (l *Ledger) stage(e Event) (git.Hash, error) {
	head, err := l.Mission.Encode()
	if err != nil {
		return git.Hash{}, err
	}
	files := map[string][]byte{headFile: head}
	if l.Tip.IsZero() {
		tree, err := l.edit(git.Hash{}, files)
		if err == nil {
			l.Tip, err = l.commit(tree, nil, e, "mission "+string(l.ID))
		}
		if err != nil {
			return git.Hash{}, err
		}
	}
	maps.Copy(files, e.Files)
	for name := range files {
		if _, err := l.dir(path.Dir(name)); err != nil { // it may be too large to be edited
			return git.Hash{}, err
		}
	}
	tree, err := l.edit(l.tree, files)
	if err == nil && !l.objects.Staged(l.Tip) {
		err = l.objects.Share(tree, l.tree)
	}
	if err != nil {
		return git.Hash{}, err
	}
	var parents []git.Hash
	for _, p := range append([]git.Hash{l.Tip}, e.Keep...) {
		if !p.IsZero() && !slices.Contains(parents, p) {
			parents = append(parents, p)
		}
	}
	return l.commit(tree, parents, e, e.Subject)
}

func (l *Ledger) commit(tree git.Hash, parents []git.Hash, e Event, subject string) (git.Hash, error) {
	c := &git.Commit{Tree: tree, Parents: parents, Author: e.Author, Committer: e.Committer, Message: subject + "\n"}
	return l.objects.Write(plumbing.CommitObject, Sign(c.Encode(), l.ID, e.Key, l.objects.Format()))
}

// edit stages a tree that differs from another in some files.
func (l *Ledger) edit(tree git.Hash, files map[string][]byte) (git.Hash, error) {
	changes := make(map[string]git.Entry, len(files))
	for name, data := range files {
		if data == nil {
			changes[name] = git.Entry{}
			continue
		}
		hash, err := l.objects.Write(plumbing.BlobObject, data)
		if err != nil {
			return git.Hash{}, fmt.Errorf("write %s: %w", name, err)
		}
		changes[name] = git.Entry{Mode: filemode.Regular, Hash: hash}
	}
	return l.objects.EditTree(tree, changes)
}

// List returns the repository's missions and the tips of their ledgers.
func List(ctx context.Context, repo *git.Repo) (map[record.ID]git.Hash, error) {
	refs, err := repo.Refs(ctx, record.MissionRefs)
	if err != nil {
		return nil, fmt.Errorf("list missions: %w", err)
	}
	return ofRefs(refs), nil
}

// Keeping returns the missions whose ledgers keep a commit, as [List] does.
func Keeping(ctx context.Context, repo *git.Repo, commit git.Hash) (map[record.ID]git.Hash, error) {
	refs, err := repo.Containing(ctx, commit, record.MissionRefs)
	if err != nil {
		return nil, fmt.Errorf("find the missions that keep %s: %w", commit, err)
	}
	return ofRefs(refs), nil
}

// Newest returns the mission whose ledger was written last, by what its commit says, and how many
// missions there are. Where git can't tell, as a stranger's commit is too large, it is none.
func Newest(ctx context.Context, repo *git.Repo) (record.ID, int, error) {
	missions, err := List(ctx, repo)
	if err != nil || len(missions) == 0 {
		return "", 0, err
	}
	newest, err := repo.Wary().NewestRef(ctx, record.MissionRefs)
	if err != nil {
		return "", len(missions), ctx.Err()
	}
	id, _ := record.ParseID(strings.TrimPrefix(newest, record.MissionRefs))
	return id, len(missions), nil
}

func ofRefs(refs map[string]git.Hash) map[record.ID]git.Hash {
	missions := make(map[record.ID]git.Hash, len(refs))
	for ref, tip := range refs {
		if id, err := record.ParseID(strings.TrimPrefix(ref, record.MissionRefs)); err == nil {
			missions[id] = tip
		}
	}
	return missions
}

// Side returns the first commit of one side of a mission that went on in two ways: tip's first one
// that beside lacks. The side is named by it, see [record.OfCommit].
func Side(ctx context.Context, repo *git.Repo, tip, beside git.Hash) (git.Hash, error) {
	out, err := repo.Output(ctx, nil, "rev-list", "--first-parent", "--reverse", tip.String(), "^"+beside.String())
	if err != nil {
		return git.Hash{}, err
	}
	first, _, _ := strings.Cut(string(out), "\n")
	if !git.IsHash(first) {
		return git.Hash{}, fmt.Errorf("%s has nothing that %s lacks", tip, beside)
	}
	return git.NewHash(first), nil
}

// Missing reports whether err means that something does not exist.
func Missing(err error) bool {
	return errors.Is(err, git.ErrNotFound) || errors.Is(err, plumbing.ErrObjectNotFound)
}
