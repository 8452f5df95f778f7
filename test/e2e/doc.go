//go:build e2e

// Package e2e runs the agents' real clients against scripted models
// and checks what the hooks recorded.
//
//	go test -tags e2e -count=1 ./test/e2e/...
//
// A test has a rig of its own: a home directory with a repository in it, a [mock]
// that plays the Messages API on the loopback interface by a [scenario], a [witness],
// and the client, either headless ([rig.claude]) or in a terminal ([rig.interactive]).
// The hooks are the ones that `git agent-turn init` installs. The three binaries are
// built once and stand at the front of PATH, so git's own dispatch is tested too.
//
// # What is compared
//
// The witness is a second hook on the same events. It keeps what the client sent and
// takes a snapshot of the worktree in the plainest way there is, a temporary index and
// `git add -A`. Nothing of the code under test is used to judge it: lists are read as
// JSON lines, segments with `git show`, transcripts with this package's own reader.
//
// # Waiting
//
// Nothing sleeps for a fixed time. [rig.await] polls a condition (a file, the pane,
// the client's session registry, the mock's log), and when its time is up the test fails with
// all of these printed.
//
// # The tour
//
// TestTour goes through the commands as a person sees them, in terminals of 80 by 24 and 200 by 50,
// dark and light, and compares every screen with testdata/tour. When one is to look different:
//
//	go test -tags e2e -count=1 -run TestTour ./test/e2e -update
//
// TestForks does the same with testdata/forks: three forks of a turn in windows of tmux, and the way back.
//
// # The matrix
//
// What is true of every agent is in the table of TestMatrix, and is run with each client: a [kind] is what
// the tests must know of one, a [player] how it is driven. Claude Code has the tests beside it, which came first.
//
//	go test -tags e2e -count=1 -run 'TestMatrix/codex/killed$' ./test/e2e
//
// # Needs
//
// git, go, node, npm, less and tmux. The clients (about 1.3 GB) are installed from the npm
// registry into a cache once per machine. A tool that is missing fails the run.
package e2e
