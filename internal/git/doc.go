// Package git runs git and reads and writes its object database.
//
// The git binary does what touches the index, the worktree, diffs, refs,
// configuration and transport; it is called with an argument list, never
// through a shell, and its output is read in NUL-separated forms made for
// programs. Objects are read and written in-process with go-git, because a
// turn writes a dozen of them; see [Objects].
//
// # Finding the repository
//
// [Find] walks up from a directory and runs nothing: the hooks of an agent's
// client run in every directory of a machine, and in most of them there is
// nothing to do. [Open] asks git, with the environment that git gave us, and
// is what a command typed by a person uses.
//
// # Errors
//
// A failure of git is an [*Error] with git's standard error. Decide by
// [Status] or by asking git again, never by git's prose.
package git
