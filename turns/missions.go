package turns

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// ErrArchived reports an archived mission, which has no branch.
var ErrArchived = errors.New("it is archived")

// A MissionLine is a mission as lists show it.
type MissionLine struct {
	*record.Mission
	Tip   object.Hash // of its ledger
	Turns int         // number of the last turn
	Last  *Glance     // of the last turn; nil if there is none, or it can't be read
}

// A Glance is what lists keep of a turn's record, which may have megabytes.
type Glance struct {
	Mission  record.ID
	Turn     int
	At       time.Time
	Session  string // empty if longer than a client's
	Prompt   string // its beginning
	Imported string // as Prompt
	Context  int64
	Checked  string // the word for its checks
	To       int64  // end of the segment in the client's file, -1 if there is none
}

// maxName is the longest name that a [Glance] keeps, in bytes.
const maxName = 256

func (t *Turn) glance() *Glance {
	g := &Glance{
		Mission: record.ID(strings.Clone(string(t.Mission))), Turn: t.Turn, At: t.At, Context: t.Context, Checked: t.Checked(), To: -1,
		Prompt: strings.Clone(ledger.Head(t.Prompt, record.MaxPrompt)), Imported: strings.Clone(ledger.Head(t.Imported, maxName)),
	}
	if len(t.Session) <= maxName {
		g.Session = strings.Clone(t.Session)
	}
	if t.Transcript != nil {
		g.To = t.Transcript.To
	}
	return g
}

// Newest returns the time of the last turn, or of creation if the mission is a
// fork that has only inherited turns.
func (l MissionLine) Newest() time.Time {
	if l.Last != nil && l.Last.At.After(l.Created) {
		return l.Last.At
	}
	return l.Created
}

// Missions returns the repository's missions, the newest turn's first.
// Unreadable missions are left out, and the error says so; it also reports
// unreadable last turns, whose missions stay in the list.
func Missions(ctx context.Context, repo *git.Repo) ([]MissionLine, error) {
	tips, err := ledger.List(ctx, repo)
	if err != nil {
		return nil, err
	}
	return Lines(ctx, repo, tips)
}

// Lines is [Missions] for some of them, given with the tips of their ledgers.
// For 10,000 missions it reads 60,000 objects, in batches.
func Lines(ctx context.Context, repo *git.Repo, tips map[record.ID]object.Hash) ([]MissionLine, error) {
	var list []MissionLine
	unread, err := surveyAll(ctx, repo, tips, func(s *survey) { list = append(list, s.line) })
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, MissionLine.byNewest)
	return list, unread.Err()
}

// byNewest compares missions in the order of [Missions].
func (l MissionLine) byNewest(other MissionLine) int {
	return cmp.Or(other.Newest().Compare(l.Newest()), cmp.Compare(l.ID, other.ID))
}

// surveyAll reads missions, and calls f with each that can be read.
func surveyAll(ctx context.Context, repo *git.Repo, tips map[record.ID]object.Hash, f func(*survey)) (unread ledger.ReadErrors, err error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(tips)), atOnce) {
		reads := new(git.Reads)
		some := make([]*survey, len(ids))
		for i, id := range ids {
			some[i] = &survey{Reads: reads, id: id, line: MissionLine{Tip: tips[id]}}
			some[i].Want(tips[id], plumbing.CommitObject, git.MaxCommit, some[i].commit)
		}
		if err := reads.Run(objects); err != nil {
			return unread, err
		}
		for _, s := range some {
			if s.err == nil {
				f(s)
			} else {
				unread.Add(ledger.Unreadable(s.id, s.err))
			}
			unread.Add(s.last)
		}
	}
	return unread, nil
}

type survey struct {
	*git.Reads
	id   record.ID
	line MissionLine
	text string            // its mission.json
	err  error             // why the mission can't be read
	last error             // why its last turn can't be
	dirs []ledger.Numbered // of turns, not yet searched
}

func (s *survey) commit(content []byte, err error) {
	c, err := parseCommit(content, err)
	if err != nil {
		s.err = err
		return
	}
	s.Want(c.Tree, plumbing.TreeObject, ledger.MaxTree, s.top)
}

func parseCommit(content []byte, err error) (*object.Commit, error) {
	if err != nil {
		return nil, err
	}
	return object.ParseCommit(content)
}

func (s *survey) top(content []byte, err error) {
	entries, err := s.Tree(content, err)
	head, ok := entries["mission.json"]
	if err == nil && !ok {
		err = fmt.Errorf("mission.json: %w", plumbing.ErrObjectNotFound)
	}
	if err != nil {
		s.err = err
		return
	}
	s.Want(head.Hash, plumbing.BlobObject, ledger.MaxHead, s.head)
	if dir := entries["turns"]; dir.Mode == filemode.Dir {
		s.Want(dir.Hash, plumbing.TreeObject, ledger.MaxTree, func(content []byte, err error) {
			entries, err := s.Tree(content, err)
			s.last, s.dirs = err, ledger.NewestDirs(entries)
			s.descend()
		})
	}
}

func (s *survey) head(content []byte, err error) {
	if err == nil {
		s.text = string(content)
		s.line.Mission, err = record.ParseHead(s.id, s.text, s.Format())
	}
	s.err = err
}

func (s *survey) descend() {
	if len(s.dirs) == 0 {
		return
	}
	dir := s.dirs[0]
	s.dirs = s.dirs[1:]
	s.Want(dir.Hash, plumbing.TreeObject, ledger.MaxTree, func(content []byte, err error) {
		entries, err := s.Tree(content, err)
		records := ledger.NewestRecords(dir.Number, entries)
		switch {
		case err != nil:
			s.last = fmt.Errorf("turns of mission %s: %w", s.id, err)
		case len(records) == 0:
			s.descend()
		default:
			s.line.Turns = records[0].Number
			s.Want(records[0].Hash, plumbing.BlobObject, ledger.MaxTurn, s.record)
		}
	})
}

func (s *survey) record(content []byte, err error) {
	if err == nil {
		var t *Turn
		if t, err = parseAt(string(content), s.id, s.line.Tip, s.line.Turns); err == nil {
			s.line.Last = t.glance()
		}
	} else {
		err = fmt.Errorf("read turn %s: %w", record.TurnID{Mission: s.id, Turn: s.line.Turns}, err)
	}
	s.last = err
}
