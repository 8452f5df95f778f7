// Package snapshot turns a worktree into a git tree without touching what the
// user sees: not the index, not HEAD, not the worktree, not index.lock.
//
// # How
//
// Every worktree has a private index, $GIT_DIR/agent/index. It starts as a copy of the user's own,
// with the copy's modification time preserved (git compares it with the files' to know which of
// them it must read again), and is made anew when the user's index has changed. One `git status` on
// it is the only pass over the worktree; because it runs with the untracked cache, always with the
// same options, directories that did not change are not read.
//
// Status tells three states of every path: HEAD, index, worktree. The tree of the
// worktree is therefore HEAD's tree with the paths laid over that status names,
// and only those have to be hashed. Two ways lead from there:
//
//   - in-process, when few files have to be hashed and git would store each of
//     them byte for byte;
//   - through `git update-index` and `git write-tree` on the private index, when a
//     filter, an encoding or an end-of-line conversion applies, or when so many files
//     have to be hashed that the private index should remember them for the next time.
//
// # What is left out
//
// Some paths never enter a snapshot; see [Policy]. They are named in
// [Snapshot.Skipped], each with the reason.
//
// # Back and forth
//
// [Snapshot.CheckOut] makes the worktree match another tree. As a [Step] that can be taken back, which
// [Snapshot.Step] makes of it, it is noted in $GIT_DIR/agent/step when it is done, and in step.begun
// before it begins to change the worktree.
//
// # Locking
//
// The caller holds the worktree's lock from [Take] to the last use of the
// snapshot: the private index has one user at a time.
package snapshot
