package finisher

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// Reasons why a fork's commits can't be picked, besides [turns.ErrOwnBranch],
// [ErrUnderWay], [ErrNotCommitted] and [ErrNotNoted].
var (
	ErrNoBranch  = errors.New("it has no branch")
	ErrOffBranch = errors.New("not on its branch")
	ErrMerges    = errors.New("a merge")
	ErrNotTaken  = errors.New("git has not taken them")
	ErrStopped   = errors.New("git has stopped in the middle")
)

// A Taking says how the commits of a fork get into HEAD's branch.
type Taking struct {
	Merge   bool // by git merge, with all that HEAD lacks of the branch; else each is picked
	Whole   bool // up to the tip of the branch; else up to the state
	Dry     bool
	Foreign bool      // the fork is untrusted, and the user has accepted it
	Stdin   io.Reader // of git, its hooks and the editor
	Talk    io.Writer // where they write
}

// A Picked lists the commits that were picked, or would be.
type Picked struct {
	Commits []CommitLine // the fork's, the oldest first; none if HEAD has all of it
	Before  object.Hash  // HEAD
	After   object.Hash  // HEAD then; zero after a dry run
	Marked  []string     // files that have marks, [scrub.Mark], by them
}

// A CommitLine is a commit as lists show it.
type CommitLine struct {
	Hash    object.Hash
	Subject string // untrusted text
}

// CherryPick takes the commits of a fork's branch into HEAD's, as the user
// would: with `git cherry-pick` of those after the fork point that HEAD lacks,
// or with `git merge`. Then the fork's ledger notes it and keeps the new HEAD.
//
// If git stops, at conflicts for instance, all stays as git leaves it, nothing
// is noted, and the error wraps [ErrStopped].
func CherryPick(ctx context.Context, w *workspace.Workspace, at time.Time, s *turns.State, how Taking) (*Picked, error) {
	what := s.Describe()
	done, err := cherryPick(ctx, w, at, s, how)
	if err != nil {
		return nil, fmt.Errorf("take the commits of %s: %w", what, err)
	}
	return done, nil
}

func cherryPick(ctx context.Context, w *workspace.Workspace, at time.Time, s *turns.State, how Taking) (*Picked, error) {
	s, err := s.Usable(ctx, w)
	if err != nil {
		return nil, err
	}
	g := w.Repo.With(git.AsUser)
	if how.Foreign {
		if g, err = g.Foreign(ctx); err != nil {
			return nil, err
		}
	}
	k, err := readPickable(ctx, w, g, s, how)
	if err != nil {
		return nil, err
	}
	done := &Picked{Commits: k.commits, Before: k.head}
	if how.Dry {
		return done, nil
	}
	done.After = done.Before
	ctx = context.WithoutCancel(ctx) // an interrupt in the terminal is for git and the editor, too, which decide
	if len(k.commits) > 0 {
		if done.After, err = pickInto(ctx, w, g, k, how); err != nil {
			return nil, err
		}
		before, err := treeOf(ctx, w, done.Before)
		if err != nil {
			return nil, err
		}
		after, err := treeOf(ctx, w, done.After)
		if err != nil {
			return nil, err
		}
		if done.Marked, err = marked(ctx, w, before, after); err != nil {
			return nil, err
		}
	}
	if err := notePicked(ctx, w, at, s, done.After, len(k.commits) > 0); err != nil {
		return nil, fmt.Errorf("HEAD has them, and %w: %w", ErrNotNoted, err)
	}
	return done, nil
}

// A pickable is what HEAD lacks of a fork.
type pickable struct {
	head, tip object.Hash // HEAD, and the last commit to take of the fork's branch
	name      string      // for git merge
	commits   []CommitLine
}

func readPickable(ctx context.Context, w *workspace.Workspace, g *git.Repo, s *turns.State, how Taking) (*pickable, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	branch := w.Branch(s.In)
	refs, err := w.Repo.Refs(ctx, s.In.Ref(), branch)
	if err != nil {
		return nil, err
	}
	head, err := w.Repo.Head(ctx)
	if err != nil {
		return nil, err
	}
	if refs[s.In.Ref()].IsZero() {
		return nil, fmt.Errorf("mission %s: %w", s.In, turns.ErrArchived)
	}
	l, err := w.Usable(ctx, objects, s.In, refs[s.In.Ref()])
	if err != nil {
		return nil, err
	}
	point, err := turns.Adoptable(ctx, w, objects, l.Mission, head, s)
	if err == nil {
		if err = objects.Has(point.Commit); err != nil {
			err = fmt.Errorf("find where it began: %w", err)
		}
	}
	tip, ok := refs[branch]
	switch {
	case err != nil:
		return nil, err
	case !ok:
		return nil, fmt.Errorf("mission %s: %w", s.In, ErrNoBranch)
	case head.Commit.IsZero():
		return nil, errors.New("HEAD has no commit yet to add them to")
	}
	if op, err := w.Repo.Operation(ctx); err != nil || op != "" && !how.Dry {
		return nil, cmp.Or(err, fmt.Errorf("a %s %w here", op, ErrUnderWay))
	}
	k := &pickable{head: head.Commit, tip: tip}
	if !how.Whole {
		k.tip = s.Commit
		on, err := w.Repo.IsAncestor(ctx, s.Commit, tip)
		if err != nil {
			return nil, err
		}
		if !on {
			return nil, fmt.Errorf("the commit of %s is %w %s", s.Describe(), ErrOffBranch, strings.TrimPrefix(branch, "refs/heads/"))
		}
	}
	if !how.Merge {
		k.commits, err = picks(ctx, w, g, objects, k, point)
		return k, err
	}
	if k.name, err = mergeName(ctx, w, k.tip, branch, tip); err != nil {
		return nil, err
	}
	found, err := log(ctx, w, k.head.String()+".."+k.tip.String())
	for _, c := range found {
		k.commits = append(k.commits, c.CommitLine)
	}
	return k, err
}

