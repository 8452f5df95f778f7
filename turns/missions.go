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
	ids := slices.Sorted(maps.Keys(tips))
	all := make([]survey, len(ids))
	specs := make([]string, 0, 2*len(ids))
	for i, id := range ids {
		all[i].id = id
		specs = append(specs, tips[id].String()+":mission.json", tips[id].String()+":turns")
	}
	err = repo.CatFiles(ctx, specs, func(i int, obj *git.Object) error {
		if s := &all[i/2]; i%2 == 0 {
			s.keep(s.head(obj))
		} else if obj != nil { // nil if there are no turns
			s.keep(s.descend(obj))
		}
		return nil
	})
	if err == nil {
		err = each(ctx, repo, all, (*survey).descend) // turns/0000
	}
	if err == nil {
		err = each(ctx, repo, all, (*survey).record) // turns/0000/000012.json
	}
	if err != nil {
		return nil, err
	}
	var list []Line
	var errs []error
	for _, s := range all {
		if s.err == nil {
			list = append(list, s.line)
		} else {
			errs = append(errs, fmt.Errorf("mission %s can't be read: %v", s.id, s.err)) // the mission is there
		}
	}
	slices.SortFunc(list, func(a, b Line) int {
		return cmp.Or(b.Newest().Compare(a.Newest()), cmp.Compare(a.ID, b.ID))
	})
	return list, errors.Join(errs...)
}

// A survey is what is read of one mission: its head and its last record.
type survey struct {
	id   ledger.ID
	line Line
	err  error         // the first one
	next plumbing.Hash // the object to read next; zero for none
}

// each reads the next object of every mission and hands it to take.
func each(ctx context.Context, repo *git.Repo, all []survey, take func(*survey, *git.Object) error) error {
	var specs []string
	var of []*survey
	for i := range all {
		if s := &all[i]; !s.next.IsZero() && s.err == nil {
			specs, of = append(specs, s.next.String()), append(of, s)
			s.next = plumbing.ZeroHash
		}
	}
	return repo.CatFiles(ctx, specs, func(n int, obj *git.Object) error {
		if obj == nil {
			of[n].keep(fmt.Errorf("object %s: %w", specs[n], plumbing.ErrObjectNotFound))
		} else {
			of[n].keep(take(of[n], obj))
		}
		return nil
	})
}

func (s *survey) keep(err error) {
	if s.err == nil {
		s.err = err
	}
}

func (s *survey) head(obj *git.Object) error {
	if obj == nil {
		return fmt.Errorf("mission.json: %w", plumbing.ErrObjectNotFound)
	}
	var err error
	s.line.Mission, err = ledger.ParseHead(s.id, obj.Content)
	return err
}

// descend makes the tree's entry with the greatest number the next object.
func (s *survey) descend(obj *git.Object) error {
	entries, err := git.ParseTree(obj.Content)
	if err != nil {
		return err
	}
	greatest := -1
	for _, e := range entries {
		if n, err := strconv.Atoi(strings.TrimSuffix(e.Name, ".json")); err == nil && n > greatest {
			greatest, s.next = n, e.Hash
		}
	}
	return nil
}

func (s *survey) record(obj *git.Object) error {
	var err error
	if s.line.Last, err = Parse(obj.Content); err == nil {
		s.line.Turns = s.line.Last.Turn
	}
	return err
}
