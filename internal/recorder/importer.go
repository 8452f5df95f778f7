package recorder

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// An importer is one run of an import.
type importer struct {
	*workspace.Workspace
	ImportOptions
	list     []*candidate
	unread   error                       // which places could not be searched
	missions map[string][]record.ID      // by session; those that recorded it
	last     map[record.ID]*turns.Glance // of each trusted mission
	alike    map[string][]*candidate     // by the first turn's uuid, which a client's copy shares
	head     object.Hash                 // HEAD's commit; zero on an unborn branch
	trees    []string                    // the worktrees that git knows, also those that are gone
	places   map[string]placed           // of directories
	there    map[string]bool             // whether a path is there
	logs     map[string]headLog          // by git directory
	compared object.Hash                 // the last commit that was, so it is here
	config   func() (git.Config, error)  // git's configuration, read once
}

// A candidate is a session to be imported.
type candidate struct {
	transcript.File
	agent *agent.Agent
	first transcript.FileTurn
	err   error // why it can't be imported
	turns []transcript.FileTurn
}

func newImporter(ctx context.Context, w *workspace.Workspace, i ImportOptions) (*importer, error) {
	im := &importer{
		Workspace: w, ImportOptions: i, missions: make(map[string][]record.ID), last: make(map[record.ID]*turns.Glance), alike: make(map[string][]*candidate),
		places: make(map[string]placed), there: make(map[string]bool), logs: make(map[string]headLog),
		config: sync.OnceValues(func() (git.Config, error) { return ledgertx.ReadConfig(ctx, w.Repo) }),
	}
	head, err := w.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	im.head = head.Commit
	if err := im.find(ctx); err != nil || len(im.list) == 0 { // then there is no need to read all missions
		return im, err
	}
	lines, err := turns.Missions(ctx, w.Repo)
	if err != nil && !errors.As(err, new(*ledger.UnreadError)) {
		return nil, err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	for _, m := range lines {
		standing, err := w.TrustLevel(ctx, objects, m.ID, m.Tip)
		if err != nil || standing.Commit.IsZero() {
			continue // an untrusted mission can name any session
		}
		if standing.Whole {
			im.last[m.ID] = m.Last
		}
		for _, s := range m.Sessions {
			im.missions[s] = append(im.missions[s], m.ID)
		}
	}
	for _, c := range im.list {
		if errors.Is(c.err, errGone) && len(im.missions[c.Session]) > 0 {
			c.Size, c.err = transcript.Size(c.Path)
		}
	}
	return im, nil
}

// find lists the sessions that began in the repository, the oldest first, and
// copies after originals. Last are those that may have begun in it, with the
// reason why that is not known. Unreadable places go to unread.
func (im *importer) find(ctx context.Context) error {
	worktrees, err := im.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, w := range worktrees {
		im.trees = append(im.trees, w.Path)
	}
	objects := im.Repo.Objects(ctx)
	defer objects.Close()
	for _, c := range im.history(im.trees) {
		if !im.concerns(ctx, objects, c) {
			continue
		}
		im.list = append(im.list, c)
		if id := c.first.UUID; id != "" && c.err == nil {
			im.alike[id] = append(im.alike[id], c)
		}
	}
	slices.SortStableFunc(im.list, func(a, b *candidate) int {
		order := cmp.Or(cmp.Compare(unread(a), unread(b)), a.first.At.Compare(b.first.At))
		if order == 0 && a.first.UUID != "" && a.first.UUID == b.first.UUID {
			order = cmp.Compare(copied(a.all()), copied(b.all()))
		}
		return cmp.Or(order, cmp.Compare(a.Session, b.Session))
	})
	return nil
}

// history lists the conversations that may have begun in some directories, of
// all agents whose files can tell.
func (im *importer) history(dirs []string) []*candidate {
	var list []*candidate
	var unread []error
	for _, a := range agent.All() {
		if a.History == nil {
			continue
		}
		files, err := a.History(a.ConfigDir(im.Getenv), dirs)
		unread = append(unread, err)
		for _, f := range files {
			list = append(list, &candidate{File: f, agent: a})
		}
	}
	im.unread = errors.Join(unread...)
	return list
}

func (c *candidate) reader() transcript.Reader { return c.agent.Reader() }

func (c *candidate) all() []transcript.FileTurn {
	if c.turns == nil {
		s, _ := transcript.ReadSegment(c.Path, transcript.Cursor{})
		c.turns = transcript.Turns(c.reader(), s.Bytes)
	}
	return c.turns
}

// unread returns 1 for a session with an error.
func unread(c *candidate) int {
	if c.err != nil {
		return 1
	}
	return 0
}

// copied returns 1 for a client's copy, in which old prompts share one id.
func copied(turns []transcript.FileTurn) int {
	if len(turns) > 1 && turns[0].PromptID == turns[1].PromptID {
		return 1
	}
	return 0
}
