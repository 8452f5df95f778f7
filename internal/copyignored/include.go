// Package copyignored gives a new worktree what a checkout has beside the tree:
// ignored files, such as .env or node_modules, named by patterns in [File] at
// the top of the user's checkout or on a command line.
//
// # What is found
//
// Files that git ignores in the checkout and that a pattern matches as in a
// .gitignore; never files that are tracked or could be. Git does both matches.
//
// A directory ignored as a whole is entered only if a pattern names it or leads
// into it: node_modules/ finds each, build/*.key and **/config/x look into
// ignored directories, but .env or *.key does not search node_modules. Other
// tools with this file do the same. It avoids targets of a million files.
//
// # What is copied
//
// What git ignores in the new worktree, too, so that no turn records it, and
// what is not there yet. Content is shared if the file system can. Modes, times
// and links inside the worktree are kept. [Copied] lists what is left.
package copyignored

import (
	"fmt"
	"path"

	"gitagent/internal/git"
)

// File is the name of a checkout's patterns, in the syntax of .gitignore. Other
// tools that make worktrees for agents read it, too.
const File = ".worktreeinclude"

// An Amount is a number of files and their size.
type Amount struct {
	Files int   // and symbolic links
	Bytes int64 // of content
}

func (a *Amount) add(bytes int64) {
	a.Files++
	a.Bytes += bytes
}

func (a Amount) exceeds(most Amount) bool { return a.Files > most.Files || a.Bytes > most.Bytes }

// Files are the files of a checkout that a new worktree gets.
type Files struct {
	from   *git.Repo
	dirs   []dir // by path
	left   []Skipped
	amount Amount
}

// A dir is a directory of the checkout, with its files to be copied.
type dir struct {
	path  string // from the top, with slashes; "." for the top
	files []file // by name
}

type file struct {
	name   string
	link   bool
	copied bool  // by one copier
	bytes  int64 // that it has copied
}

// Amount returns how much was found.
func (f *Files) Amount() Amount { return f.amount }

// Paths returns what was found, from the top, with slashes.
func (f *Files) Paths() []string {
	var paths []string
	for _, d := range f.dirs {
		for _, file := range d.files {
			paths = append(paths, path.Join(d.path, file.name))
		}
	}
	return paths
}

// A Skipped is a file that was named, but not copied.
type Skipped struct {
	Path string // bytes as in git; a slash at the end stands for all found in a directory
	Why  string // for people
}

// Copied is what a new worktree got.
type Copied struct {
	Amount
	Skipped []Skipped // by path
}

// A LimitError reports more than may be copied.
type LimitError struct {
	Most  Amount
	Found Amount // until the limit was passed
	In    string // the directory or file at the top that has most of it
	Has   Amount // how much of Found that has
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %d files or %d bytes are to be copied; most are in %q: %d files, %d bytes until there",
		e.Most.Files, e.Most.Bytes, e.In, e.Has.Files, e.Has.Bytes)
}
