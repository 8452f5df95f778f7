// Package same compares two builds of the programs: that every command prints, writes and answers what it did before.
//
//	make same BEFORE=<directory>             3,000 invocations, drawn by seed 1, of the programs there and of this source
//	make same BEFORE=<directory> SEED=7      others
//	go test ./test/same                      a few, of this build with itself: what is not the same twice
//
// An invocation is a step of a walk: commands of the three programs, payloads for their hooks, and what a user does with git,
// in one of some places that were made before, a home directory with repositories. Both builds take the same steps, each in a
// copy of the place that stands at the same path while it is that build's turn. Exit status, standard output and standard
// error must be equal, byte by byte. After a step that writes, what is new in a place has other hashes, ids and times in the
// other copy: each of one must be the same one of the other throughout the walk. At the end of a walk refs, what they reach,
// worktrees, settings and the hooks' logs must be the same. Now and then, what only the present build keeps as local state, and
// so has derived from something, is removed, cut, or bent: it may not rely on it.
//
// What may differ is in allowed_unix_test.go, each with its reason.
package same
