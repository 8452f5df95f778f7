package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-billy/v5"
	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
)

// smallPacks are the packs whose index is worth reading in-process: those that turns write, and
// what they are rolled up into. A hook finds in them nearly all that it reads of
// a mission, and saves the process and the round trips of `git cat-file`.
type smallPacks struct {
	fs    billy.Filesystem
	names []string // not yet opened, the newest last
	packs []*packfile.Packfile
	read  bool
}

// maxSmallIndex is the largest index in bytes that is read in-process: 2,000 objects, 0.2 ms.
const maxSmallIndex = 64 << 10

// get returns an object of the small packs, nil if none of them has it. A pack that can't be read is passed over:
// git will say what is wrong with it.
func (s *smallPacks) get(dir string, h plumbing.Hash) *plumbing.MemoryObject {
	if !s.read {
		s.list(dir)
	}
	for _, p := range s.packs {
		if obj := getFrom(p, h); obj != nil {
			return obj
		}
	}
	for len(s.names) > 0 {
		name := s.names[len(s.names)-1]
		s.names = s.names[:len(s.names)-1]
		p := s.open(name)
		if p == nil {
			continue
		}
		s.packs = append(s.packs, p)
		if obj := getFrom(p, h); obj != nil {
			return obj
		}
	}
	return nil
}

func (s *smallPacks) list(dir string) {
	s.read = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	s.fs = osfs.New(dir)
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

func (s *smallPacks) open(name string) *packfile.Packfile {
	f, err := os.Open(filepath.Join(s.fs.Root(), name+".idx"))
	if err != nil {
		return nil
	}
	defer f.Close()
	index := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(f).Decode(index); err != nil {
		return nil
	}
	pack, err := s.fs.Open(name + ".pack")
	if err != nil {
		return nil
	}
	return packfile.NewPackfile(index, s.fs, pack, 0)
}

func getFrom(p *packfile.Packfile, h plumbing.Hash) *plumbing.MemoryObject {
	e, err := p.Get(h)
	if err != nil {
		return nil
	}
	if obj, ok := e.(*plumbing.MemoryObject); ok {
		return obj
	}
	content, err := Content(e)
	if err != nil {
		return nil
	}
	obj := new(plumbing.MemoryObject)
	obj.SetType(e.Type())
	_, err = obj.Write(content)
	if err != nil {
		return nil
	}
	return obj
}

func (s *smallPacks) close() {
	for _, p := range s.packs {
		_ = p.Close()
	}
	s.packs, s.names = nil, nil
}
