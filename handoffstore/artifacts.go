package handoffstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gitagent/internal/git"
)

// DataDir returns where artifacts are put, $XDG_DATA_HOME/git-agent or
// ~/.local/share/git-agent, or "" without either variable.
func DataDir(getenv func(string) string) string {
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) { // the specification says to ignore a relative path
		return filepath.Join(dir, "git-agent")
	}
	if home := getenv("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "git-agent")
	}
	return ""
}

// DocumentPath returns where a session's agent shall write its handoff: in no
// worktree.
func DocumentPath(getenv func(string) string, session string) string {
	dir := DataDir(getenv)
	if dir == "" {
		dir = filepath.Join(os.TempDir(), "git-agent")
	}
	return filepath.Join(dir, "handoffs", session+".md")
}

var artifactFiles = []string{recordFile, docFile, patchFile, terminalFile}

// Artifacts copies a handoff's files to where any program can search them: in
// data, a [DataDir], to handoffs/<session>-<YYYYMMDD-HHMMSS>/, in UTC. A
// directory inside a worktree is an error, since the files would be taken for
// work. No file is overwritten, and below handoffs/ no symbolic link followed.
func (s *Store) Artifacts(ctx context.Context, f *Found, data string) (dir string, err error) {
	if data == "" {
		return "", errors.New("put artifacts: the environment names no home directory")
	}
	top := filepath.Join(data, "handoffs")
	if err := s.outside(ctx, top); err != nil {
		return "", err
	}
	if err := os.MkdirAll(top, 0o700); err != nil {
		return "", fmt.Errorf("put artifacts: %w", err)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return "", fmt.Errorf("put artifacts: %w", err)
	}
	defer root.Close()
	name := fmt.Sprintf("%s-%s", cmp.Or(word(f.Session), string(f.Mission)), f.At.Format("20060102-150405"))
	if !filepath.IsLocal(name) || filepath.Base(name) != name {
		return "", fmt.Errorf("put artifacts: the session %q", f.Session)
	}
	base := name
	err = root.Mkdir(name, 0o700)
	for n := 2; n <= 100 && errors.Is(err, fs.ErrExist); n++ { // two in one second
		name = fmt.Sprintf("%s-%d", base, n)
		err = root.Mkdir(name, 0o700)
	}
	for _, file := range artifactFiles {
		var content []byte
		if err == nil {
			content, err = f.File(file)
		}
		if err == nil && content != nil {
			err = writeNew(root, filepath.Join(name, file), content)
		}
	}
	if err != nil {
		return "", fmt.Errorf("put artifacts: %w", err)
	}
	return filepath.Join(top, name), nil
}

func writeNew(root *os.Root, name string, content []byte) error {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	return cmp.Or(err, f.Close())
}

// outside makes sure that a directory, which may not exist, is in no worktree.
func (s *Store) outside(ctx context.Context, dir string) error {
	there, missing := dir, ""
	real, err := filepath.EvalSymlinks(there)
	for ; err != nil; real, err = filepath.EvalSymlinks(there) {
		if there == filepath.Dir(there) {
			return fmt.Errorf("put artifacts: %w", err)
		}
		there, missing = filepath.Dir(there), filepath.Join(filepath.Base(there), missing)
	}
	real = filepath.Join(real, missing)
	trees, err := s.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, tree := range trees {
		if top, err := filepath.EvalSymlinks(tree.Path); err == nil {
			if _, within := git.Within(top, real); within {
				return fmt.Errorf("put artifacts: %s lies in the worktree %s", dir, tree.Path)
			}
		}
	}
	return nil
}

// Open reads a handoff that was just gathered. The caller closes it.
func (s *Store) Open(ctx context.Context, g *Gathered) (*Found, error) {
	return open(ctx, s.Repo, g.Mission, g.Number)
}
