package bisect

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/copyignored"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// A TryTree is a linked worktree in which states are tried.
type TryTree struct {
	Top string

	Include *copyignored.Files  // what to add to a state, or nil
	Copied  *copyignored.Copied // what the last one got, or nil

	w         *workspace.Workspace
	mode      fs.FileMode
	throwaway bool
	keep      bool // ignored files stay between states
	foreign   bool
	held      *statedir.Lock

	admin string      // its git directory
	made  string      // its settings when it was made
	repo  *git.Repo   // seen from it
	seen  object.Hash // the last state
}

// temporary is the prefix of a throw-away worktree's name.
const temporary = "git-agent-bisect-"

// Temporary makes a throw-away worktree in the directory for temporary files.
// HEAD is at a commit, but nothing is checked out. With keep, what is ignored
// stays there from one state to the next. Nothing of a foreign one is run, see
// [git.Repo.Foreign]. If the process is killed, [ClearDead] removes it.
func Temporary(ctx context.Context, w *workspace.Workspace, at object.Hash, keep, foreign bool) (*TryTree, error) {
	var random [6]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, fmt.Errorf("make a worktree: %w", err)
	}
	dir := filepath.Join(os.TempDir(), temporary+hex.EncodeToString(random[:]))
	t := &TryTree{Top: dir, w: w, mode: 0o700, throwaway: true, keep: keep, foreign: foreign}
	return t, t.make(ctx, at)
}

// Make makes a worktree that is to stay, in a directory that does not exist,
// and whose name no other worktree has. Until [TryTree.Start] has done that,
// it is like a throw-away one.
func Make(ctx context.Context, w *workspace.Workspace, dir string, at object.Hash, foreign bool) (*TryTree, error) {
	t := &TryTree{Top: dir, w: w, mode: 0o777, foreign: foreign}
	return t, t.make(ctx, at)
}

// mark is the file in a throw-away worktree's git directory that says so.
const mark = "agent-bisect"

// Throwaway reports whether gitDir is a throw-away worktree's, where an agent
// works on no mission.
func Throwaway(gitDir string) bool {
	_, err := os.Lstat(filepath.Join(gitDir, mark))
	return err == nil
}

// worktrees is the directory of the locked files that name worktrees to remove.
const worktrees = "bisect"

const tries = 5

// reason is why git locks the worktree against worktree prune and remove.
const reason = "states are tried here; what a killed process has left, the next bisection removes"

func (t *TryTree) make(ctx context.Context, at object.Hash) error {
	top, err := filepath.Abs(t.Top)
	if err == nil {
		top, err = filepath.EvalSymlinks(filepath.Dir(top)) // as git writes it
	}
	if err != nil {
		return fmt.Errorf("make a worktree: %w", err)
	}
	t.Top = filepath.Join(top, filepath.Base(t.Top))
	t.admin = adminOf(t.w, t.Top)
	if t.held, err = t.w.Store.Dir().Lock(ctx, t.file()); err != nil {
		return fmt.Errorf("make a worktree: %w", err)
	}
	err = t.held.Note(statedir.Note{Words: []string{t.Top}})
	if err == nil {
		err = os.Mkdir(t.Top, t.mode)
	}
	if err != nil {
		t.release()
		return fmt.Errorf("make a worktree: %w", err)
	}
	if err := t.add(ctx, at); err != nil {
		return errors.Join(fmt.Errorf("make a worktree: %w", err), t.Remove())
	}
	return nil
}

// add makes the directory a worktree, with nothing in it.
func (t *TryTree) add(ctx context.Context, at object.Hash) error {
	repo, err := t.guarded(ctx, t.w.Repo)
	if err != nil {
		return err
	}
	repo = repo.With(git.Holding(t.held.File()))
	for try := range tries {
		_, err = repo.Output(ctx, nil, "worktree", "add", "--quiet", "--detach", "--no-checkout",
			"--lock", "--reason", reason, "--", t.Top, at.String())
		if err == nil {
			break
		}
		if ctx.Err() != nil || try == tries-1 {
			return err
		}
		// Git reads all worktrees, and fails if one is being made.
		if e := cmp.Or(t.clear(), os.Mkdir(t.Top, t.mode)); e != nil {
			return errors.Join(err, e)
		}
	}
	found, err := git.Find(t.Top)
	if err != nil {
		return err
	}
	t.admin = found.GitDir
	t.made = t.settings()
	if t.throwaway {
		if err := os.WriteFile(filepath.Join(t.admin, mark), nil, 0o600); err != nil {
			return err
		}
	}
	if err := found.CheckTop(ctx); err != nil {
		return err
	}
	// Unlike a hook, git may fetch what a partial clone lacks.
	found, err = t.guarded(ctx, found.With(git.Env("GIT_NO_LAZY_FETCH=0", "GIT_DIR="+t.admin, "GIT_WORK_TREE="+t.Top)))
	if err == nil {
		t.repo = found.With(git.Holding(t.held.File())) // git that outlives us won't block a cleanup
	}
	return err
}

