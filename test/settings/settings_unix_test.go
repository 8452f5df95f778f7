//go:build unix

package settings

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"gitagent/test/gittest"
)

// TestMain builds the programs, and puts them in front of PATH.
func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }

// hostile has another value for each key of the table, and for others that might reach our gits.
var hostile = map[string]string{
	"core.hooksPath": "", // the hooks are where git looks by itself
	"core.fsmonitor": "$HOME/monitor", "core.splitIndex": "true", "core.ignoreStat": "true", "core.safecrlf": "true",
	"core.untrackedCache": "false", "status.showUntrackedFiles": "no", "status.showStash": "true", "status.compareBranches": "@{upstream} @{push}",
	"submodule.recurse": "true", "checkout.guess": "true", "worktree.guessRemote": "true", "advice.detachedHead": "true",
	"core.filesRefLockTimeout": "0", "core.packedRefsTimeout": "0", "reftable.lockTimeout": "0", "core.preferSymlinkRefs": "true",
	"core.warnAmbiguousRefs": "true", "pack.packSizeLimit": "1m", "pack.threads": "7", "pack.indexVersion": "1",
	"gc.autoDetach": "true", "gc.worktreePruneExpire": "now", "maintenance.autoDetach": "true",
	"diff.algorithm": "patience", "diff.renames": "copies", "diff.renameLimit": "1", "diff.indentHeuristic": "false",
	"diff.suppressBlankEmpty": "true", "core.bigFileThreshold": "1", "diff.context": "0", "diff.interHunkContext": "9",
	"diff.noprefix": "true", "diff.mnemonicPrefix": "true", "diff.srcPrefix": "x/", "diff.dstPrefix": "y/", "diff.submodule": "log",
	"diff.orderFile": "/nowhere", "diff.relative": "true", "diff.statGraphWidth": "1", "core.quotePath": "true",
	"log.showSignature": "true", "log.follow": "true", "log.diffMerges": "combined", "i18n.logOutputEncoding": "latin1", "i18n.commitEncoding": "latin1",
	"blame.markIgnoredLines": "true", "blame.markUnblamableLines": "true",
	"merge.conflictStyle": "diff3", "merge.directoryRenames": "true", "merge.renames": "false", "merge.renameLimit": "1", "merge.renormalize": "true",
	"commit.gpgSign": "true", "trailer.separators": "=", "core.commentChar": "A",
	"core.askPass": "$HOME/told ask", "http.followRedirects": "true", "push.pushOption": "merge", "push.followTags": "true", "push.gpgSign": "true",
	"push.recurseSubmodules": "on-demand", "push.useForceIfIncludes": "true", "fetch.writeCommitGraph": "true",

	"hook.post-index-change.enabled": "", "hook.reference-transaction.enabled": "", "hook.post-checkout.enabled": "", "hook.pre-push.enabled": "",
	"hook.pre-commit.enabled": "", "hook.prepare-commit-msg.enabled": "", "hook.commit-msg.enabled": "", "hook.post-commit.enabled": "",

	// What the table's options of commands override.
	"diff.external": "$HOME/told external", "diff.lie.textconv": "$HOME/told textconv", "diff.lie.command": "$HOME/told command",
	"color.diff": "always", "color.status": "always", "diff.colorMoved": "zebra", "submodule.a.ignore": "all",
	"remote.origin.tagOpt": "--tags", "remote.origin.prune": "true", "remote.origin.pruneTags": "true", "fetch.prune": "true", "fetch.recurseSubmodules": "true",
	"fetch.all": "true", "trailer.where": "start", "trailer.ifExists": "doNothing", "trailer.ifMissing": "doNothing", "init.templateDir": "$HOME/template",
	"remote.origin.mirror": "true",

	// What the table leaves alone.
	"core.pager": "$HOME/told pager", "pager.diff": "true", "pager.log": "true", "pager.status": "true", "pager.blame": "true",
	"core.editor": "$HOME/told editor", "sequence.editor": "$HOME/told editor", "column.ui": "always", "advice.statusHints": "true",
	"log.decorate": "full", "log.abbrevCommit": "true", "log.mailmap": "true", "log.showRoot": "false", "format.pretty": "raw",
	"status.short": "true", "status.branch": "true", "status.relativePaths": "false", "status.submoduleSummary": "true", "status.renames": "copies",
	"diff.ignoreSubmodules": "all", "diff.wordRegex": "x", "diff.statNameWidth": "1", "diff.autoRefreshIndex": "false", "diff.dirstat": "lines",
	"grep.patternType": "perl", "blame.showEmail": "true", "blame.blankBoundary": "true", "blame.coloring": "repeatedLines",
	"blame.showRoot": "false", "push.default": "matching", "push.negotiate": "false", "push.autoSetupRemote": "true",
	"merge.ff": "only", "merge.verifySignatures": "true", "merge.stat": "true", "merge.autoStash": "true", "rerere.enabled": "true", "tag.gpgSign": "true",
	"pack.compression": "0", "pack.writeReverseIndex": "true", "index.version": "4", "index.threads": "3", "index.skipHash": "false",
	"fetch.output": "compact", "fetch.parallel": "3", "fetch.showForcedUpdates": "true", "transfer.fsckObjects": "true", "fetch.unpackLimit": "1",
	"transfer.unpackLimit": "1", "clean.requireForce": "true", "checkout.defaultRemote": "other", "branch.autoSetupMerge": "always", "branch.sort": "-committerdate",
	"core.createObject": "rename", "core.logAllRefUpdates": "always", "core.compression": "0", "core.preloadIndex": "false",
}

