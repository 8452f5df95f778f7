package git

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// InTables reports whether refs and reflogs are in reftables, which only git
// reads and writes: a shared stack of tables, and one per linked worktree.
func (r *Repo) InTables() bool { return len(r.TableLists()) > 0 }

// TableLists returns the files, without .lock, that git locks for milliseconds
// to change any ref or reflog of this worktree; none without reftables.
func (r *Repo) TableLists() (files []string) {
	for _, dir := range []string{r.RefsDir(), r.ownRefsDir()} {
		file := filepath.Join(dir, "reftable", tableList)
		if isFile(file) && (len(files) == 0 || files[0] != file) {
			files = append(files, file)
		}
	}
	return files
}

// RefsDir returns the directory where git has refs, packed-refs, logs and
// reftables, and in worktrees/<name> what a linked worktree has alone. It is
// CommonDir unless extensions.refStorage or, overriding it,
// GIT_REFERENCE_BACKEND names another, since git 2.54. HEAD, MERGE_HEAD and
// FETCH_HEAD are in GitDir, too.
func (r *Repo) RefsDir() string {
	if dir := r.refsDir.Load(); dir != nil {
		return *dir
	}
	backend := ""
	for _, v := range r.env {
		if value, ok := strings.CutPrefix(v, "GIT_REFERENCE_BACKEND="); ok {
			backend = value
		}
	}
	if backend == "" && isFile(filepath.Join(r.CommonDir, "refs", "heads")) { // it keeps older gits away
		config, _ := os.ReadFile(filepath.Join(r.CommonDir, "config"))
		backend = extension(config, "refstorage")
	}
	dir := r.CommonDir
	if _, at, ok := strings.Cut(backend, "://"); ok {
		if at = filepath.FromSlash(at); !filepath.IsAbs(at) {
			at = filepath.Join(r.CommonDir, at)
		}
		if exists(filepath.Join(at, "refs")) || exists(filepath.Join(at, "reftable")) { // else this git does not know it
			dir = at
		}
	}
	r.refsDir.Store(&dir)
	return dir
}

// MayHave reports whether a ref below a directory of refs may be there, as files
// tell without git: it always may if others than git do not know where refs are.
func (r *Repo) MayHave(dir string) bool {
	if r.InTables() || r.RefsDir() != r.CommonDir || exists(filepath.Join(r.CommonDir, filepath.FromSlash(dir))) {
		return true
	}
	packed, err := os.ReadFile(filepath.Join(r.CommonDir, "packed-refs"))
	return bytes.Contains(packed, []byte(" "+dir)) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// ownRefsDir is [Repo.RefsDir] for what only this worktree has.
func (r *Repo) ownRefsDir() string {
	dir := r.RefsDir()
	if dir == r.CommonDir {
		return r.GitDir
	}
	if r.GitDir != r.CommonDir {
		dir = filepath.Join(dir, "worktrees", filepath.Base(r.GitDir))
	}
	return dir
}

// tableList names the tables of a stack. Compacting also locks each table.
const tableList = "tables.list"

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
