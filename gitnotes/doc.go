// Package gitnotes reads, writes and merges git notes, in process and without ever moving a ref.
//
// # Notes
//
// A note is a text about an object of the repository, most often a commit, that does not change the
// object. Git keeps notes beside the objects, under a ref such as refs/notes/commits: the ref
// points to a commit, the commit to a tree, and a note is a file in that tree whose path is the
// hash of the object that it is about.
//
//	$ git ls-tree -r refs/notes/commits
//	100644 blob 2b0e...  09aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4
//
// [Open] takes the commit, [Notes.Get], [Notes.Set], [Notes.Append], [Notes.Remove] and [Notes.All]
// work on its tree, [Notes.Commit] writes what changed as a new commit on top and returns its hash.
// The ref is up to the caller: move it with `git update-ref` and the old value, together with
// whatever else must move in the same transaction, and if that is refused, open the new value and
// try again. An object that no ref reaches harms nobody, and git collects it.
//
// The content of a note is up to the caller, too. For one-line records there are [Notes.Append],
// which unlike `git notes append` puts no blank line between two of them, and [Merge], which is
// `git notes merge` with the strategy cat_sort_uniq: it treats lines as a set, so two clones that
// append different lines to one note lose none of them.
//
// # Fan-out
//
// One directory with a hundred thousand files is a tree of seven megabytes,
// written again for every note. So git spreads the notes over directories
// that are named by the first digits of the hash, two for each level:
//
//	09aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4      flat
//	09/aa8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4     2/38
//	09/aa/8f2f3bcd24d69e0c4f4ed1e9a0f1a4a1c9d4    2/2/36
//
// Reading accepts all of them, even mixed in one tree. Writing follows git: a directory is spread over
// subdirectories once each of the sixteen digits that can come next begins the hash of at least two of
// its notes, or begins the name of an existing subdirectory in which nothing changes. Otherwise the
// directory itself holds all the notes below it. Each directory decides for itself, the root first.
// Hashes are spread evenly, so the root takes this step at about 80 notes (nine times in ten between
// 55 and 124), and half of the directories below it have taken theirs at 20,000.
//
// Only the directories on the way to a changed note are read, judged and written: one more note
// among a hundred thousand costs its blob, three trees and the commit. A step costs one rewrite of
// the directory that takes it.
//
// For the same notes the trees are the same as git's, entry for entry, except for trees that no git
// wrote:
//
//   - A file that is no note and is named like a subdirectory that
//     the notes need, such as "09", keeps its directory from being spread.
//     Git 2.39 writes a tree with two entries of that name.
//   - Other entries that are no notes are kept, as git keeps them, but in the
//     order that a tree must have. Git 2.39 misplaces a directory "x"
//     beside a file "x.txt".
//
// Git judges a subdirectory that it has read by its content, whether or not it changed. Here
// reading a directory makes no difference: what is written does not depend on what was read before.
//
// # Strangers' trees
//
// A notes tree may come from a remote. A name that is not the rest of a hash, of whatever length,
// is no note. Upper-case digits are accepted as git does, and written in lower case. Several notes
// of one object in one tree become one note: the contents in git's order, with a blank line
// between. A few trees of some kilobytes can claim to hold more notes than fit into any memory, by
// naming one subtree many times; so reading stops with an error after a million entries. Nothing
// limits the size of a note: that is up to the caller.
package gitnotes
