// Package gitnotes reads, writes and merges git notes without moving a ref.
//
// # Notes
//
// A note is a text about an object, most often a commit, that does not change
// the object. A ref such as refs/notes/commits points to a commit, the commit
// to a tree, and a note is a file in that tree, at the hash of its object:
//
//	$ git ls-tree -r refs/notes/commits
//	100644 blob 2b0e...  09aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4
//
// [Open] takes the commit, other methods work on its tree, and [Notes.Commit]
// writes the changes as a new commit. The caller moves the ref, with `git
// update-ref` and the old value, and opens the new value to try again if git
// refuses. Objects that no ref reaches do no harm, and git collects them.
//
// The content of notes is up to the caller too. For lines there are
// [Notes.Append], which unlike `git notes append` adds no blank line, and
// [Merge], which is `git notes merge` with the strategy cat_sort_uniq: it
// treats lines as a set, so clones that append different lines to a note lose
// none.
//
// # Fan-out
//
// A hundred thousand files in one directory are a tree of seven megabytes,
// which every note would rewrite. So git spreads them over directories named by
// the first digits of the hash, two for each level:
//
//	09aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4      flat
//	09/aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4     2/38
//	09/aa/8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4    2/2/36
//
// Reading accepts all of them, even in one tree. Writing follows git: from the
// root on, each directory is spread if each of the sixteen next digits begins
// at least two of its notes, or the name of an unchanged subdirectory.
// Otherwise it holds all the notes below it. The root is spread from about 80
// notes (nine times in ten between 55 and 124), and half of the directories
// below it at 20,000.
//
// Only directories on the way to a changed note are read, judged and written:
// one more note among a hundred thousand costs a blob, three trees and a
// commit.
//
// For the same notes the trees are git's, entry for entry. Only trees that no
// git wrote can differ:
//
//   - A file that is no note and has the name of a needed subdirectory, such as
//     "09", keeps its directory flat. Git 2.39 writes both entries.
//   - Other entries that are no notes stay, but in a tree's proper order. Git
//     2.39 misplaces a directory "x" beside a file "x.txt".
//
// Git judges subdirectories that it has read by their content, even unchanged
// ones. Here the result does not depend on what was read.
//
// # Untrusted trees
//
// A notes tree may come from a remote. A name that is not the rest of a hash is
// no note. Upper-case digits are read as git does, and written in lower case.
// Several notes of an object in a tree become one: their contents in git's
// order, with a blank line between. A few kilobytes of trees can claim more
// notes than fit into memory, by naming a subtree many times; reading stops
// with an error after 262,144 entries. A note may have 4 MB.
package gitnotes
