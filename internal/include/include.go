// Package include gives a new worktree what a checkout has besides the tree: files that git ignores, such as
// .env or node_modules, named by patterns in [File] at the top of the user's checkout or on a command line.
//
// # What is found
//
// A file that git ignores in the checkout and that a pattern matches as in a .gitignore: what is tracked, or
// only not tracked yet, is never copied. Git does the matching, twice: what is ignored (.gitignore,
// .git/info/exclude, core.excludesFile), and what the patterns name.
//
// Git gives a directory that it ignores as a whole in one line, and it is looked into only if a pattern names it
// or leads into it: node_modules/ finds every node_modules, build/*.key looks into an ignored build, **/config/x
// into every config, but .env or *.key does not search each file of node_modules. It is what other tools that
// read this file do, too, and what keeps a target of a million files out of the way.
//
// # What is copied
//
// What git ignores in the new worktree as well, so that no turn records it, and what is not there already.
// Contents are shared with the original where the file system can. Modes and modification times are kept, and
// symbolic links, if they stay inside the worktree. What was named and is not copied is told in [Copied].
package include

import (
	"fmt"
	"path"

	"gitagent/internal/git"
)

// File is the name of the file with the patterns of a checkout, in the syntax of .gitignore. Other tools that
// make worktrees for agents read it as well.
const File = ".worktreeinclude"

// An Amount says how much it is.
type Amount struct {
	Files int   // and symbolic links
	Bytes int64 // of content
}

func (a *Amount) add(bytes int64) {
	a.Files++
	a.Bytes += bytes
}

// exceeds reports whether a is more than most.
func (a Amount) exceeds(most Amount) bool { return a.Files > most.Files || a.Bytes > most.Bytes }

// Files are the files of a checkout that a new worktree gets.
type Files struct {
	from   *git.Repo
	dirs   []dir // by path
	left   []Left
	amount Amount
}

// A dir is a directory of the checkout and the files in it that are to be copied.
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

// Amount is how much was found.
func (f *Files) Amount() Amount { return f.amount }

// Paths are what was found, from the top, with slashes.
func (f *Files) Paths() []string {
	var paths []string
	for _, d := range f.dirs {
		for _, file := range d.files {
			paths = append(paths, path.Join(d.path, file.name))
		}
	}
	return paths
}

// A Left file was named, but not copied.
type Left struct {
	Path string // bytes as git has them; a directory, with all that was found in it, ends in a slash
	Why  string // for people
}

// Copied says what a new worktree got.
type Copied struct {
	Amount
	Left []Left // by path
}

// A LimitError says that there is more than may be copied.
type LimitError struct {
	Most  Amount
	Found Amount // until the limit was passed
	In    string // the directory at the top, or the file, that has most of it
	Has   Amount // of what was found, how much that has
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("more than %d files or %d bytes are to be copied; most are in %q: %d files, %d bytes until there",
		e.Most.Files, e.Most.Bytes, e.In, e.Has.Files, e.Has.Bytes)
}
