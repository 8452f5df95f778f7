package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// smallPacks are the packs whose index is worth reading in-process: those that turns write. They
// hold nearly everything that a hook reads of a mission, which saves the process and the round
// trips of `git cat-file`.
type smallPacks struct {
	dir   string
	names []string // packs not yet opened, the newest last
	packs []smallPack
	read  bool

	entries entryReader
}

type smallPack struct {
	index packIndex
	file  *os.File
}

// maxSmallIndex is the size in bytes of the largest index read in-process: 2,000 objects, 0.2 ms.
const maxSmallIndex = 64 << 10

// get returns an object of the small packs; its type is [plumbing.InvalidObject] if none of them
// has it. An unreadable pack is skipped: git will say what is wrong with it.
func (s *smallPacks) get(h plumbing.Hash) (plumbing.ObjectType, []byte) {
	if !s.read {
		s.list()
	}
	for _, p := range s.packs {
		if offset, ok := p.index.offset(h); ok {
			return s.entries.entry(p, offset, maxDeltas)
		}
	}
	for len(s.names) > 0 {
		name := s.names[len(s.names)-1]
		s.names = s.names[:len(s.names)-1]
		p, err := openSmallPack(filepath.Join(s.dir, name))
		if err != nil {
			continue
		}
		s.packs = append(s.packs, p)
		if offset, ok := p.index.offset(h); ok {
			return s.entries.entry(p, offset, maxDeltas)
		}
	}
	return plumbing.InvalidObject, nil
}

func (s *smallPacks) list() {
	s.read = true
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return
	}
	type pack struct {
		name string
		at   time.Time
	}
	var list []pack
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".idx")
		if !ok {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() <= maxSmallIndex {
			list = append(list, pack{name, info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b pack) int { return a.at.Compare(b.at) })
	for _, p := range list {
		s.names = append(s.names, p.name)
	}
}

func openSmallPack(base string) (smallPack, error) {
	data, err := os.ReadFile(base + ".idx")
	if err != nil {
		return smallPack{}, err
	}
	index, err := newPackIndex(data)
	if err != nil {
		return smallPack{}, err
	}
	file, err := os.Open(base + ".pack")
	return smallPack{index, file}, err
}

func (s *smallPacks) close() {
	for _, p := range s.packs {
		_ = p.file.Close()
	}
	s.packs, s.names = nil, nil
}
