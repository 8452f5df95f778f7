// Package damage takes objects and refs out of a repository, one at a time, or breaks them, and looks at what
// the commands that read say of it, and at what `git agent-turn doctor --repair` mends.
//
//	make check STAGE=tests                                   a sample, beside all other tests
//	GIT_AGENT_TESTS=nightly go test ./test/damage -whole     every ref of ours and every object, deleted and cut
//
// A command prints what it prints of the whole repository, or names what is missing and the command that mends.
// None crashes or hangs. After the repair the objects that the remote has are there again, byte for byte, git
// fsck is content, and the refs are as they were.
package damage
