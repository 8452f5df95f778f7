package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// A Line is a mission as a list shows it.
type Line struct {
	*ledger.Mission
	Turns int   // number of the last turn
	Last  *Turn // nil if there is none
}

// Newest is the time of the mission's last turn or, without turns, of its creation.
func (l Line) Newest() time.Time {
	if l.Last != nil {
		return l.Last.At
	}
	return l.Created
}

// Missions returns the missions of the repository, the one with the newest turn first. A mission
// that can't be read is left out and reported in the error.
//
// For 10,000 missions that is 40,000 objects, so they are read in three batches over all missions.
func Missions(ctx context.Context, repo *git.Repo) ([]Line, error) {
	tips, err := ledger.List(ctx, repo)
	if err != nil {
		return nil, err
	}
	s := &survey{ids: slices.Sorted(maps.Keys(tips)), tips: tips}
	s.lines, s.errs, s.next = make([]Line, len(s.ids)), make([]error, len(s.ids)), make([]plumbing.Hash, len(s.ids))
	if err := s.read(ctx, repo); err != nil {
		return nil, err
	}
	var list []Line
	for i, line := range s.lines {
		if s.errs[i] == nil {
			list = append(list, line)
		} else {
			s.errs[i] = fmt.Errorf("mission %s can't be read: %v", s.ids[i], s.errs[i]) // the mission is there
		}
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(b.Newest().Compare(a.Newest()), cmp.Compare(a.ID, b.ID))
	})
	return list, errors.Join(s.errs...)
}

// A survey reads the head and the last record of every mission.
type survey struct {
	ids   []ledger.ID
	tips  map[ledger.ID]plumbing.Hash
	lines []Line
	errs  []error
	next  []plumbing.Hash // the object to read next of each mission; zero for none
}

func (s *survey) read(ctx context.Context, repo *git.Repo) error {
	specs := make([]string, 0, 2*len(s.ids))
	for _, id := range s.ids {
		tip := s.tips[id].String()
		specs = append(specs, tip+":mission.json", tip+":turns")
	}
	err := repo.CatFiles(ctx, specs, func(i int, obj *git.Object) error {
		if i%2 == 0 {
			s.keep(i/2, s.head(i/2, obj))
		} else if obj != nil { // nil if there are no turns
			s.keep(i/2, s.descend(i/2, obj))
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.each(ctx, repo, s.descend); err != nil { // turns/0000
		return err
	}
	return s.each(ctx, repo, s.record) // turns/0000/000012.json
}

// each reads the next object of every mission and hands it to take.
func (s *survey) each(ctx context.Context, repo *git.Repo, take func(int, *git.Object) error) error {
	var specs []string
	var of []int
	for i, hash := range s.next {
		if !hash.IsZero() && s.errs[i] == nil {
			specs, of = append(specs, hash.String()), append(of, i)
		}
		s.next[i] = plumbing.ZeroHash
	}
	return repo.CatFiles(ctx, specs, func(n int, obj *git.Object) error {
		if obj == nil {
			s.keep(of[n], fmt.Errorf("object %s: %w", specs[n], plumbing.ErrObjectNotFound))
			return nil
		}
		s.keep(of[n], take(of[n], obj))
		return nil
	})
}

// keep remembers the first error of a mission.
func (s *survey) keep(i int, err error) {
	if s.errs[i] == nil {
		s.errs[i] = err
	}
}

func (s *survey) head(i int, obj *git.Object) error {
	if obj == nil {
		return fmt.Errorf("mission.json: %w", plumbing.ErrObjectNotFound)
	}
	var err error
	s.lines[i].Mission, err = ledger.ParseHead(s.ids[i], obj.Content)
	return err
}

// descend makes the tree's entry with the greatest number the next object.
func (s *survey) descend(i int, obj *git.Object) error {
	entries, err := git.ParseTree(obj.Content)
	if err != nil {
		return err
	}
	greatest := -1
	for _, e := range entries {
		if n, err := strconv.Atoi(strings.TrimSuffix(e.Name, ".json")); err == nil && n > greatest {
			greatest, s.next[i] = n, e.Hash
		}
	}
	return nil
}

func (s *survey) record(i int, obj *git.Object) error {
	var err error
	if s.lines[i].Last, err = Parse(obj.Content); err == nil {
		s.lines[i].Turns = s.lines[i].Last.Turn
	}
	return err
}
