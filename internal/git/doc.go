// Package git runs git and reads and writes its object database.
//
// The git binary does everything about the index, worktree, diffs, refs,
// configuration and transport. It gets an argument list, never a shell, and
// prints NUL-separated forms. Objects are read and written in-process, because
// a turn writes a dozen; see [Objects].
//
// # Finding the repository
//
// [Find] walks up from a directory and runs nothing, because clients run our
// hooks everywhere, mostly with nothing to do. [Open], for commands that a
// person types, asks git, in the environment that git gave us.
//
// # Errors
//
// A failure of git is an [*Error] with git's standard error. Decide by [Status]
// or by asking git again, never by parsing git's prose.
package git