// environment has variables that would reach our gits.
var environment = []string{
	"GIT_EXTERNAL_DIFF=$HOME/told external", "GIT_DIFF_OPTS=-u0", "GIT_PRINT_SHA1_ELLIPSIS=yes", "GIT_REF_PARANOIA=0", "GIT_FLUSH=0",
	"GIT_TRACE=1", "GIT_TRACE_PACKET=true", "GIT_TRACE2=1", "GIT_TRACE2_EVENT=3", "GIT_TRACE_SETUP=2", "GIT_CURL_VERBOSE=1",
	"GIT_PAGER=$HOME/told pager", "GIT_EDITOR=$HOME/told editor", "GIT_MERGE_VERBOSITY=5", "GIT_NOTES_REF=refs/notes/x", "GIT_ADVICE=1",
	"GIT_OPTIONAL_LOCKS=0", "GIT_INDEX_VERSION=4", "GIT_REFLOG_ACTION=liar", "GIT_ICASE_PATHSPECS=1",
	"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=diff.noprefix", "GIT_CONFIG_VALUE_0=true",
	"GIT_CONFIG_PARAMETERS='diff.context'='0' 'core.fsmonitor'='$HOME/monitor' 'status.showstash'='true'",
}

// events are those that a git of ours might tell a hook of.
var events = []string{
	"post-index-change", "reference-transaction", "post-checkout", "pre-push", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit",
	"pre-merge-commit", "post-merge", "post-rewrite", "pre-rebase", "fsmonitor-watchman", "post-applypatch",
}

// keys returns the keys of the table.
func keys(t *testing.T) (keys []string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), "../../internal/git/settings.go", nil, 0)
	gittest.Must(t, err)
	ast.Inspect(f, func(n ast.Node) bool {
		if row, ok := n.(*ast.CompositeLit); ok && row.Type == nil && len(row.Elts) == 4 {
			if lit, ok := row.Elts[0].(*ast.BasicLit); ok {
				key, err := strconv.Unquote(lit.Value)
				gittest.Must(t, err)
				keys = append(keys, key)
			}
		}
		return true
	})
	return keys
}

