package purgerewrite

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
)

// A Prover compares old commits with alleged successors, which may differ only
// in what a purge changes: so the worst that a map can do is to redact.
type Prover struct {
	objects *git.Objects
	known   map[object.Hash]object.Hash // all pairs, each of which is proved
	renamed map[record.ID]record.ID     // missions that are named by one of the old commits

	// Files are what replaces the files of ledgers, by all pairs so far; zero for
	// those that go.
	Files map[object.Hash]object.Hash

	// Into is where what the next pairs take out is counted. What several pairs
	// share counts where it was seen first.
	Into *Taken

	left  map[object.Hash][]string // the paths that successors of states leave out
	trees map[treePair]error
	blobs map[blobPair]error
	dirs  map[object.Hash]map[string]object.Entry
}

type treePair struct {
	old, fresh object.Hash
	path       string // "" for the tree of a state
	in         object.Hash
}

type blobPair struct {
	old, fresh object.Hash
	form       form
	beside     object.Hash
	learn      bool
}

// NewProver returns a prover, given all pairs, each of which is to be proved.
func NewProver(objects *git.Objects, known map[object.Hash]object.Hash) *Prover {
	p := &Prover{objects: objects, known: known, renamed: make(map[record.ID]record.ID)}
	for old, fresh := range known {
		if !fresh.IsZero() {
			p.renamed[record.OfCommit(old)] = record.OfCommit(fresh)
		}
	}
	return p.Apart()
}

// Apart returns a prover for the same pairs that has seen nothing yet.
func (p *Prover) Apart() *Prover {
	return &Prover{
		objects: p.objects, known: p.known, renamed: p.renamed, Files: make(map[object.Hash]object.Hash), Into: new(Taken), left: make(map[object.Hash][]string),
		trees: make(map[treePair]error), blobs: make(map[blobPair]error), dirs: make(map[object.Hash]map[string]object.Entry),
	}
}

var (
	errHeader   = errors.New("its header is not the old one")
	errMessage  = errors.New("its message is not the old one")
	errAdded    = errors.New("it has a file that the old one lacks")
	errMissing  = errors.New("it lacks a record")
	errText     = errors.New("a text differs in more than what was taken out")
	errBinary   = errors.New("a binary file differs")
	errModes    = errors.New("a file is of another kind")
	errSigned   = errors.New("it was signed for another mission")
	errRecord   = errors.New("a record differs in more than what was taken out")
	errTooLarge = errors.New("a text is too large to be compared")
)

// State proves a pair of commits that hold states.
func (p *Prover) State(old, fresh object.Hash) error {
	was, is, err := p.commits(old, fresh)
	if err != nil {
		return err
	}
	plain := *was
	unsigned(&plain)
	if !slices.Equal(is.Others, plain.Others) || !p.follows(was, is) {
		return errHeader
	}
	blank := is.Message == blankMessage(was.Message) && is.Message != was.Message
	if !blank && !p.learn([]byte(was.Message), []byte(is.Message), true) {
		return errMessage
	}
	if blank { // the whole turn is purged: its state is the one before
		if parent, err := p.parentTree(is); err == nil && is.Tree == parent {
			of, _ := ledger.ReadCodeMessage(was.Message)
			p.Into.turn(of.Turn)
			return nil
		}
	}
	if blank {
		p.Into.texts([]byte(was.Message))
	}
	left, err := p.tree(was.Tree, is.Tree)
	p.left[old] = left
	for _, path := range left {
		p.Into.file(path)
	}
	return err
}

func (p *Prover) parentTree(c *object.Raw) (object.Hash, error) {
	if len(c.Parents) == 0 {
		return p.objects.EmptyTree()
	}
	return p.objects.TreeOf(c.Parents[0])
}

