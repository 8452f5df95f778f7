package git

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"
)

// smallPacks are the packs whose index is worth reading in-process: those that turns write. They
// hold nearly everything that a hook reads of a mission, which saves the process and the round
// trips of `git cat-file`.
type smallPacks struct {
	dir string

	mu     sync.Mutex
	read   bool
	unread []fs.FileInfo // of the indexes not yet opened, the newest last
	packs  []smallPack

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
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(s.packs) || s.openNext(); i++ {
		if offset := s.packs[i].index.offset(h); offset >= 0 {
			return s.entries.entry(s.packs[i], offset, maxDeltas)
		}
	}
	return plumbing.InvalidObject, nil
}

// openNext opens the newest readable pack that is not yet open, and reports whether there is one.
func (s *smallPacks) openNext() bool {
	if !s.read {
		s.list()
	}
	for len(s.unread) > 0 {
		name := s.unread[len(s.unread)-1].Name()
		s.unread = s.unread[:len(s.unread)-1]
		if p, err := openSmallPack(filepath.Join(s.dir, strings.TrimSuffix(name, ".idx"))); err == nil {
			s.packs = append(s.packs, p)
			return true
		}
	}
	return false
}

func (s *smallPacks) list() {
	s.read = true
	entries, _ := os.ReadDir(s.dir)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".idx") {
			continue
		}
		if info, err := e.Info(); err == nil && info.Size() <= maxSmallIndex {
			s.unread = append(s.unread, info)
		}
	}
	slices.SortFunc(s.unread, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
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
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.packs {
		_ = p.file.Close()
	}
	s.packs, s.unread = nil, nil
}