// steps is a session with every command, by sh. What is told to a hook in one that begins with "user: " is the user's.
const steps = `
user: git agent-turn init --agent claude
git agent-turn record --session $S --prompt 'one' --transcript $HOME/t.jsonl
printf 'two\n\n\nlines \344\n' >>a.txt; printf 'x\0y\n' >bin; mkdir d; mv b.txt d/b.txt; echo two >>lib/lib.txt
git agent-turn record --session $S --prompt 'two A-word' --transcript $HOME/t.jsonl
sed -i 's/^line 3$/three/' a.txt; echo new >new.txt
git agent-turn record --session $S --prompt 'three hunter2-secret' --transcript $HOME/t.jsonl
git agent-turn list
git agent-turn list --all
git agent-turn blame a.txt
git agent-turn why a.txt:3
git agent-turn show 2
git agent-turn show --patch 2
git agent-turn diff 1 2
git agent-turn diff --stat 1 3
git agent-turn diff --name-status 1 3
git agent-turn restore --dry-run 1
git agent-turn restore 1
cat a.txt; ls
git agent-turn undo
git agent-turn revert 2
git agent-turn undo
cat a.txt; ls
git agent-turn restore 2 -- a.txt
git agent-turn undo
git agent-turn log -- a.txt
git agent-turn grep one
git agent-turn summary
git agent-turn bisect --good 1 --bad 3 -- sh -c '! grep three a.txt'
printf 'what next\n' | git agent-handoff write -
git agent-handoff list
git agent-handoff show
user: git agent-fork --no-conversation --worktree $HOME/fork 0000000a/2
cd $HOME/fork; echo fork >>d/b.txt; git agent-turn record --prompt 'in the fork'; basename $(git symbolic-ref HEAD) >$HOME/id
git agent-fork compare $(cat $HOME/id)
git agent-fork adopt $(cat $HOME/id)
git agent-turn undo
cd $HOME/fork; git agent-turn list; git agent-turn restore 3; git agent-turn undo
cd $HOME/fork; echo more >>a.txt; git agent-turn record --prompt 'attached'; git log -1 --format=%s%n%b
git config agent.$HOME/up.git.push all; git agent-turn push origin
git -C $HOME/up.git for-each-ref --format='%(refname)'
cd $HOME/clone; git agent-turn fetch origin; git agent-turn list --all
git agent-turn missions
git agent-turn archive --dry-run 0000000a
git agent-turn archive 0000000a
git agent-turn list --mission 0000000a
git agent-turn archive --out 0000000a
git agent-turn doctor --repair --dry-run
echo hunter2-secret | git agent-turn purge --fixed --yes
git agent-turn list --all
git fsck --strict 2>&1 | grep -v /kept/
git status --porcelain
plain: git agent-turn finish --no-edit 0000000a
plain: git log -1 --format=%B
git agent-turn remove --force $(cat $HOME/id)
git agent-turn page --out $HOME/page.html 0000000a; test -s $HOME/page.html
git agent-turn missions
git for-each-ref --format='%(refname)'
`

// A world is a home with a repository.
type world struct {
	t    *testing.T
	home string
	dir  string
	env  []string // of our programs
	user []string // of the user's git
}

func newWorld(t *testing.T, told bool) *world {
	t.Helper()
	w := &world{t: t, home: gittest.TempDir(t)}
	w.dir = filepath.Join(w.home, "repo")
	w.user = append(gittest.Env(w.home), "HOME="+w.home, "S=7b1e9c52-0000-4000-8000-00000000000a", "AS_USER=1")
	w.must(`
		mkdir repo lib template
		git init -q -b main lib; (cd lib; echo one >lib.txt; git add .; git commit -qm lib)
		git init -q --bare -b main up.git
		cd repo; git init -q -b main; git remote add origin $HOME/up.git
		seq -f 'line %g' 9 >a.txt; seq 20 >b.txt; printf '*.txt diff=lie\n' >.gitattributes
		git -c protocol.file.allow=always submodule --quiet add $HOME/lib lib
		git add .; git commit -qm first; git push -q origin main; git tag private
		git config remote.origin.receivepack 'GIT_CONFIG_GLOBAL=/dev/null git-receive-pack' # the other end's git is not ours
		git config remote.origin.uploadpack 'GIT_CONFIG_GLOBAL=/dev/null git-upload-pack'
		cd ..; git clone -q up.git clone; (cd clone; git agent-turn init --agent claude)
		printf '{"type":"user","message":{"role":"user","content":"hi"}}\n' >t.jsonl`)
	w.env = append(slices.Clone(w.user), "AS_USER=")
	if !told {
		return w
	}
	gittest.Must(t, os.WriteFile(filepath.Join(w.home, "told"), []byte("#!/bin/sh\necho \"$@\" >>$HOME/log\n[ \"$AS_USER\" ]\n"), 0o755))
	gittest.Must(t, os.WriteFile(filepath.Join(w.home, "monitor"), []byte("#!/bin/sh\necho monitor >>$HOME/log\nprintf 'token\\0'\n"), 0o755))
	config := new(strings.Builder)
	set := func(key, value string) {
		first, last := strings.IndexByte(key, '.'), strings.LastIndexByte(key, '.')
		section := key[:first]
		if last > first {
			section += " " + strconv.Quote(key[first+1:last])
		}
		fmt.Fprintf(config, "[%s]\n\t%s = %s\n", section, key[last+1:], strconv.Quote(w.expand(value)))
	}
	set("user.name", "Dev")
	set("user.email", "dev@example.invalid")
	for key, value := range hostile {
		if value != "" {
			set(key, value)
		}
	}
	for _, event := range events {
		set("hook.v="+event+".event", event)
		set("hook.v="+event+".command", "$HOME/told configured "+event)
		for _, dir := range []string{"template/hooks", "repo/.git/hooks", "clone/.git/hooks"} {
			path := filepath.Join(w.home, filepath.FromSlash(dir), event)
			gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
			gittest.Must(t, os.WriteFile(path, []byte("#!/bin/sh\n$HOME/told file "+event+"\n"), 0o755))
		}
	}
	path := filepath.Join(w.home, "hostile")
	gittest.Must(t, os.WriteFile(path, []byte(config.String()), 0o666))
	w.env = append(w.env, "GIT_CONFIG_GLOBAL="+path)
	for _, v := range environment {
		w.env = append(w.env, w.expand(v))
	}
	return w
}

