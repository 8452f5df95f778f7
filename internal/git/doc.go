// Package git runs git and reads and writes its object database.
//
// The git binary does everything that touches the index, the worktree, diffs, refs, configuration
// and transport. It is called with an argument list, never through a shell, and its output is read
// in NUL-separated forms made for programs. Objects are read and written in-process, because a turn
// writes a dozen of them; see [Objects].
//
// # Finding the repository
//
// [Find] walks up from a directory and runs nothing: the hooks of an agent's client run in every
// directory of a machine, and in most of them there is nothing to do. [Open], for commands that a
// person types, asks git, with the environment that git gave us.
//
// # Errors
//
// A failure of git is an [*Error] with git's standard error. Decide by [Status] or by asking git
// again, never by parsing git's prose.
package git
