// Package fetcher fetches missions from remotes and makes what arrives part of
// the repository. It changes nothing at a remote.
//
//	fetch.go      what is fetched, and where it lands; leftovers.go
//	purges.go     others' purges, applied to what is here and what arrives
//	merge.go      what has landed becomes missions, notes and branches
//	archive.go    the remote's archive, as it was seen last
//	ofbranch.go   the mission of a branch that came without it
//	missing.go    objects for another repository
//
// # One writer
//
// Two clones conflict only if both continued the same mission. Its ledger has
// then diverged into two chains. Neither is overwritten: the chain that was
// there first keeps the name, and the other becomes a mission named by the
// first 12 digits of its first commit that is not common. That name is the same
// everywhere, so fetching again changes nothing. Only purges and archives
// replace refs, and only values that were read.
package fetcher
