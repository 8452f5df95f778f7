// Package neighbours lets the user's own git, another user and the
// configuration do at random whatever git allows, between the events of
// agents' sessions and during them, and checks that no turn is lost.
//
//	make check STAGE=tests                       some 60 steps, beside all other tests
//	make neighbours                              2,000
//	make neighbours SEED=7 STEPS=100000          others
//	go test ./test/neighbours -run 'Neighbours/round_3$' -seed 7 -shrink
//
// It works from outside: programs that are built once, payloads on standard
// input, shell scripts with git, and a model of the turns that were
// acknowledged: a hook or `git agent-turn record` ended well, and the turn was
// listed. From then on it must be listed under its mission and its number,
// with its record, its conversation, and the files that its commit holds, for
// plain git too. Where it is not, the user must have been told, and following
// what they were told must bring it back.
//
// A round is a repository with its remotes, another clone, sessions, and a
// number of steps. Each script of the user's runs in a twin as well, where
// nothing of ours is at work: what is the user's must be the same in both. A
// step is drawn from the seed, the round and its number alone, so steps can be
// left out: a failure prints all of them, and with -shrink those that it takes.
//
// TestAbroad (-abroad 720) plays another game: a land of up to five repositories,
// nested, submodules and with worktrees, in which two sessions and a person write
// lines that are unique. Each line must be in one record's own change, of the right
// repository and turn. Short rounds that failed once are cases that make test runs.
package neighbours