// guarded returns a repository in which git runs nothing untrusted, and no
// filter stops a checkout.
func (t *TryTree) guarded(ctx context.Context, repo *git.Repo) (*git.Repo, error) {
	repo, err := repo.Forgiving(ctx)
	if err == nil && t.foreign {
		repo, err = repo.Foreign(ctx, t.Top)
	}
	return repo, err
}

// Set makes the worktree a state: whatever was written, deleted, committed or
// locked there is gone, but for what is ignored, if that is to stay. Then what
// it gets besides is copied, as far as it is not there.
func (t *TryTree) Set(ctx context.Context, commit object.Hash) error {
	if err := t.reset(ctx, commit); err != nil || t.Include == nil {
		return err
	}
	var err error
	t.Copied, err = t.Include.Copy(ctx, t.repo, nil)
	return err
}

func (t *TryTree) reset(ctx context.Context, commit object.Hash) error {
	fresh := t.seen.IsZero()
	t.seen = commit
	err := t.set(ctx, commit)
	if err == nil || fresh || ctx.Err() != nil {
		return err
	}
	git.Unlock(t.Top)
	if err = t.set(ctx, commit); err == nil || ctx.Err() != nil {
		return err
	}
	// It is beyond repair.
	if err := t.clear(); err != nil {
		return err
	}
	err = os.Mkdir(t.Top, t.mode)
	if err == nil {
		err = t.add(ctx, commit)
	}
	if err == nil {
		err = t.set(ctx, commit)
	}
	return err
}

var errBroken = errors.New("it is no worktree any more")

func (t *TryTree) set(ctx context.Context, commit object.Hash) error {
	info, err := os.Lstat(t.Top)
	if err != nil || !info.IsDir() {
		return errBroken
	}
	if t.settings() != t.made {
		return errBroken
	}
	locks, _ := fs.Glob(os.DirFS(t.admin), "*.lock")
	for _, name := range locks {
		if err := os.Remove(filepath.Join(t.admin, name)); err != nil {
			return err
		}
	}
	// Git trusts the index, and only git renames a new one over it. With its
	// last one git sees all that differs from its own checkout.
	index, ours := filepath.Join(t.admin, "index"), filepath.Join(t.admin, "index."+mark)
	if err := os.Rename(ours, index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if _, err := t.repo.Output(ctx, nil, "checkout", "--quiet", "--force", "--detach", commit.String(), "--"); err != nil {
		return err
	}
	if err := t.empty(ctx, commit); err != nil {
		return err
	}
	clean := "-ffdx"
	if t.keep {
		clean = "-ffd"
	}
	if _, err := t.repo.Output(ctx, nil, "clean", "--quiet", clean); err != nil {
		return err
	}
	if op, err := t.repo.Operation(ctx); err != nil || op != "" {
		return cmp.Or(err, errBroken)
	}
	_ = os.Remove(ours)
	_ = os.Link(index, ours) // without links a trial's marks in the index stay
	return nil
}

// empty removes what git clean leaves alone: repositories that were made in
// directories of the state, pipes and sockets there, and what a trial has put
// into submodules, unless what is ignored stays.
func (t *TryTree) empty(ctx context.Context, commit object.Hash) error {
	out, err := t.repo.Output(ctx, nil, "ls-tree", "-r", "-d", "-z", commit.String())
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(t.Top) // a trial's links don't lead out
	if err != nil {
		return err
	}
	defer root.Close()
	err = emptyDir(root, ".")
	for entry := range strings.SplitSeq(string(out), "\x00") {
		mode, path, ok := strings.Cut(entry, "\t")
		switch path = filepath.FromSlash(path); {
		case err != nil:
			return err
		case !ok:
		case !strings.HasPrefix(mode, "160000 "):
			err = emptyDir(root, path)
		case !t.keep:
			if _, none := root.Lstat(filepath.Join(path, ".git")); none == nil {
				err = errors.Join(root.RemoveAll(path), root.Mkdir(path, 0o777))
			}
		}
	}
	return err
}

// emptyDir removes from a state's directory what a state can't have.
func emptyDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // not in a sparse checkout
	}
	if err != nil {
		return err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		if err != nil {
			break
		}
		if kind := e.Type(); e.Name() == ".git" && dir != "." || kind&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice) != 0 {
			err = root.RemoveAll(filepath.Join(dir, e.Name()))
		}
	}
	return err
}

