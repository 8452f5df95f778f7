package git

import "path/filepath"

// InTables reports whether the refs and their logs are in reftables: a stack of tables that all worktrees share, and
// one of each linked worktree for its HEAD and what else is its own. Only git reads and writes them.
func (r *Repo) InTables() bool { return len(r.TableLists()) > 0 }

// TableLists returns the files, without .lock, that git locks to move any ref of this worktree, or to change the log of
// one; none unless refs are in tables. Other gits lock them, too, for milliseconds.
func (r *Repo) TableLists() (files []string) {
	for _, dir := range []string{r.CommonDir, r.GitDir} {
		file := filepath.Join(dir, "reftable", tableList)
		if isFile(file) && (len(files) == 0 || files[0] != file) {
			files = append(files, file)
		}
	}
	return files
}

// tableList is the file that names the tables of a stack. To put tables together, git locks each of them besides.
const tableList = "tables.list"
