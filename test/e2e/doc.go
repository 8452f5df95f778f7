//go:build e2e

// Package e2e runs the agents' real clients against scripted models
// and checks what the hooks recorded.
//
//	go test -tags e2e -count=1 -timeout 0 ./test/e2e/...
//
// # Rings
//
// That, and make check, runs what the clients alone can show: that their hooks call us with what we expect, that they do
// as our hooks answer, that they go on with a conversation that a fork has rebuilt, that they load the plugin, and what one
// leaves that is killed. There is one test for each client that goes through as much of that as there is in one session:
// TestInteractive for Claude Code, the worlds of TestMatrix for the others. Whose the lines are where clients work in one
// checkout is TestBeside, TestBesideCodex and TestStashLost; see rig.owned. What the client runs unasked of what the plugin
// allows is TestPermissions, and what we refuse to an agent then TestBarred. All else, and what has the client only to drive
// what is ours, is left to make nightly:
//
//	GIT_AGENT_TESTS=nightly go test -tags e2e -count=1 -timeout 0 ./test/e2e/...
//
// # Rigs
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
// Nothing sleeps for a fixed time, and nothing has a time in which it must be done: a machine may be slow.
// [rig.await] polls a condition (a file, the pane, the client's session registry, the mock's log). When nothing
// runs any more that could make it true, the test fails with all of these printed; what waits for ever is ended
// with the whole run. The clients' own time-outs of hooks and tools are an hour, where they can be set.
// Codex alone gives the hooks of Interrupt and SessionEnd 3 seconds, and a tool 30 until it goes on without it.
//
// # The tour
//
// TestTour goes through the commands as a person sees them, in terminals of 80 by 24 and 200 by 50,
// dark and light, and compares every screen with testdata/tour. When one is to look different:
//
//	GIT_AGENT_TESTS=nightly go test -tags e2e -count=1 -run TestTour ./test/e2e -update
//
// TestForks does the same with testdata/forks: three forks of a turn in windows of tmux, and the way back.
//
// # The matrix
//
// What is true of every agent is in the table of TestMatrix, and is run with each client: a [kind] is what
// the tests must know of one, a [player] how it is driven. Claude Code has the tests beside it, which came first.
//
//	GIT_AGENT_TESTS=nightly go test -tags e2e -count=1 -run 'TestMatrix/codex/compacted$' ./test/e2e
//
// # Needs
//
// git, go, node, npm, less and tmux. The clients (about 1.3 GB) are installed from the npm
// registry into a cache once per machine and version; of several runs at once, one does it. A tool that is missing fails the run.
package e2e
