// Package pusher changes what remotes have, within the user's consent.
//
//	push.go      one mission; batch.go many
//	drain.go     the queue of the background push
//	purges.go    what was purged here, replaced there
//	archive.go   both archives united, there
//	delete.go    missions deleted there
//	probe.go     what a remote does with our refs
//	report.go    what git says of a push
//
// A mission is never overwritten: if it was continued there and here, ours goes
// under the name of its chain, see [gitagent/internal/fetcher]. Only purges and
// archives replace refs, and only values that were read.
package pusher