// mergeName returns a commit's name for git merge and its message.
func mergeName(ctx context.Context, w *workspace.Workspace, commit object.Hash, branch string, tip object.Hash) (string, error) {
	if commit != tip {
		return commit.String(), nil
	}
	name, err := w.Repo.Output(ctx, nil, "for-each-ref", "--format=%(refname:short)", branch) // a tag may have its name
	return strings.TrimSpace(string(name)), err
}

// picks returns the fork's commits that HEAD lacks, also as a copied patch.
func picks(ctx context.Context, w *workspace.Workspace, g *git.Repo, objects *git.Objects, k *pickable, point turns.ForkPoint) ([]CommitLine, error) {
	found, err := log(ctx, w, "--cherry-pick", "--right-only", k.head.String()+"..."+k.tip.String(), "^"+point.Commit.String())
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		if c.parents > 1 {
			return nil, fmt.Errorf("%.7s %s is %w, which can't be picked", c.Hash, c.Subject, ErrMerges)
		}
	}
	return lacking(ctx, g, objects, k.head, found)
}

type logged struct {
	CommitLine
	parents int
}

func log(ctx context.Context, w *workspace.Workspace, revs ...string) ([]logged, error) {
	args := append([]string{"log", "-z", "--reverse", "--topo-order", "--format=%H %P%n%s"}, revs...)
	out, err := w.Repo.With(git.Wary).Output(ctx, nil, append(args, "--")...)
	if err != nil {
		return nil, err
	}
	var list []logged
	for entry := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		hashes, subject, _ := strings.Cut(entry, "\n")
		if fields := strings.Fields(hashes); len(fields) > 0 {
			list = append(list, logged{CommitLine{object.NewHash(fields[0]), ledger.Head(subject, turns.MaxSubject)}, len(fields) - 1})
		}
	}
	return list, nil
}

// lacking drops commits that would be empty when picked in order, because git
// stops there. After a conflict the result is unknown; from then on only
// commits that are empty by themselves are dropped.
func lacking(ctx context.Context, g *git.Repo, objects *git.Objects, head object.Hash, found []logged) ([]CommitLine, error) {
	ours, err := objects.TreeOf(head)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	base, err := objects.EmptyTree()
	if err != nil {
		return nil, err
	}
	conflicts := false
	var list []CommitLine
	for _, c := range found {
		theirs, err := objects.TreeOf(c.Hash)
		if err != nil {
			return nil, err
		}
		parents, err := objects.Parents(c.Hash)
		if err == nil && len(parents) > 0 {
			base, err = objects.TreeOf(parents[0])
		}
		if err != nil {
			return nil, err
		}
		if base == theirs {
			continue
		}
		if !conflicts {
			merged, err := gitdiff.MergeTrees(ctx, g, objects, base, ours, theirs)
			if err != nil {
				return nil, err
			}
			conflicts = len(merged.Conflicts) > 0
			if !conflicts && merged.Tree == ours {
				continue
			}
			ours = merged.Tree
		}
		list = append(list, c.CommitLine)
	}
	return list, nil
}

func pickInto(ctx context.Context, w *workspace.Workspace, g *git.Repo, k *pickable, how Taking) (object.Hash, error) {
	args := []string{"merge", k.name}
	if !how.Merge {
		args = []string{"cherry-pick"}
		for _, c := range k.commits {
			args = append(args, c.Hash.String())
		}
	}
	err := locking(ctx, w, g, func(g *git.Repo) error { return g.Run(ctx, how.Stdin, how.Talk, how.Talk, args...) })
	if err != nil {
		if op, e := w.Repo.Operation(ctx); e == nil && op != "" {
			return object.Hash{}, fmt.Errorf("%w: %w", ErrStopped, err)
		}
		return object.Hash{}, fmt.Errorf("%w: %w", ErrNotTaken, err)
	}
	now, err := w.Repo.Head(ctx)
	if err == nil && now.Commit == k.head { // merge.<branch>.options may say --squash
		err = ErrNotCommitted
	}
	return now.Commit, err
}

// notePicked notes that HEAD has the fork's commits, if that is news.
func notePicked(ctx context.Context, w *workspace.Workspace, at time.Time, s *turns.State, head object.Hash, taken bool) error {
	job := ledgertx.Job{Mission: s.In, At: at, What: "adopt"}
	return ledgertx.Run(ctx, w, ledgertx.Of(job), func(ctx context.Context, tx *ledgertx.Tx) error {
		if err := tx.Open(ctx); err != nil {
			return err
		}
		if tx.Ledger == nil {
			return fmt.Errorf("mission %s: %w", tx.ID, git.ErrNotFound)
		}
		last := s.Turn.Turn
		if a := tx.Ledger.Mission.Adopted; !taken && a != nil && !a.Undone && a.Turn >= last && turns.BeforeHead(ctx, w, a.Commit, git.Head{Commit: head}) {
			return nil
		}
		tx.Ledger.Mission.Adopted = &record.Adoption{Turn: last, At: tx.At, Commit: head}
		if err := tx.Append(fmt.Sprintf("adopt %d", last), nil, head); err != nil {
			return err
		}
		return tx.Commit(ctx)
	})
}
