//go:build unix

package neighbours

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// settings are what a user may have configured, with values for each. Not
// core.ignoreStat: git itself does not see then what an agent changes, and
// doctor says so.
var settings = []string{
	"advice.detachedHead false", "branch.autoSetupMerge always|inherit", "branch.autoSetupRebase always", "checkout.defaultRemote old", "checkout.guess false",
	"color.ui always", "commit.cleanup verbatim|scissors", "commit.status false", "commit.verbose true", "core.abbrev 4|40", "core.alternateRefsPrefixes refs/none",
	"core.attributesFile ../attributes", "core.autocrlf input", "core.bigFileThreshold 1", "core.checkStat minimal", "core.commitGraph false", "core.compression 0|9",
	"core.deltaBaseCacheLimit 1", "core.editor false", "core.eol lf", "core.excludesFile ../excludes", "core.fileMode false|true", "core.fsync all", "core.fsyncMethod batch",
	"core.ignoreCase true|false", "core.logAllRefUpdates false|always", "core.looseCompression 0", "core.multiPackIndex false", "core.notesRef refs/notes/other",
	"core.packedGitLimit 1", "core.packedGitWindowSize 1", "core.pager false", "core.preferSymlinkRefs true", "core.preloadIndex false", "core.protectNTFS true", "core.quotePath false",
	"core.safecrlf warn", "core.splitIndex true|false", "core.trustctime false", "core.untrackedCache true|keep|false", "core.useReplaceRefs false", "core.warnAmbiguousRefs false",
	"core.whitespace tab-in-indent", "diff.algorithm histogram|patience", "diff.external false", "diff.ignoreSubmodules all", "diff.mnemonicPrefix true", "diff.noprefix true", "diff.orderFile ../order",
	"diff.renames copies|false", "diff.renameLimit 1", "diff.submodule log", "diff.wordRegex .", "feature.experimental true", "feature.manyFiles true", "fetch.fsckObjects true",
	"fetch.negotiationAlgorithm skipping|noop", "fetch.output compact", "fetch.parallel 4", "fetch.prune true|false", "fetch.pruneTags true", "fetch.recurseSubmodules true",
	"fetch.showForcedUpdates false", "fetch.unpackLimit 1|1000", "fetch.writeCommitGraph true", "gc.aggressiveDepth 1", "gc.auto 1|0", "gc.autoPackLimit 1", "gc.bigPackThreshold 1",
	"gc.cruftPacks false|true", "gc.packRefs false", "gc.pruneExpire 5.minutes.ago|never", "gc.reflogExpire now|never", "gc.reflogExpireUnreachable now", "gc.worktreePruneExpire now", "gc.writeCommitGraph true",
	"grep.lineNumber true", "i18n.commitEncoding ISO-8859-1", "i18n.logOutputEncoding ISO-8859-1", "index.skipHash true", "index.threads 2", "index.version 4|2", "log.date iso", "log.decorate full",
	"log.follow true", "log.mailmap false", "log.showRoot false", "log.showSignature true", "maintenance.auto false|true", "maintenance.strategy incremental", "merge.conflictStyle diff3",
	"merge.ff only|false", "merge.log true", "merge.renames false", "merge.verbosity 5", "notes.displayRef refs/notes/*", "notes.mergeStrategy ours", "notes.rewriteRef refs/notes/*",
	"notes.rewriteMode overwrite", "pack.allowPackReuse false", "pack.compression 0", "pack.depth 1", "pack.indexVersion 1", "pack.packSizeLimit 1m", "pack.threads 1", "pack.useSparse false",
	"pack.window 0", "pack.writeReverseIndex true", "pager.log false", "protocol.version 0|1|2", "push.autoSetupRemote true", "push.default matching|nothing|current", "push.followTags true",
	"push.recurseSubmodules check", "push.useForceIfIncludes true", "rebase.autoSquash true", "rebase.autoStash true", "rebase.backend apply", "rebase.updateRefs true", "receive.denyCurrentBranch ignore",
	"remote.origin.mirror true", "remote.origin.prune true", "remote.origin.pruneTags true", "remote.origin.skipFetchAll true", "remote.origin.tagOpt --tags|--no-tags", "remote.pushDefault old",
	"repack.packKeptObjects true", "repack.useDeltaBaseOffset false", "repack.writeBitmaps false", "rerere.autoUpdate true", "rerere.enabled true", "safe.bareRepository all", "sequence.editor false",
	"stash.showIncludeUntracked true", "status.aheadBehind false", "status.branch true", "status.displayCommentPrefix true", "status.relativePaths false", "status.renames false", "status.short true",
	"status.showStash true", "status.showUntrackedFiles no|normal|all", "status.submoduleSummary true", "submodule.recurse true", "tag.forceSignAnnotated false", "tag.gpgSign false", "transfer.fsckObjects true",
	"transfer.hideRefs refs/agent|refs/notes", "transfer.unpackLimit 1", "uploadpack.hideRefs refs/agent", "user.useConfigOnly true", "worktree.guessRemote true",
}

// heard forgets what hooks were told of what the user's git did, or of a new
// worktree, as is expected of it.
func (w *world) heard() {
	_ = os.Remove(filepath.Join(w.ours.top, "told")) // there may be none
}

// hook is a script that gives the user a hook, as a file or, from git 2.54 on,
// by configuration, or takes them away. Those that may tell of us note that they
// were told.
func (w *world) hook() string {
	event := w.pick("reference-transaction", "reference-transaction", "post-index-change", "post-checkout", "post-commit", "pre-commit", "pre-auto-gc", "post-rewrite", "pre-push")
	does := w.pick("exit 1", "exit 3", "exit 0", "cat >/dev/null; sleep 0.1", "git status --short; git gc --auto")
	if event == "reference-transaction" || event == "post-index-change" {
		does = "echo " + event + " >>../told; " + does
	}
	return w.pick(
		fmt.Sprintf("mkdir -p ../hooks; printf '#!/bin/sh\\n%s\\n' >../hooks/%s; chmod a+x ../hooks/*; git config core.hooksPath ../hooks", does, event),
		fmt.Sprintf("git config hook.%d.event %s; git config hook.%[1]d.command '%[3]s'", w.IntN(2), event, does),
		fmt.Sprintf("git config hook.%d.event %s", w.IntN(2), event),
		"git config --unset core.hooksPath; rm -rf ../hooks; git config --remove-section hook.0; git config --remove-section hook.1",
		"printf '#!/bin/sh\\nprintf \"t\\\\0\"\\n' >../monitor; chmod a+x ../monitor; git config core.fsmonitor ../monitor", "git config --unset core.fsmonitor",
	)
}

// setting is a script that changes one of the settings, or what is left of
// some.
func (w *world) setting() string {
	key, values, _ := strings.Cut(w.pick(settings...), " ")
	if w.IntN(4) == 0 {
		return "git config --unset-all " + key
	}
	return fmt.Sprintf("git config %s '%s'", key, w.pick(strings.Split(values, "|")...))
}
