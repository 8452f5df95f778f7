// Package readers tests that other implementations of git read what is recorded
// as git does, what their clones take of it, and what their garbage collections
// leave.
//
// A program for each, in programs and gogit, prints what it reads of the refs with
// some prefixes, but for symbolic ones, in lines that are compared with those that
// git's own answers give:
//
//	ref <name> <id>
//	object <id> <type> <SHA-256 of its content>        all that the refs lead to
//	signature <id> <SHA-256 of the signature's text>
//	signed <id> <SHA-256 of what the signature is of>
//	note <ref> <id of the object> <SHA-256 of its text>
//
// go-git comes from Go's module proxy, and is in make check. The others are left
// to make nightly: isomorphic-git from npm; JGit, libgit2, dulwich and got as Debian
// has them in sid, in a directory that sid.sh fills.
package readers