// Event proves a pair of commits of a ledger.
func (p *Prover) Event(old, fresh object.Hash) error {
	was, is, err := p.commits(old, fresh)
	if err != nil {
		return err
	}
	if !p.follows(was, is) {
		return errHeader
	}
	if !p.learn([]byte(was.Message), []byte(is.Message), true) {
		return errMessage
	}
	if len(is.Others) > 0 {
		signed, ok := ledger.ParseSigned(is.Encode())
		if !ok {
			return errHeader
		}
		began := p.began(was.Tree)
		of := began
		if before, ok := ledger.ParseSigned(was.Encode()); ok {
			of = before.Of
		}
		if to := signed.Of; to != of && to != began && p.renamed[of] != to && p.renamed[began] != to {
			return errSigned
		}
	}
	return p.ledger(was.Tree, is.Tree, "", was.Tree, is.Tree)
}

func (p *Prover) began(tree object.Hash) record.ID {
	var s shape
	if e, err := p.find(tree, "mission.json"); err == nil && !e.Hash.IsZero() {
		if content, err := p.objects.Blob(e.Hash, ledger.MaxHead); err == nil {
			_ = json.Unmarshal(content, &s)
		}
	}
	return s.ID
}

func (p *Prover) commits(old, fresh object.Hash) (was, is *object.Raw, err error) {
	for hash, c := range map[object.Hash]**object.Raw{old: &was, fresh: &is} {
		content, err := p.objects.Read(plumbing.CommitObject, hash, git.MaxCommit)
		if err != nil {
			return nil, nil, err
		}
		parsed, ok := object.ParseRaw(content)
		if !ok {
			return nil, nil, errCommit
		}
		*c = parsed
	}
	return was, is, nil
}

// follows reports whether parents, author and committer are the rewritten ones.
func (p *Prover) follows(was, is *object.Raw) bool {
	var parents []object.Hash
	for _, parent := range was.Parents {
		to, replaced := p.known[parent]
		if !replaced {
			to = parent
		}
		if !to.IsZero() && (to == parent || !slices.Contains(parents, to)) {
			parents = append(parents, to)
		}
	}
	return slices.Equal(is.Parents, parents) && p.who(was.Author, is.Author) && p.who(was.Committer, is.Committer)
}

func (p *Prover) who(was, is string) bool {
	at, end := strings.LastIndexByte(was, '>')+1, strings.LastIndexByte(is, '>')+1
	if was[at:] != is[end:] {
		return false
	}
	if is[:end] == scrub.Mark+" <"+scrub.Mark+">" && was[:at] != is[:end] {
		p.Into.texts([]byte(was[:at]))
		return true
	}
	return p.learn([]byte(was[:at]), []byte(is[:end]), true)
}

// learn reports whether is is was with spans replaced, counts those, and keeps
// them if that is wanted.
func (p *Prover) learn(was, is []byte, keep bool) bool {
	if bytes.Equal(was, is) {
		return true
	}
	pieces, ok := scrub.Taken(was, is)
	if !ok {
		return false
	}
	p.Into.texts(pieces...)
	if keep {
		taken, _ := scrub.Learn(was, is)
		p.Into.learn(taken)
	}
	return true
}

// tree proves the tree of a state, and returns the paths that it leaves out.
func (p *Prover) tree(old, fresh object.Hash) (left []string, err error) {
	if old == fresh {
		return nil, nil
	}
	was, err := rawTree(p.objects, old)
	if err != nil {
		return nil, err
	}
	is, err := rawTree(p.objects, fresh)
	if err != nil {
		return nil, err
	}
	for _, e := range was {
		if len(is) == 0 || !bytes.Equal(is[0].Head, e.Head) {
			if left = append(left, e.Name); e.Kind() == filemode.Dir {
				left[len(left)-1] += "/"
				below, err := p.allBelow(e.Hash)
				if err != nil {
					return nil, err
				}
				for _, name := range below {
					left = append(left, e.Name+"/"+name)
				}
			}
			continue
		}
		to := is[0]
		is = is[1:]
		switch {
		case e.Hash == to.Hash:
		case e.Kind() == filemode.Dir:
			below, err := p.tree(e.Hash, to.Hash)
			if err != nil {
				return nil, err
			}
			for _, name := range below {
				left = append(left, e.Name+"/"+name)
			}
		case e.Kind() == isFile || e.Kind() == filemode.Symlink:
			if err := p.blob(blobPair{old: e.Hash, fresh: to.Hash, learn: true}, p.text); err != nil {
				return nil, err
			}
		default:
			return nil, errModes
		}
	}
	if len(is) > 0 {
		return nil, errAdded
	}
	return left, nil
}

