// Package remote is a git remote as missions see it: what may be sent there,
// what it has, what it can do, and what waits to be pushed. Git does the
// transport. What is fetched is up to [gitagent/internal/fetcher], what is
// changed there to [gitagent/internal/pusher].
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
// every insteadOf. If that are several URLs, each stands for itself, see
// [Remote.Each]. No file of a repository can give consent. See [Open].
//
// Objects of LFS go where such a URL leads by git-lfs's rule, or to a URL that
// was named itself. See [Remote.LFS].
//
// # The queue
//
// A hook queues a mission with [Remote.Later] and leaves the rest to a process
// that drains the queue, one for a repository and a URL at a time.
package remote