// Remove removes the worktree.
func (t *TryTree) Remove() error {
	if err := t.clear(); err != nil {
		t.held.Release() // the next one tries again
		return fmt.Errorf("remove the worktree %s: %w", t.Top, err)
	}
	t.release()
	return nil
}

func (t *TryTree) clear() error { return erase(t.Top, t.admin) }

// settings returns what ties the directory to git and makes it sparse.
func (t *TryTree) settings() string {
	var all []byte
	for _, path := range []string{
		filepath.Join(t.Top, ".git"), filepath.Join(t.admin, "config.worktree"), filepath.Join(t.admin, "info", "sparse-checkout"),
	} {
		data, _ := os.ReadFile(path) // two are usually missing
		all = append(append(all, data...), 0)
	}
	return string(all)
}

// file returns the path of the locked file that names the worktree.
func (t *TryTree) file() string { return filepath.Join(worktrees, filepath.Base(t.Top)) }

func (t *TryTree) release() { release(t.w, t.held, t.file()) }

func release(w *workspace.Workspace, held *statedir.Lock, file string) {
	_ = held.Done() // those that wait for it have nothing to do
	_ = w.Store.Dir().Remove(file)
	_ = w.Store.Dir().Remove(worktrees) // if empty
	held.Release()
}

// ClearDead removes worktrees of killed processes, and logs what it can't.
func ClearDead(w *workspace.Workspace) {
	entries, err := w.Store.Dir().ReadDir(worktrees)
	if err != nil {
		return // usually none
	}
	for _, e := range entries {
		file := filepath.Join(worktrees, e.Name())
		held, err := w.Store.Dir().TryLock(file)
		if held == nil || err != nil {
			continue // the process is alive
		}
		if words := held.Left().Words; len(words) == 1 {
			if err := clearLeft(w, words[0]); err != nil {
				w.Store.Log(time.Now(), fmt.Sprintf("the worktree %s was left by a process that was killed: %v", words[0], err))
				held.Release()
				continue
			}
		}
		release(w, held, file)
	}
}

// clearLeft removes a worktree that was noted, if it is still that one.
func clearLeft(w *workspace.Workspace, top string) error {
	if !filepath.IsAbs(top) || filepath.Clean(top) != top || filepath.Dir(top) == top {
		return errors.New("that is no path of a worktree")
	}
	admin := adminOf(w, top)
	of, err := os.ReadFile(filepath.Join(admin, "gitdir"))
	switch dir := filepath.FromSlash(strings.TrimSpace(string(of))); {
	case errors.Is(err, fs.ErrNotExist) && !isTemporary(top), err == nil && dir == "": // git had not begun or forgot it
		_ = os.Remove(top) // if empty
		return os.RemoveAll(admin)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	case err == nil && !filepath.IsAbs(dir):
		if filepath.Join(admin, dir) != filepath.Join(top, ".git") {
			return nil
		}
	case err == nil && dir != filepath.Join(top, ".git"):
		return nil // another one of this name
	}
	return erase(top, admin)
}

// adminOf returns the git directory of a worktree with a unique name.
func adminOf(w *workspace.Workspace, top string) string {
	return filepath.Join(w.Repo.CommonDir, "worktrees", filepath.Base(top))
}

// isTemporary reports whether [Temporary] made up a path's name.
func isTemporary(top string) bool { return strings.HasPrefix(filepath.Base(top), temporary) }

// erase removes a worktree and git's record of it. Writers there may delay it.
func erase(top, admin string) (err error) {
	for range 3 {
		if err = os.RemoveAll(top); err == nil {
			break
		}
		git.Unlock(top)
	}
	if err == nil {
		err = os.RemoveAll(admin)
	}
	_ = os.Remove(filepath.Dir(admin)) // as git does after the last one
	return err
}
