package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/trust"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Usable returns a state as the user may rely on it. It asks a person about an
// untrusted one, see [Accept]; foreign says that it was accepted at some time.
func Usable(c *cli.Context, w *workspace.Workspace, s *turns.State) (usable *turns.State, foreign bool, err error) {
	usable, err = s.Usable(c.Context, w)
	if errors.Is(err, workspace.ErrUntrusted) {
		if err := Accept(c, w, s.In); err != nil {
			return nil, false, err
		}
		usable, err = s.Usable(c.Context, w)
	}
	if err != nil {
		return nil, false, err
	}
	by, err := usable.By(c.Context, w)
	return usable, by == trust.Unknown, err
}

// Accept shows a person what the untrusted part of a mission brings, above all
// files that something would run or obey, and asks whether to accept it as it
// is. Any answer but yes, or nobody to ask, is an error. Agents can't answer.
func Accept(c *cli.Context, w *workspace.Workspace, id record.ID) error {
	tip, err := ledger.Tip(c.Context, w.Repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return cmdline.Hint(cmdline.NotFoundf("mission %s: not found", id), "list the missions with: git agent-turn missions")
	}
	if err != nil {
		return err
	}
	objects := w.Repo.Objects(c.Context)
	defer objects.Close()
	standing, err := w.TrustLevel(c.Context, objects, id, tip)
	if err != nil {
		return err
	}
	if standing.Whole {
		fmt.Fprintf(c.App.ErrWriter, "mission %s: nothing to accept; it was recorded by %s\n", id, standing.By)
		return nil
	}
	untrusted := fmt.Errorf("mission %s: %w", id, workspace.ErrUntrusted)
	if why := nobody(c.Context); why != "" {
		return Unaccepted(fmt.Errorf("%w (%s)", untrusted, why), id)
	}
	r, err := newReview(c, w, objects, id, tip, standing)
	if err != nil {
		return err
	}
	if err := r.print(c); err != nil {
		return err
	}
	answer, err := cmdline.Ask(c.Context, fmt.Sprintf("Accept mission %s as it is at %.12s? What is added later must be accepted again.", id, tip), "yes", "no")
	if err != nil {
		return err
	}
	if answer != "yes" {
		return fmt.Errorf("%w, and not accepted; nothing was changed", untrusted)
	}
	held, err := w.Store.LockMission(c.Context, id)
	if err != nil {
		return err
	}
	defer held.Release()
	names := []record.ID{id}
	if r.ledger.Mission.Began != id {
		names = append(names, r.ledger.Mission.Began)
	}
	if err := w.Trust.Accept(tip, names...); err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "accepted mission %s\n", id)
	return nil
}