func (w *world) expand(s string) string { return strings.ReplaceAll(s, "$HOME", w.home) }

func (w *world) sh(dir string, env []string, script string) string {
	cmd := exec.Command("sh", "-c", script)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if err != nil {
		return string(out) + err.Error() + "\n"
	}
	return string(out)
}

func (w *world) must(script string) {
	w.t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir, cmd.Env = w.home, w.user
	if out, err := cmd.CombinedOutput(); err != nil {
		w.t.Fatalf("%v\n%s", err, out)
	}
}

// log returns what hooks and programs were told since the last call.
func (w *world) log() string {
	path := filepath.Join(w.home, "log")
	text, _ := os.ReadFile(path)
	_ = os.Remove(path)
	return string(text)
}

var (
	hex   = regexp.MustCompile(`\b[0-9a-f]{7,64}\b`)
	times = regexp.MustCompile(`\b[0-9]+[smh] ago|\b[0-9]+(\.[0-9]+)?(ms|s)\b|\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d[^ ]*|\b\d{8}-\d{6}\b|\b\d\d:\d\d(:\d\d)?\b|\b[0-9.]+ ?([kKM]i?)?B\b|\b[0-9]+ (objects|packs|files)\b`)
	wide  = regexp.MustCompile(`  +`) // a column is as wide as the longest time in it
)

// session plays the steps, and returns what each printed, without what differs from time to time.
func (w *world) session() (printed []string) {
	names := make(map[string]string)
	for step := range strings.Lines(strings.TrimSpace(steps)) {
		step = strings.TrimSpace(step)
		command, env := step, w.env
		if c, ok := strings.CutPrefix(step, "user: "); ok {
			command, env = c, append(slices.Clone(w.env), "AS_USER=1")
		}
		if c, ok := strings.CutPrefix(step, "plain: "); ok {
			command, env = c, w.user
		}
		// The git that starts our programs, and what the user asks git, is not what is tested.
		command = strings.ReplaceAll(command, "git agent-", "git-agent-")
		command = "git() { env -i PATH=\"$PATH\" HOME=\"$HOME\" GIT_CONFIG_NOSYSTEM=1 git -c core.hooksPath=/dev/null -c core.fsmonitor=false \"$@\"; }\n" + command
		out := w.sh(w.dir, env, command)
		if got := w.log(); got != "" && slices.Contains(env, "AS_USER=") && env[len(env)-1] != "AS_USER=1" {
			w.t.Errorf("%s: told were\n%s", step, got)
		}
		out = strings.ReplaceAll(out, w.home, "$HOME")
		out = wide.ReplaceAllString(times.ReplaceAllString(out, "TIME"), "  ")
		out = hex.ReplaceAllStringFunc(out, func(h string) string {
			h = h[:7]
			if names[h] == "" {
				names[h] = fmt.Sprintf("#%d", len(names)+1)
			}
			return names[h]
		})
		printed = append(printed, "$ "+step+"\n"+out)
	}
	return printed
}

// TestAll: with all of it set, every command prints and does the same as without.
func TestAll(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, key := range keys(t) {
		if _, ok := hostile[key]; !ok && !strings.HasPrefix(key, "--") {
			t.Errorf("no hostile value of %s is tested", key)
		}
	}
	want := newWorld(t, false).session()
	got := newWorld(t, true).session()
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%s", diff.Diff("with settings", []byte(got[i]), "without", []byte(want[i])))
		}
	}
}
