package git

import (
	"os"
	"slices"
	"strings"
)

// A setting is fixed for those of our gits that it would change: a user's
// settings are for their own.
type setting struct {
	key      string // of the configuration, or an option of the command itself
	value    string // of a key
	commands string // that it matters to
	why      string
}

// Commands that read or write an index, move refs, and print what differs.
const (
	indexing  = "add bisect checkout clean commit diff diff-files diff-index ls-files read-tree reset status switch update-index worktree write-tree"
	moving    = "bisect checkout commit fetch init pack-refs push reflog reset switch symbolic-ref update-ref worktree"
	differing = "diff diff-files diff-index diff-tree log"
)

// settings is the table of what is fixed. Commands done as the user ([AsUser])
// have none of it, and git config shows what the user set. Of the rest these
// are the user's on purpose:
//
//   - How content is stored and checked out: attributes, filters, line ends,
//     merge drivers, core.symlinks, fileMode, ignoreCase, trustctime, checkStat,
//     excludesFile, sparse checkouts, the format of the index.
//   - How a remote is reached, and what may come from it: url.*, http.*, ssh.*,
//     credential.*, core.askPass, protocol.*, core.gitProxy, core.alternateRefsCommand,
//     fsckObjects, fetch.negotiationAlgorithm, push.negotiate.
//   - When git maintains a repository and how: gc.*, maintenance.*, repack.*,
//     core.fsync, core.logAllRefUpdates, and the hook pre-auto-gc, which asks.
//   - What is only shown: core.abbrev, mailmap.*, advice.*, core.pager.
var settings = []setting{
	// Hooks may be slow, refuse, and be told of what is not the user's.
	{"core.hooksPath", os.DevNull, indexing + " " + moving, "hooks in files"},
	{"hook.post-index-change.enabled", "false", indexing, "hooks by configuration, since git 2.55 by their event"},
	{"hook.reference-transaction.enabled", "false", moving, "it could veto a turn"},
	{"hook.post-checkout.enabled", "false", "bisect checkout switch worktree", "its status would be the checkout's"},
	{"hook.pre-push.enabled", "false", "push", "see agent.prepush"},
	{"hook.pre-commit.enabled", "false", "commit", ""},
	{"hook.prepare-commit-msg.enabled", "false", "commit", ""},
	{"hook.commit-msg.enabled", "false", "commit", ""},
	{"hook.post-commit.enabled", "false", "commit", ""},

	// What is in the worktree.
	{"core.fsmonitor", "false", indexing + " blame check-attr check-ignore diff-tree hash-object log merge-tree rev-list", "what it does not tell of would not be recorded"},
	{"core.splitIndex", "false", indexing, "it puts files beside the user's index"},
	{"core.ignoreStat", "false", indexing, "git would not look again at a file that it wrote"},
	{"core.safecrlf", "false", "add hash-object status update-index", "it refuses files"},
	{"core.untrackedCache", "true", "status", "it is in our index, not in the user's"},
	{"status.showUntrackedFiles", "all", "status worktree", "the untracked cache depends on it, and what may be removed"},
	{"status.showStash", "false", "status", "headings"},
	{"status.compareBranches", "", "status", "it walks history"},
	{"submodule.recurse", "false", "bisect checkout grep read-tree reset switch worktree", "unsaved work in a submodule would be overwritten"},
	{"checkout.guess", "false", "checkout switch", "a branch of ours is never made from a remote's"},
	{"worktree.guessRemote", "false", "worktree", ""},
	{"advice.detachedHead", "false", "bisect checkout switch", ""},

	// Refs and packs.
	{"core.filesRefLockTimeout", refLockWait, "update-ref", ""},
	{"core.packedRefsTimeout", "1000", "update-ref", "git's own; it may be zero"},
	{"reftable.lockTimeout", refLockWait, "update-ref", "all refs share one lock"},
	{"core.preferSymlinkRefs", "false", moving, "a symbolic ref is a file"},
	{"core.warnAmbiguousRefs", "false", "update-ref", "git would look for six refs named like each hash"},
	{"core.warnAmbiguousRefs", "true", "for-each-ref", "a short name must be unambiguous"},
	{"pack.packSizeLimit", "0", "pack-objects", "one pack is written"},
	{"pack.threads", "1", "pack-objects", "it is in the background"},
	{"pack.indexVersion", "2", "fetch index-pack pack-objects", "we read no other"},
	{"gc.autoDetach", "false", "maintenance", "it runs under our lock"},
	{"gc.worktreePruneExpire", "never", "maintenance", "others may see the worktrees that are not here; see [Repo.Unseen]"},
	{"maintenance.autoDetach", "false", "maintenance", "so that it runs under our lock"},

	// What differs: as `git diff` prints it if nothing is configured.
	{"--no-ext-diff", "", differing, "it prints what it likes"},
	{"--no-textconv", "", differing + " blame", "other text than is stored"},
	{"--no-color", "", differing + " grep", ""},
	{"--no-relative", "", differing, "paths are from the top"},
	{"--ignore-submodules=none", "", "diff diff-index diff-tree log", "submodule.<name>.ignore hides what a turn moved"},
	{"diff.algorithm", "default", differing + " blame", ""},
	{"diff.renames", "true", differing + " merge-tree", ""},
	{"diff.renameLimit", "1000", differing, ""},
	{"diff.indentHeuristic", "true", differing + " blame", "where a hunk begins"},
	{"diff.suppressBlankEmpty", "false", differing, "a patch is parsed"},
	{"core.bigFileThreshold", "512m", differing + " blame merge-tree", "git's own; see [Wary]"},
	{"diff.context", "3", "diff log", ""},
	{"diff.interHunkContext", "0", "diff log", ""},
	{"diff.noprefix", "false", "diff log", ""},
	{"diff.mnemonicPrefix", "false", "diff log", ""},
	{"diff.srcPrefix", "a/", "diff log", ""},
	{"diff.dstPrefix", "b/", "diff log", ""},
	{"diff.submodule", "short", "diff log", ""},
	{"diff.orderFile", os.DevNull, "diff log status", "one that is missing is fatal"},
	{"diff.relative", "false", "diff log", ""},
	{"diff.statGraphWidth", "0", "diff log", ""},
	{"diff.statNameWidth", "0", "diff log", ""},
	{"core.quotePath", "false", "diff", "what is shown is escaped by us"},
	{"log.showSignature", "false", "log", "lines of gpg"},
	{"log.follow", "false", "log", ""},
	{"log.diffMerges", "separate", "log", ""},
	{"i18n.logOutputEncoding", "UTF-8", "blame log rev-list", "what we print is UTF-8"},
	{"i18n.commitEncoding", "UTF-8", "commit commit-tree", "a header that says otherwise"},
	{"blame.markIgnoredLines", "false", "blame", "lines in the format that is parsed"},
	{"blame.markUnblamableLines", "false", "blame", ""},

	// Merges and commits.
	{"merge.conflictStyle", "merge", "merge-tree", "markers are looked for"},
	{"merge.directoryRenames", "false", "merge-tree", "a file that was added stays where it is"},
	{"merge.renames", "true", "merge-tree", ""},
	{"merge.renameLimit", "7000", "merge-tree", "git's own"},
	{"merge.renormalize", "false", "merge-tree", "content is merged as it is stored"},
	{"commit.gpgSign", "false", "commit commit-tree", "it asks for a passphrase"},
	{"trailer.separators", ":", "interpret-trailers log", "every reader finds ours"},
	{"core.commentChar", "#", "interpret-trailers", "a line of ours might begin with it"},
	{"--where=end", "", "interpret-trailers", "trailer.<name>.where, too"},
	{"--if-exists=addIfDifferent", "", "interpret-trailers", ""},
	{"--if-missing=add", "", "interpret-trailers", ""},

	// Remotes: only what we name goes and comes, and nothing asks.
	{"http.followRedirects", "false", "fetch ls-remote push", "to a URL without consent"},
	{"--porcelain", "", "push", "its report is parsed"},
	{"push.pushOption", "", "push", "it may open a merge request"},
	{"push.followTags", "false", "push", ""},
	{"push.gpgSign", "false", "push", "it asks for a passphrase"},
	{"push.recurseSubmodules", "no", "push", ""},
	{"push.useForceIfIncludes", "false", "push", ""},
	{"core.bigFileThreshold", "32m", "fetch ls-remote push", "what is larger is untrusted and not held in memory"},
	{"fetch.writeCommitGraph", "false", "fetch", "a long write of what is the user's"},
	{"--no-tags", "", "fetch", "remote.<name>.tagOpt"},
	{"--no-prune", "", "fetch", "remote.<name>.prune"},
	{"--no-prune-tags", "", "fetch", ""},
	{"--no-write-fetch-head", "", "fetch", "it is of the user's last fetch"},
	{"--refmap=", "", "fetch", "remote.<name>.fetch would move other refs"},
	{"--no-recurse-submodules", "", "fetch", ""},
	{"--no-auto-maintenance", "", "fetch", "it has its time"},
	{"--no-show-forced-updates", "", "fetch", "it walks history"},
	{"--no-filter", "", "fetch", "remote.<name>.partialCloneFilter"},

	{"--template=", "", "init", "the user's hooks"},
}

