package git

import (
	"os"
	"path/filepath"
)

// InTables reports whether refs and reflogs are in reftables, which only git
// reads and writes: a shared stack of tables, and one per linked worktree.
func (r *Repo) InTables() bool { return len(r.TableLists()) > 0 }

// TableLists returns the files, without .lock, that git locks for milliseconds
// to change any ref or reflog of this worktree; none without reftables.
func (r *Repo) TableLists() (files []string) {
	for _, dir := range []string{r.CommonDir, r.GitDir} {
		file := filepath.Join(dir, "reftable", tableList)
		if isFile(file) && (len(files) == 0 || files[0] != file) {
			files = append(files, file)
		}
	}
	return files
}

// tableList names the tables of a stack. Compacting also locks each table.
const tableList = "tables.list"

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
