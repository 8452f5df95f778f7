package turns

import (
	"encoding/binary"
	"iter"

	"gitagent/internal/blockfile"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
)

// A prepared has the records of a mission's turns in a local file, where they
// are read without git: a block for each directory of records but the newest,
// which every turn changes, known by the hash of its tree. What was read of
// others is added to it.
//
// A file is made where there is local state, while the mission is locked, and if
// its ledger still is what was read: so a purge, which locks all of them and
// deletes the file, leaves nothing in it.
type prepared struct {
	ledger  *ledger.Ledger
	objects *git.Objects
	dirs    []ledger.Numbered // nil until they are asked for
	file    *blockfile.File   // the same

	reading map[object.Hash]*directory // begun; only who lists the records uses it

	// Only who reads the records uses the rest.
	made []blockfile.Block
	size int // of made, in bytes
}

// bytesKept is how much is made before it is added to the file.
const bytesKept = 1 << 20

// blockKind is how blocks of records are made.
const blockKind = "turns 2"

func prepare(objects *git.Objects, l *ledger.Ledger) *prepared {
	return &prepared{ledger: l, objects: objects, reading: make(map[object.Hash]*directory)}
}

// Held returns about how many bytes are in memory.
func (p *prepared) held() int {
	if p == nil {
		return 0
	}
	held := p.size + dirSize*len(p.dirs)
	if p.file != nil {
		held += dirSize * p.file.Len()
	}
	return held
}

// dirSize is about what is kept of a directory of records, in bytes.
const dirSize = 150

func (p *prepared) list() (err error) {
	if p.dirs == nil {
		p.dirs, err = p.ledger.TurnDirs()
	}
	return err
}

func (p *prepared) place() blockfile.Place {
	_, repo := p.objects.Of()
	return blockfile.Place{
		Dir: session.Open(repo.CommonDir).Dir(), Name: session.RecordsFile(p.ledger.ID), Kind: blockKind, Format: p.objects.Format(),
	}
}

// A listed is a turn's record in a ledger.
type listed struct {
	ledger.Numbered
	text string     // as a block has it; empty if it has to be read
	dir  *directory // that becomes a block with it; nil if none does
}

// below yields the records of turns below number as [ledger.Ledger.TurnsBelow]
// does.
func (p *prepared) below(number int) iter.Seq2[listed, error] {
	return func(yield func(listed, error) bool) {
		if err := p.list(); err != nil {
			yield(listed{}, err)
			return
		}
		for i, d := range p.dirs {
			if d.FirstIn() >= number {
				continue
			}
			records, err := p.in(d, number, i == 0)
			if err != nil && !yield(listed{Numbered: ledger.Numbered{Number: d.FirstIn()}}, err) {
				return
			}
			for _, r := range records {
				if r.Number < number && !yield(r, nil) {
					return
				}
			}
		}
	}
}

// in returns the records in a directory, the newest first, of which those below
// number are to be read.
func (p *prepared) in(d ledger.Numbered, number int, newest bool) ([]listed, error) {
	if !newest {
		if p.file == nil {
			p.file = p.place().Open()
		}
		if records, ok := readBlock(p.file.Get(d.Hash), p.objects.Format()); ok {
			return records, nil
		}
	}
	records, err := p.ledger.InDir(d)
	if !newest && len(records) > 0 && records[0].Number < number {
		p.reading[d.Hash] = &directory{of: d.Hash, left: len(records), last: number}
	}
	list := make([]listed, len(records))
	for i, r := range records {
		list[i] = listed{Numbered: r, dir: p.reading[d.Hash]}
	}
	return list, err
}

// A directory is being read, to become a block: of each record, the newest
// first, its number, its hash, and its text behind the size of that.
type directory struct {
	of      object.Hash
	left    int // records to come
	last    int // they are below
	content []byte
	bad     bool // one can't be read
}

// add adds the next record of a directory, as it was read.
func (p *prepared) add(s *stored) {
	d := s.dir
	if d == nil {
		return
	}
	d.bad = d.bad || s.err != nil || s.number >= d.last
	d.left, d.last = d.left-1, s.number
	if d.bad {
		d.content = nil
		return
	}
	d.content = binary.AppendUvarint(d.content, uint64(s.number))
	d.content = append(d.content, s.hash.Bytes()...)
	d.content = append(binary.AppendUvarint(d.content, uint64(len(s.text))), s.text...)
	if d.left == 0 {
		p.made = append(p.made, blockfile.Block{Of: d.of, Content: d.content})
		if p.size += len(d.content); p.size >= bytesKept {
			p.keep()
		}
		d.content = nil
	}
}

// readBlock returns the records of a block.
func readBlock(content []byte, format object.Format) (list []listed, ok bool) {
	for len(content) > 0 {
		number, size := binary.Uvarint(content)
		if size <= 0 || len(content)-size < format.Size() {
			return nil, false
		}
		r := listed{Numbered: ledger.Numbered{Number: int(number), Hash: format.Hash(content[size:])}}
		content = content[size+format.Size():]
		n, size := binary.Uvarint(content)
		if size <= 0 || n > uint64(len(content)-size) {
			return nil, false
		}
		r.text, content = string(content[size:][:n]), content[size:][n:]
		list = append(list, r)
	}
	return list, len(list) > 0
}

// keep adds what was made to the file. What hinders that hinders nothing else.
func (p *prepared) keep() {
	made := p.made
	if p.made, p.size = nil, 0; len(made) == 0 {
		return
	}
	ctx, repo := p.objects.Of()
	store := session.Open(repo.CommonDir)
	if _, err := store.Dir().Lstat("."); err != nil { // nothing was recorded here
		return
	}
	held, _, err := store.TryLockMission(p.ledger.ID)
	if err != nil || held == nil {
		return
	}
	defer held.Release()
	if tip, err := ledger.Tip(ctx, repo, p.ledger.ID); err != nil || tip != p.ledger.Tip {
		return
	}
	now := make(map[object.Hash]bool, len(p.dirs))
	for _, d := range p.dirs {
		now[d.Hash] = true
	}
	_ = p.place().Append(made, func(of object.Hash) bool { return now[of] })
}