// Trusted returns an error that wraps [workspace.ErrUntrusted] and hints at
// accepting, unless all of a mission is trusted or it has no ledger yet.
func Trusted(ctx context.Context, w *workspace.Workspace, id record.ID) error {
	tip, err := ledger.Tip(ctx, w.Repo, id)
	if errors.Is(err, git.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	s, err := w.TrustLevel(ctx, objects, id, tip)
	if err == nil && !s.Whole {
		err = Unaccepted(fmt.Errorf("mission %s: %w", id, workspace.ErrUntrusted), id)
	}
	return err
}

// Unaccepted adds to an error about an untrusted mission what a person can do.
func Unaccepted(err error, id record.ID) error {
	return cmdline.Hintf(err, "a person may look at it and accept it, on a terminal of their own: git agent-turn trust accept %s", id)
}

// A review is what a person has to know before they accept a mission.
type review struct {
	repo     *git.Repo
	ledger   *ledger.Ledger
	author   object.Signature
	turns    []*turns.Turn // that are not usable yet
	handoffs int           // the same
	base     object.Hash   // HEAD's tree
	trees    []object.Hash
	of       []string             // what each tree is of
	added    map[object.Hash]bool // commits whose trees these are, and the trees
	obeyed   []gitdiff.Difference
	by       map[string]string // who obeys a path
	whole    bool              // obeyed is complete
}

// Limits of what a review looks at.
const (
	maxObeyed  = 200_000 // differing paths
	maxEvents  = 100_000
	maxRecords = 500_000 // differing paths of ledgers: five for a turn
)

func newReview(c *cli.Context, w *workspace.Workspace, objects *git.Objects, id record.ID, tip object.Hash, standing trust.Level) (*review, error) {
	r := &review{repo: w.Repo, added: make(map[object.Hash]bool), by: make(map[string]string), whole: true}
	var err error
	if r.ledger, err = ledger.At(objects, id, tip); err != nil {
		return nil, err
	}
	commit, err := objects.Commit(tip)
	if err != nil {
		return nil, err
	}
	r.author = commit.Author
	if r.base, err = headTree(c, w, objects); err != nil {
		return nil, err
	}
	usable := ledger.New(objects, &record.Mission{ID: id})
	if !standing.Commit.IsZero() {
		if usable, err = ledger.At(objects, id, standing.Commit); err != nil {
			return nil, err
		}
	}
	same := func(name string) bool {
		before, err := usable.Entry(name)
		now, e := r.ledger.Entry(name)
		return err == nil && e == nil && before == now
	}
	list, err := turns.List(c.Context, w.Repo, id)
	if err := r.readable(c, err); err != nil {
		return nil, err
	}
	r.turns = slices.DeleteFunc(list, func(t *turns.Turn) bool {
		return same(ledger.TurnPath("turns", t.Turn, ".json")) && same(ledger.TurnPath("transcript", t.Turn, ".jsonl"))
	})
	handoffs, err := handoffstore.List(c.Context, w.Repo, id)
	if err := r.readable(c, err); err != nil {
		return nil, err
	}
	handoffs = slices.DeleteFunc(handoffs, func(h *handoffstore.Handoff) bool { return same(ledger.HandoffPath(h.Number, "")) })
	r.handoffs = len(handoffs)
	if err := r.bring(c, objects, standing); err != nil {
		return nil, err
	}
	return r, r.find(c, objects)
}

// bring adds the trees of all commits that can be restored or forked after
// acceptance: those that records name and events keep, in every event, as a
// fork at an earlier turn begins with the records of then.
func (r *review) bring(c *cli.Context, objects *git.Objects, standing trust.Level) error {
	var ledgers, states []object.Hash
	whole := true
	for e, err := range ledger.Events(c.Context, r.repo.With(git.Wary), objects, r.ledger.Tip, maxEvents+1) {
		if err != nil {
			return fmt.Errorf("look at the events of mission %s: %w", r.ledger.ID, err)
		}
		if e.Hash == standing.Commit {
			break
		}
		if whole = len(ledgers) < maxEvents; !whole {
			break
		}
		ledgers, states = append(ledgers, e.Tree), append(states, e.Keeps...)
	}
	before, err := objects.TreeOf(standing.Commit)
	if err != nil {
		return err
	}
	files, all, err := gitdiff.Differences(objects, before, ledgers, maxRecords)
	if err != nil {
		return err
	}
	r.whole = whole && all
	for _, f := range files {
		if err := r.record(objects, f); err != nil {
			return err
		}
	}
	for _, kept := range states {
		if err := r.add(objects, kept, fmt.Sprintf("the state %.12s", kept)); err != nil {
			return err
		}
	}
	return nil
}

// record adds what a record names. An unreadable one can't be used either, but
// one that is not here could become anything later.
func (r *review) record(objects *git.Objects, f gitdiff.Difference) error {
	turn := strings.HasPrefix(f.Path, "turns/")
	handoff := strings.HasPrefix(f.Path, "handoffs/") && path.Base(f.Path) == "handoff.json"
	if !turn && !handoff || f.New.Mode != filemode.Regular && f.New.Mode != filemode.Executable {
		return nil
	}
	most := int64(ledger.MaxTurn)
	if handoff {
		most = ledger.MaxHandoff
	}
	data, err := objects.Blob(f.New.Hash, most)
	if errors.Is(err, plumbing.ErrObjectNotFound) {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	if err != nil {
		return nil
	}
	if turn {
		t, err := turns.Parse(data, objects.Format())
		if err != nil {
			return nil
		}
		of := "turn " + t.ID().String()
		states := []object.Hash{t.Code, t.Base}
		if t.Own != nil {
			states = append(states, t.Own.Others, t.Own.Shared)
		}
		for _, w := range t.Worktrees {
			states = append(states, w.Base, w.Code)
		}
		kept, err := t.KeptSteps(objects)
		if err != nil {
			return fmt.Errorf("look at the steps of turn %s: %w", t.ID(), err)
		}
		for _, commit := range slices.Concat(states, slices.Collect(maps.Values(kept))) {
			if !commit.IsZero() {
				err = cmp.Or(err, r.add(objects, commit, of))
			}
		}
		return err
	}
	h, err := handoffstore.Parse(data, objects.Format())
	if err != nil || h.Stash.IsZero() {
		return nil
	}
	of := "handoff " + h.ID().String()
	if err := r.add(objects, h.Stash, of); err != nil {
		return err
	}
	on, err := objects.Parents(h.Stash) // a merge has it as its base
	if err != nil || len(on) == 0 {
		return err
	}
	return r.add(objects, on[0], of)
}

// readable makes a warning of unreadable records, which can't be used either.
func (r *review) readable(c *cli.Context, err error) error {
	var unread *ledger.UnreadError
	if !errors.As(err, &unread) {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "%s: warning: %s\n", c.App.Name, cmdline.OneLine(err.Error()))
	return nil
}

func headTree(c *cli.Context, w *workspace.Workspace, objects *git.Objects) (object.Hash, error) {
	head, err := w.Repo.Resolve(c.Context, "HEAD")
	if errors.Is(err, git.ErrNotFound) {
		return objects.EmptyTree()
	}
	if err != nil {
		return head, err
	}
	return objects.TreeOf(head)
}

// add adds a commit's tree. A missing one could become anything later.
func (r *review) add(objects *git.Objects, commit object.Hash, of string) error {
	if commit.IsZero() || r.added[commit] {
		return nil
	}
	tree, err := objects.TreeOf(commit)
	if err != nil {
		return fmt.Errorf("look at the files of %s: commit %s: %w", of, commit, err)
	}
	if !r.added[tree] {
		r.trees, r.of = append(r.trees, tree), append(r.of, of)
	}
	r.added[commit], r.added[tree] = true, true
	return nil
}

// find finds the paths that something obeys, and what such links lead to.
func (r *review) find(c *cli.Context, objects *git.Objects) error {
	all, whole, err := gitdiff.Differences(objects, r.base, r.trees, maxObeyed)
	if err != nil {
		return err
	}
	r.whole = r.whole && whole
	var also []string
	conf, err := r.repo.Config(c.Context)
	if err != nil {
		return err
	}
	if dir := conf.Get("core.hookspath"); dir != "" && !filepath.IsAbs(dir) {
		also = append(also, dir)
	}
	for more := true; more && len(also) < 100; {
		more = false
		for _, d := range all {
			by := trust.ObeyedBy(d.Path, also...)
			if by == "" || r.by[d.Path] != "" {
				continue
			}
			r.by[d.Path] = by
			if d.New.Mode == filemode.Symlink {
				if target, err := objects.Blob(d.New.Hash, maxLink); err == nil {
					also, more = append(also, path.Join(path.Dir(d.Path), string(target))), true
				}
			}
		}
	}
	for _, d := range all {
		if r.by[d.Path] != "" {
			r.obeyed = append(r.obeyed, d)
		}
	}
	return nil
}

// Limits of what is read and printed.
const (
	maxLink   = 4096 // bytes of what a symbolic link leads to
	maxListed = 100  // paths
	maxShown  = 400  // lines of diffs
	bigFile   = "1m" // of larger files only that they differ
)

func (r *review) print(c *cli.Context) error {
	to := c.App.ErrWriter
	say := func(format string, args ...any) {
		fmt.Fprintln(to, cmdline.Indent("", fmt.Sprintf(format, args...), cmdline.Columns(to)))
	}
	say("mission %s is not signed by a key you trust. Its commits say %s, which anyone can write.",
		r.ledger.ID, cmdline.Escape(fmt.Sprintf("%s <%s>", r.author.Name, r.author.Email)))
	last := ""
	if n := len(r.turns); n > 0 {
		last = ", the last " + cmdline.Age(time.Now(), r.turns[n-1].At) + " ago"
	}
	say("It has %s%s, and %s, that you have not accepted.", cmdline.Plural(len(r.turns), "turn"), last, cmdline.Plural(r.handoffs, "handoff"))
	say("Read what was said with:\n  git agent-turn list --mission %[1]s\n  git agent-handoff list --mission %[1]s", r.ledger.ID)
	if len(r.obeyed) == 0 && r.whole {
		say("Of its files that differ from HEAD none is one that an agent's client, an editor, a shell or git obeys by itself.")
		return nil
	}
	say("These of its files differ from HEAD, and are run or obeyed by themselves:")
	for i, d := range r.obeyed {
		if i == maxListed {
			fmt.Fprintf(to, "  and %d more\n", len(r.obeyed)-i)
			break
		}
		fmt.Fprintf(to, "  %s (%s; %s)\n", cmdline.Escape(d.Path), r.by[d.Path], r.of[d.Tree])
	}
	if !r.whole {
		say("There are too many files to look at all of them.")
	}
	return r.printDiffs(c)
}

func (r *review) printDiffs(c *cli.Context) error {
	left := maxShown
	repo := r.repo.With(git.Env("GIT_LITERAL_PATHSPECS=1"))
	for i := 0; i < min(len(r.obeyed), maxListed) && left > 0; {
		tree := r.obeyed[i].Tree
		args := []string{
			"-c", "core.bigFileThreshold=" + bigFile, "diff", r.base.String(), r.trees[tree].String(), "--",
		}
		for ; i < min(len(r.obeyed), maxListed) && r.obeyed[i].Tree == tree; i++ {
			args = append(args, r.obeyed[i].Path)
		}
		out, err := repo.Output(c.Context, nil, args...)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "\n%s\n", r.of[tree])
		for line := range strings.Lines(string(out)) {
			if left--; left == 0 {
				fmt.Fprintf(c.App.ErrWriter, "There is more; all of it: git diff %s %s\n", r.base, r.trees[tree])
				break
			}
			fmt.Fprintln(c.App.ErrWriter, cmdline.Escape(strings.TrimRight(line, "\n")))
		}
	}
	return nil
}
