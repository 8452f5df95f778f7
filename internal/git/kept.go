package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
)

// A Keeper is a ref of this clone alone that keeps commits from git's garbage
// collection, whatever a fetch or a prune does to all refs below refs/. It is a
// symbolic ref, as a prune deletes none, to a ref beside HEAD, where no refspec
// leads:
//
//	refs/agent/kept/ab -> main-worktree/AGENT_AB_HEAD
//
// Only git knows what main-worktree/ means. A plain ref beside the symbolic one,
// refs/agent/kept/ab-plain, says to other programs' garbage collections what it
// leads to: else they take the commit, and git then fails at the symbolic ref.
//
// What the user's own git does to it directly, such as deleting it or filtering
// the history, is done to the commits that it keeps.
type Keeper struct {
	repo   *Repo
	number uint32
}

// Keepers is the prefix of all keepers' refs but those beside HEAD.
const Keepers = "refs/agent/kept/"

// Keeper returns the keeper of a number below 676.
func (r *Repo) Keeper(number uint32) Keeper {
	return Keeper{r, number}
}

func (k Keeper) name() string {
	return string([]byte{byte('a' + k.number/26), byte('a' + k.number%26)})
}

// Ref returns the symbolic ref.
func (k Keeper) Ref() string { return Keepers + k.name() }

// Plain returns the plain ref.
func (k Keeper) Plain() string { return k.Ref() + plainSuffix }

const plainSuffix = "-plain"

// beside is the ref beside HEAD, as from the main worktree.
func (k Keeper) beside() string { return "AGENT_" + strings.ToUpper(k.name()) + "_HEAD" }

const fromMain = "main-worktree/"

// target is the same as from any worktree.
func (k Keeper) target() string { return fromMain + k.beside() }

// At returns the commit that the keeper is at, or zero, and whether the
// symbolic ref is there. With files for refs it reads two, with reftables it
// asks git.
func (k Keeper) At(ctx context.Context) (at object.Hash, pointed bool) {
	if !k.repo.InTables() {
		data, _ := readPlain(k.repo.fileOf(k.beside()))
		at, _ = object.ParseHash(strings.TrimSuffix(string(data), "\n"))
		data, _ = readPlain(k.repo.fileOf(k.Ref()))
		return at, strings.TrimSpace(string(data)) == "ref: "+k.target()
	}
	out, _ := k.repo.Output(ctx, nil, "for-each-ref", "--format=%(objectname) %(symref)", k.Ref())
	text, to, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if pointed = to == k.target(); !pointed {
		out, _ = k.repo.Output(ctx, nil, "rev-parse", "--verify", "--quiet", k.target())
		text = strings.TrimSpace(string(out))
	}
	at, _ = object.ParseHash(text)
	return at, pointed
}

// Together reports whether [Keeper.Update] is possible: a git in a linked
// worktree writes no reftable of the main one.
func (k Keeper) Together() bool { return !k.repo.InTables() || k.repo.GitDir == k.repo.CommonDir }

// Updates returns the steps of a transaction that moves the keeper to a commit,
// whatever it is at: who moves it must keep others of ours from doing so. The
// plain ref is left to [Keeper.Point] if the keeper is not pointed yet, as
// something may be in the way of both, which must not fail the transaction.
func (k Keeper) Updates(to object.Hash, pointed bool) []Update {
	u := Update{Ref: k.target(), New: to, Anyway: true}
	if k.repo.InTables() {
		u.Ref = k.beside()
	}
	if !pointed {
		return []Update{u}
	}
	return []Update{u, k.plain(to)}
}

// Mend removes the keeper's files if they hold nothing, as after a power cut: git
// refuses to move such a ref.
func (k Keeper) Mend() {
	if k.repo.InTables() {
		return
	}
	for _, file := range []string{k.repo.fileOf(k.beside()), k.repo.fileOf(k.Ref()), k.repo.fileOf(k.Plain())} {
		data, err := readPlain(file)
		if text := strings.TrimSpace(string(data)); err == nil && !strings.HasPrefix(text, "ref: refs/") && text != "ref: "+k.target() {
			if _, err := object.ParseHash(text); err != nil {
				_ = os.Remove(file) // else git names it
			}
		}
	}
}