// notUsers are the variables that we set for every git: no translation, no
// prompt, no replacements, as in-process reading has none.
var notUsers = []string{"LC_ALL", "GIT_TERMINAL_PROMPT", "GIT_NO_REPLACE_OBJECTS", "GIT_NO_LAZY_FETCH", offVariable}

// notOurs are the variables that no git of ours has.
var notOurs = []string{
	"GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS", "GIT_PRINT_SHA1_ELLIPSIS", // other formats
	"GIT_REF_PARANOIA", // broken refs would be skipped
	"GIT_FLUSH",        // answers would wait in a buffer
	"GIT_CURL_VERBOSE", "GIT_TRANSLOOP_DEBUG",
}

// tracesHere reports whether a variable makes git write what it does to
// standard error, or to a file that we have open, perhaps a lock.
func tracesHere(name, value string) bool {
	return strings.HasPrefix(name, "GIT_TRACE") && (strings.EqualFold(value, "true") || len(value) == 1 && value != "0")
}

// fixed returns the options of git and of its command from the table. Of hooks
// it has none if hooks run.
func fixed(command string, hooks bool) (options, flags []string) {
	for i := range settings {
		s := &settings[i]
		switch {
		case !among(s.commands, command), hooks && s.isHook():
		case strings.HasPrefix(s.key, "--"):
			flags = append(flags, s.key)
		default:
			options = append(options, "-c", s.key+"="+s.value)
		}
	}
	return options, flags
}

