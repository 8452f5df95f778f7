// Package remote moves missions between repositories: it pushes them to a remote and fetches them
// from one.
//
// The git binary does the transport. This package decides what may be sent where, under which
// names, and how what arrives becomes part of the repository.
//
// # Consent
//
// Nothing is pushed to a URL unless the user has named it in git's configuration:
//
//	git config agent.https://host.example/repo.git.push all     ledgers, notes and branches
//	git config agent.https://host.example/repo.git.push code    branches alone
//
// A remote stands for what `git remote get-url --push --all` prints for it, after every insteadOf
// and pushInsteadOf, and each of those URLs must have been named. No file that comes with a
// repository can give consent. See [Open].
//
// # One writer
//
// A mission has its own refs, so two clones only conflict if both continued the same one. Its
// ledger is then two chains with a common past. Neither is overwritten and no ref is ever forced:
// the side that was there first keeps the name, in the repository as at the remote, and the other
// side becomes a mission of its own there, named by the first 12 digits of its first commit that is
// not common. That name is the same on every machine, so fetching again changes nothing, and after
// everybody has pushed and fetched everybody has both sides.
//
// # In the background
//
// A hook puts a mission into the queue of a remote, [Remote.Later], and leaves the rest to a
// process of its own, [Remote.Drain]; only one pushes for a repository and a remote at a time.
// Turns recorded while it works go with its next push.
package remote