func (p *Prover) allBelow(tree object.Hash) (list []string, err error) {
	entries, err := rawTree(p.objects, tree)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if len(list) >= record.MaxSkipped {
			break
		}
		if e.Kind() != filemode.Dir {
			list = append(list, e.Name)
			continue
		}
		below, err := p.allBelow(e.Hash)
		if err != nil {
			return nil, err
		}
		for _, name := range below {
			list = append(list, e.Name+"/"+name)
		}
	}
	return list, nil
}

func (p *Prover) blob(pair blobPair, how func(was, is []byte, learn bool) error) error {
	if err, ok := p.blobs[pair]; ok {
		return err
	}
	most := int64(MaxText)
	if pair.form != plain {
		most = ledger.MaxSegment
	}
	was, err := p.objects.Blob(pair.old, most)
	var is []byte
	if err == nil {
		is, err = p.objects.Blob(pair.fresh, most)
	}
	if errors.Is(err, git.ErrTooLarge) {
		err = errTooLarge
	}
	if err == nil {
		p.Into.Of += int64(len(was))
		err = how(was, is, pair.learn)
	}
	p.blobs[pair] = err
	return err
}

func (p *Prover) text(was, is []byte, learn bool) error {
	if isBinary(was) {
		return errBinary
	}
	if !p.learn(was, is, learn) {
		return errText
	}
	return nil
}

// ledger proves a directory of a ledger, given the root trees.
func (p *Prover) ledger(old, fresh object.Hash, dir string, oldRoot, freshRoot object.Hash) error {
	if old == fresh {
		return nil
	}
	beside, err := p.beside(freshRoot, dir)
	if err != nil {
		return err
	}
	key := treePair{old, fresh, dir + "/", beside}
	if err, ok := p.trees[key]; ok {
		return err
	}
	err = p.ledgerEntries(old, fresh, dir, oldRoot, freshRoot)
	p.trees[key] = err
	return err
}

// beside returns what records in a directory also depend on: the segments.
func (p *Prover) beside(root object.Hash, dir string) (object.Hash, error) {
	rest, ok := strings.CutPrefix(dir, "turns")
	if !ok {
		return object.Hash{}, nil
	}
	e, err := p.find(root, "transcript"+rest)
	return e.Hash, err
}

