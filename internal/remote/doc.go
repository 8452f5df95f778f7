// Package remote pushes missions to remotes and fetches them. Git does the
// transport; this package decides what may be sent where, under which names,
// and how what arrives becomes part of the repository.
//
// # Consent
//
// Nothing is pushed to a URL unless the user has named it in git's
// configuration, all for ledgers, notes and branches, or code for branches
// alone:
//
//	git config agent.https://host.example/repo.git.push all
//
// A remote stands for what `git remote get-url --push --all` prints, after
// every insteadOf, and each of those URLs must have been named. No file of a
// repository can give consent. See [Open].
//
// # One writer
//
// Two clones conflict only if both continued the same mission. Its ledger has
// then diverged into two chains. Neither is overwritten: the chain that was
// there first keeps the name, and the other becomes a mission named by the
// first 12 digits of its first commit that is not common. That name is the same
// everywhere, so fetching again changes nothing. Only purges and archives
// replace refs, and only values that were read.
//
// # In the background
//
// A hook queues a mission with [Remote.Later] and leaves the rest to a process
// that runs [Remote.Drain], one for a repository and a remote at a time.
package remote
