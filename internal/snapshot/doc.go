// Package snapshot turns a worktree into a git tree without touching what the
// user sees: not the index, HEAD, the worktree or index.lock.
//
// # How
//
// Every worktree has a private index, $GIT_DIR/agent/index. It is a copy of the
// user's with its modification time (git compares it with those of the files to
// know which to read again), and is copied again when the user's index changes.
// One `git status` on it is the only pass over the worktree. The untracked
// cache and constant options spare it unchanged directories.
//
// The tree is HEAD's with the paths that status lists laid over it. Only those
// are hashed: in-process if they are few and git would store each byte for
// byte, else with `git update-index` and `git write-tree` on the private index,
// for filters, encodings, end-of-line conversions and to remember many hashes.
//
// # What is left out
//
// Some paths never enter a snapshot; see [Policy]. [Snapshot.Skipped] names
// them with the reason.
//
// # Back and forth
//
// [Snapshot.CheckOut] makes the worktree match another tree, [Snapshot.Change] in
// a way that can be undone. A [Change] is in $GIT_DIR/agent/step.begun before the
// worktree changes, and in $GIT_DIR/agent/step when it is done.
//
// # Locking
//
// The caller holds the worktree's lock from [Take] to the last use of the
// snapshot, because the private index has one user at a time.
package snapshot