func (p *Prover) ledgerEntries(old, fresh object.Hash, dir string, oldRoot, freshRoot object.Hash) error {
	was, err := rawTree(p.objects, old)
	if err != nil {
		return err
	}
	is, err := rawTree(p.objects, fresh)
	if err != nil {
		return err
	}
	for _, e := range was {
		file := join(dir, e.Name)
		if len(is) == 0 || !bytes.Equal(is[0].Head, e.Head) {
			if e.Kind() == filemode.Dir && (file == "turns" || strings.HasPrefix(file, "turns/")) || isRecord(file) {
				return errMissing
			}
			if p.Into.file(file); e.Kind() == isFile {
				p.Files[e.Hash] = object.Hash{}
			}
			continue
		}
		to := is[0]
		is = is[1:]
		top, _, _ := strings.Cut(file, "/")
		switch {
		case e.Hash == to.Hash && !isRecord(file):
		case e.Kind() == isFile && isRecord(file):
			err = p.recordAt(file, e.Hash, to.Hash, oldRoot, freshRoot)
		case e.Kind() == isFile && top == "transcript":
			err = p.blob(blobPair{old: e.Hash, fresh: to.Hash, form: lines, learn: true}, func(was, is []byte, learn bool) error {
				if bytes.Equal(is, blankLines(was)) && !bytes.Equal(is, was) {
					p.Into.turn(turnOf(e.Name))
				}
				return p.segment(was, is, learn)
			})
		case e.Kind() == isFile || e.Kind() == filemode.Symlink:
			err = p.blob(blobPair{old: e.Hash, fresh: to.Hash, learn: true}, p.text)
		case e.Kind() == filemode.Dir:
			err = p.ledger(e.Hash, to.Hash, file, oldRoot, freshRoot)
		default:
			err = errModes
		}
		if err != nil {
			return err
		}
		if e.Kind() == isFile && e.Hash != to.Hash {
			p.Files[e.Hash] = to.Hash
		}
	}
	if len(is) > 0 {
		return errAdded
	}
	return nil
}

func (p *Prover) find(tree object.Hash, path string) (object.Entry, error) {
	e := object.Entry{Hash: tree}
	for name := range strings.SplitSeq(path, "/") {
		d, ok := p.dirs[e.Hash]
		if !ok {
			var err error
			if d, err = p.objects.Tree(e.Hash, ledger.MaxTree); err != nil {
				return object.Entry{}, err
			}
			p.dirs[e.Hash] = d
		}
		if e = d[name]; e.Hash.IsZero() {
			return e, nil
		}
	}
	return e, nil
}

// recordAt proves a record of a ledger, with the segments that belong to it.
func (p *Prover) recordAt(file string, old, fresh, oldRoot, freshRoot object.Hash) error {
	with := evidence{segment: -1, agents: map[string]int64{}}
	blanked := false
	pair := blobPair{old: old, fresh: fresh, learn: true}
	if turn := turnOf(file[strings.LastIndexByte(file, '/')+1:]); turn > 0 && strings.HasPrefix(file, "turns/") {
		name := ledger.TurnPath("transcript", turn, ".jsonl")
		was, err := p.find(oldRoot, name)
		if err != nil {
			return err
		}
		is, err := p.find(freshRoot, name)
		if err != nil {
			return err
		}
		if !was.Hash.IsZero() && !is.Hash.IsZero() && was.Hash != is.Hash {
			content, err := p.objects.Blob(is.Hash, ledger.MaxSegment)
			if err != nil {
				return err
			}
			before, err := p.objects.Blob(was.Hash, ledger.MaxSegment)
			if err != nil {
				return err
			}
			with.segment = int64(len(content))
			blanked = bytes.Equal(content, blankLines(before))
		}
		dir, err := p.find(freshRoot, strings.TrimSuffix(name, ".jsonl"))
		if err != nil {
			return err
		}
		if !dir.Hash.IsZero() {
			segments, err := p.objects.Tree(dir.Hash, ledger.MaxTree)
			if err != nil {
				return err
			}
			for name, e := range segments {
				content, err := p.objects.Blob(e.Hash, ledger.MaxSegment)
				if err != nil {
					return err
				}
				with.agents[strings.TrimSuffix(name, ".jsonl")] = int64(len(content))
			}
		}
		format := p.objects.Format()
		pair.beside = format.Object(plumbing.BlobObject, format.Append(format.Append(format.Append(nil, was.Hash), is.Hash), dir.Hash))
	}
	if old == fresh {
		return nil
	}
	return p.blob(pair, func(was, is []byte, learn bool) error {
		if blankRecord(is) && !blankRecord(was) {
			p.Into.turn(turnOf(file[strings.LastIndexByte(file, '/')+1:]))
		}
		return p.record(was, is, with, learn && !blanked)
	})
}