func (s *setting) isHook() bool {
	return s.key == "core.hooksPath" || strings.HasPrefix(s.key, "hook.")
}

// among reports whether a list of words has one.
func among(words, word string) bool {
	for w := range strings.SplitSeq(words, " ") {
		if w == word {
			return true
		}
	}
	return false
}

// hooks returns the names of hooks by configuration (hook.<name>.event).
func (c Config) hooks() (names []string) {
	for key := range c {
		if name, ok := strings.CutPrefix(key, "hook."); ok {
			if name, ok = strings.CutSuffix(name, ".event"); ok {
				names = append(names, name)
			}
		}
	}
	return names
}

// arguments returns git's arguments for args: a command, perhaps after options
// that only this call has.
func (r *Repo) arguments(args []string) []string {
	at := commandAt(args)
	if r.user || at == len(args) {
		return slices.Concat(r.guards, r.options, args)
	}
	options, flags := fixed(args[at], r.hooks)
	if names := r.named.Load(); names != nil && !r.hooks && among(indexing+" "+moving, args[at]) {
		for _, name := range *names { // git 2.54 knows no other way
			options = append(options, off("hook."+name+".enabled"))
		}
	}
	return slices.Concat(r.guards, options, r.options, args[:at+1], flags, args[at+1:])
}

// off returns an option that sets a key to false. Unlike -c it takes one with
// "=", and unlike GIT_CONFIG_COUNT it overrides what our caller set.
func off(key string) string { return "--config-env=" + key + "=" + offVariable }

// offVariable is set for every git.
const offVariable = "GIT_AGENT_OFF"

// commandAt returns where the command is among git's arguments.
func commandAt(args []string) int {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c" || args[i] == "-C":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return i
		}
	}
	return len(args)
}