// Move moves the keeper to a commit alone; zero deletes it. held is a lock that
// keeps our other processes from doing so.
func (k Keeper) Move(ctx context.Context, held *statedir.Lock, to object.Hash) error {
	k = k.repo.atMain().Keeper(k.number)
	if !to.IsZero() {
		if moved, err := k.repo.move(ctx, held, map[Keeper]object.Hash{k: to}); moved {
			return err
		} // something is in the way of one of them
	}
	k.Mend()
	updates := []Update{{Ref: k.beside(), New: to, Anyway: true}} // git deletes none by its longer name
	if to.IsZero() {                                              // the symbolic ref goes first: git fsck calls one an error that leads nowhere
		updates = []Update{{Ref: k.Ref(), Anyway: true}, updates[0], {Ref: k.Plain(), Anyway: true}}
	}
	err := k.repo.Locking(ctx, held, statedir.Note{Words: k.repo.LockedBy(updates)}, func(r *Repo) error {
		return k.again(ctx, k.target(), func() error {
			for i := range updates {
				if err := r.UpdateRefs(ctx, "agent: keep", updates[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	if err != nil || to.IsZero() {
		return err
	}
	return k.Point(ctx, held, to)
}

// MoveKeepers is [Keeper.Move] of many, by their numbers, with one git if nothing
// is in the way of any.
func (r *Repo) MoveKeepers(ctx context.Context, held *statedir.Lock, to map[uint32]object.Hash) error {
	main, together := r.atMain(), make(map[Keeper]object.Hash)
	for n, at := range to {
		if !at.IsZero() {
			together[main.Keeper(n)] = at
		}
	}
	moved, err := main.move(ctx, held, together)
	for n, at := range to {
		if !moved || at.IsZero() {
			err = errors.Join(err, main.Keeper(n).Move(ctx, held, at))
		}
	}
	return err
}

// move moves keepers in one transaction, and reports whether they moved. r is at
// the main worktree.
func (r *Repo) move(ctx context.Context, held *statedir.Lock, to map[Keeper]object.Hash) (moved bool, err error) {
	var updates []Update
	for k, at := range to {
		k.Mend()
		updates = append(updates, Update{Ref: k.beside(), New: at, Anyway: true}, k.plain(at))
	}
	if r.Locking(ctx, held, statedir.Note{Words: r.LockedBy(updates)}, func(r *Repo) error { return r.UpdateRefs(ctx, "agent: keep", updates) }) != nil {
		return false, nil
	}
	for k := range to {
		if _, pointed := k.At(ctx); !pointed {
			err = errors.Join(err, k.point(ctx, held, nil))
		}
	}
	return true, err
}

// atMain is the repository as from its main worktree.
func (r *Repo) atMain() *Repo {
	main := *r
	main.GitDir = main.CommonDir
	main.env = append(environ(location), "GIT_DIR="+main.CommonDir)
	main.dir = main.CommonDir
	return &main
}

// again does what fails because a killed git has left its lock on a ref a
// second time, without the lock.
func (k Keeper) again(ctx context.Context, ref string, do func() error) error {
	err := do()
	if err == nil {
		return nil
	}
	if locked, e := k.repo.AwaitLocks(ctx, ref); e == nil && locked {
		err = do()
	}
	return err
}

// Point makes the symbolic ref, and the plain one of a commit. held is described
// at [Keeper.Move].
func (k Keeper) Point(ctx context.Context, held *statedir.Lock, to object.Hash) error {
	return k.point(ctx, held, []Update{k.plain(to)})
}

func (k Keeper) plain(to object.Hash) Update { return Update{Ref: k.Plain(), New: to, Anyway: true} }

// point makes the symbolic ref, and then moves the plain one if it is to.
func (k Keeper) point(ctx context.Context, held *statedir.Lock, plain []Update) error {
	file := k.repo.fileOf(k.Ref())
	if !k.repo.InTables() {
		k.repo.MakeWays(file)
	}
	locked := k.repo.LockedBy(append(plain[:len(plain):len(plain)], Update{Ref: k.Ref()}))
	err := k.repo.Locking(ctx, held, statedir.Note{Words: locked}, func(r *Repo) error {
		err := k.again(ctx, k.Ref(), func() error {
			_, err := r.Output(ctx, nil, "symbolic-ref", k.Ref(), k.target())
			return err
		})
		if err != nil || len(plain) == 0 {
			return err
		}
		return k.again(ctx, k.Plain(), func() error { return r.UpdateRefs(ctx, "agent: keep", plain) })
	})
	if err != nil {
		return fmt.Errorf("keep what is recorded from git's garbage collection: %w", err)
	}
	return nil
}

// IsKeeper reports whether a ref that leads to a commit is a keeper's: one beside
// HEAD, or its file, or a plain one.
func IsKeeper(name string) bool {
	return strings.HasPrefix(name, "AGENT_") && strings.HasSuffix(name, "_HEAD") ||
		strings.HasPrefix(name, Keepers) && strings.HasSuffix(name, plainSuffix)
}

// fileOf returns the file of a shared ref, or of one beside HEAD.
func (r *Repo) fileOf(ref string) string {
	return filepath.Join(r.RefsDir(), filepath.FromSlash(strings.TrimPrefix(ref, fromMain)))
}

// Kept returns the numbers of the keepers that there are.
func (r *Repo) Kept(ctx context.Context) (numbers []uint32, err error) {
	refs := make(map[string]object.Hash)
	if err := r.eachRef(ctx, refs, Keepers); err != nil {
		return nil, err
	}
	for _, file := range append(r.GlobRefs("AGENT_??_HEAD"), r.GlobRefs(Keepers+"??")...) { // perhaps only one of the two
		refs[Keepers+strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "AGENT_"), "_HEAD"))] = object.Hash{}
	}
	for ref := range refs {
		ref = strings.TrimSuffix(ref, plainSuffix)
		name := strings.TrimPrefix(ref, Keepers)
		if number := uint32(name[0]-'a')*26 + uint32(name[len(name)-1]-'a'); r.Keeper(number).Ref() == ref {
			numbers = append(numbers, number)
		}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers), nil
}
