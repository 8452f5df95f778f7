package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/purge"
	"gitagent/internal/recording"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/internal/trust"
	"gitagent/internal/version"
	"gitagent/internal/workspace"
)

// An examination collects findings about a repository and the machine.
type examination struct {
	ctx   context.Context
	found []finding

	started string // where the git that runs us has its programs, or ""

	repo    *git.Repo // nil outside a repository
	conf    git.Config
	set     *config.Config
	records bool // recording is on
	verdict recording.Verdict
	because string      // the verdict's reason
	agents  []inspected // those used on this machine, or with our hooks
	init    string      // the command that switches recording on; "" if it would fail here

	obstacle *obstacle // that keeps hooks from the repository here, or nil
}

func (x *examination) add(f finding) { x.found = append(x.found, f) }

func (x *examination) say(what, text string) { x.add(finding{Level: fine, What: what, Text: text}) }

func (x *examination) problem(what, text, remedy string) {
	x.add(finding{Level: problem, What: what, Text: text, Remedy: remedy})
}

func (x *examination) warn(what, text, remedy string) {
	x.add(finding{Level: warning, What: what, Text: text, Remedy: remedy})
}

// refused reports that git does not work in the repository.
func (x *examination) refused(err error) {
	text, remedy := err.Error(), ""
	if repo, e := git.Find("."); e == nil {
		switch _, here := repo.Output(x.ctx, nil, "rev-parse", "--git-dir"); {
		case here == nil:
			remedy = unsetAll()
		case repo.Trusted(x.ctx) != nil:
			remedy = "git config --global --add safe.directory " + cmdline.Shell([]string{filepath.ToSlash(repo.Top)})
		default:
			if denied := repo.Access(); denied != nil {
				text, remedy = denied.Error(), allow(x.ctx, repo, denied)
			} else {
				text += "; until that is mended, no git works here"
				if head, err := os.ReadFile(filepath.Join(repo.GitDir, "HEAD")); err == nil && !strings.HasPrefix(string(head), "ref: refs/") {
					text += fmt.Sprintf(": write into %s on which branch you were, such as: ref: refs/heads/main", filepath.Join(repo.GitDir, "HEAD"))
				}
			}
		}
	}
	x.problem("repository", text, remedy)
}

// look reads what several checks need. repo is nil outside a repository.
func (x *examination) look(repo *git.Repo) {
	x.repo = repo
	top := ""
	if repo != nil {
		top = repo.Top
		conf, err := repo.Config(x.ctx)
		if err != nil {
			x.problem("repository", err.Error(), "")
		}
		x.conf = conf
		w := workspace.New(repo, nil)
		verdict, err := w.Recording(x.ctx)
		if err == nil {
			x.verdict, x.records, x.because = verdict, verdict.On, w.Because(verdict)
		}
	}
	x.inspect(top)
	if repo == nil {
		return
	}
	_, x.obstacle = place(x.ctx, repo)
	if x.obstacle == nil && !x.records && !repo.Own() { // else a trial tells
		if denied := repo.Access(); denied != nil {
			x.obstacle = &obstacle{denied.Error(), allow(x.ctx, repo, denied)}
		}
	}
	if x.obstacle != nil {
		x.init = ""
	}
}

// The oldest git that we support.
const (
	gitMajor = 2
	gitMinor = 39
)

func (x *examination) versions() {
	x.say("git-agent", version.String()+", "+runtime.GOOS+"/"+runtime.GOARCH)
	major, minor, text, err := git.Version(x.ctx)
	switch {
	case errors.Is(err, git.ErrNoGit) && x.started != "":
		x.problem("git", "hooks find none in PATH: start the agent's client where PATH has one", `export PATH="$PATH":`+cmdline.Shell([]string{x.started}))
	case err != nil:
		x.problem("git", err.Error(), "")
	case major < gitMajor || major == gitMajor && minor < gitMinor:
		x.problem("git", fmt.Sprintf("%s is older than %d.%d; install a newer one", text, gitMajor, gitMinor), "")
	default:
		x.say("git", text)
	}
}

func (x *examination) repository() {
	if x.repo == nil {
		x.say("repository", "none here")
		x.outside()
		return
	}
	if err := x.conf.Supported(); err != nil {
		x.problem("repository", err.Error(), "")
	} else {
		x.say("repository", "objects in the format "+x.repo.Format().String())
	}
	switch {
	case x.obstacle != nil && !x.records && x.obstacle.remedy != "" && x.repo.Top != "":
		x.problem("recording", "off in "+x.repo.Top+"; "+x.obstacle.text, x.obstacle.remedy)
	case x.obstacle != nil && !x.records:
		x.say("recording", "off; "+x.obstacle.text)
	case x.records:
		x.say("recording", "on in "+cmp.Or(x.repo.Top, x.repo.CommonDir)+", "+x.because)
	case x.verdict.Reason == recording.Unread:
		x.problem("recording", "off in "+x.repo.Top+", "+x.because+"; mend the file there", "")
	case x.verdict.Reason == recording.Except, x.verdict.Reason == recording.Record: // as the user wants it
		x.say("recording", "off in "+x.repo.Top+", "+x.because+"; "+visitsAlone)
	case x.verdict.Reason == recording.Never && x.init != "":
		x.problem("recording", "off in "+x.repo.Top+", "+x.because, x.init)
	case x.init == "":
		x.problem("recording", "off in "+x.repo.Top, "git config agent.record true")
	default:
		x.problem("recording", "off in "+x.repo.Top, x.init)
	}
	if os.Getenv("GIT_AGENT_DISABLE") == "1" {
		x.problem("recording", "off in this environment (GIT_AGENT_DISABLE=1)", "unset GIT_AGENT_DISABLE")
	}
}

// visitsAlone is what is recorded of a session that stands where nothing is.
const visitsAlone = "of a session that stands here, what it does in repositories where recording is on is recorded, without the conversation"

// outside reports what holds where there is no repository.
func (x *examination) outside() {
	set, _ := config.Load(config.UserPath(), "") // config reports what is wrong
	switch {
	case set.Recording.Err != nil:
		x.problem("recording", "off in all repositories but those that were switched on, since the exceptions can't be read: "+set.Recording.Err.Error(), "")
	case set.Recording.Everywhere:
		text := "on everywhere, by record.everywhere = true, " + set.EverywhereLine()
		if n := len(set.Recording.Except); n > 0 {
			text += ", with " + cmdline.Plural(n, "exception")
		}
		x.say("recording", text+"; "+visitsAlone)
	default:
		x.say("recording", "on in repositories that were switched on; for all of yours: git agent-turn init --global")
	}
}

// places says how many repositories --everywhere reads, and in which git does not
// work.
func (x *examination) places() {
	list, err := places.Of(os.Getenv).Repositories()
	if err != nil {
		x.warn("everywhere", err.Error(), "")
	}
	var refused []string
	for _, common := range list {
		if _, err := git.OpenCommon(x.ctx, common); err != nil {
			refused = append(refused, git.DirOf(common))
		}
	}
	if len(list) == 0 {
		return
	}
	text := cmdline.Plural(len(list), "repository") + " of yours: git agent-turn missions --everywhere"
	if len(refused) > 0 {
		text += "; left out, as git does not work there: " + strings.Join(cmdline.List(refused), ", ")
	}
	x.figures("everywhere", text, map[string]int64{"repositories": int64(len(list)), "refused": int64(len(refused))})
}

// config reports what the configuration files set, and what is wrong in them.
func (x *examination) config(defaults bool) {
	file := ""
	if x.repo != nil {
		file = filepath.Join(x.repo.Top, config.RepoFile)
	}
	conf, err := config.Load(config.UserPath(), file)
	x.set = conf
	if err != nil {
		tell := x.problem
		if errors.As(err, new(*config.UntrustedError)) {
			tell = x.warn
		}
		for line := range strings.Lines(err.Error()) {
			tell("config", line, "")
		}
	}
	if invalid := conf.CheckRules(); invalid != nil {
		if err == nil || errors.As(err, new(*config.UntrustedError)) {
			x.problem("config", invalid.Error(), "")
		}
		x.warn("config", "so no text of a prompt, reply, conversation or handoff is recorded until that is mended", "")
	}
	for _, v := range conf.Values() {
		if defaults || v.Origin != config.DefaultOrigin {
			x.say("config", fmt.Sprintf("%s = %s (%s)", v.Key, v.Shown(), v.Origin))
		}
	}
}

// keys reports the signing key, and what is wrong with the trusted keys.
func (x *examination) keys() {
	k, err := keys()
	if err != nil {
		return // config has said so
	}
	x.ownKey(k)
	if x.repo != nil && k.Own != nil {
		if name := x.conf.Get("user.signingkey"); name != "" && signsWith(name, k) {
			x.problem("key", "user.signingKey is the key that signs ledgers; take another one for either, or a commit of yours could pass for a ledger's",
				unset(x.ctx, x.repo, "user.signingKey"))
		}
	}
	x.say("trusted keys", fmt.Sprint(len(k.Signers)))
	for _, line := range k.Ignored {
		x.problem("trusted keys", line+"; mend the file there", "")
	}
}

func (x *examination) ownKey(k *trust.Keys) {
	const none = "none, so what is recorded is not signed, and is untrusted in other clones"
	switch {
	case k.CanMake():
		x.warn("key", none, x.init)
	case errors.Is(k.OwnError, trust.ErrExposed):
		x.warn("key", none+": "+k.OwnError.Error(), "chmod 600 "+cmdline.Shell([]string{k.OwnPath}))
	case k.Own == nil:
		x.warn("key", none+": "+k.OwnError.Error(), "")
	default:
		x.say("key", k.OwnPath)
	}
}

// unset returns the command that unsets a variable where it is set, or "".
func unset(ctx context.Context, repo *git.Repo, key string) string {
	if scope := scopeOf(ctx, repo, key); scope != "" {
		return "git config --" + scope + " --unset " + key
	}
	return ""
}

// scopeOf returns the scope of the file that sets a variable, or "".
func scopeOf(ctx context.Context, repo *git.Repo, key string) string {
	out, err := repo.Output(ctx, nil, "config", "-z", "--show-scope", "--get", key)
	scope, _, _ := strings.Cut(string(out), "\x00")
	if err != nil || !slices.Contains([]string{"local", "global", "system", "worktree"}, scope) {
		return ""
	}
	return scope
}

// signsWith reports whether user.signingKey, the path of a key or a public key
// itself, is the user's own key for ledgers.
func signsWith(name string, k *trust.Keys) bool {
	if strings.Contains(name, strings.Fields(k.Own.Public().String())[1]) {
		return true
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			name = filepath.Join(home, rest)
		}
	}
	name = strings.TrimSuffix(name, ".pub")
	a, aerr := os.Stat(name)
	b, berr := os.Stat(k.OwnPath)
	return aerr == nil && berr == nil && os.SameFile(a, b)
}

func (x *examination) purge() {
	if purge.Unfinished(session.Open(x.repo.CommonDir)) {
		x.warn("purge", "one was begun and has not ended: it runs, or was killed, and what it was to take out may be there still", "git agent-turn purge")
	}
	held, err := purge.AllHeld(session.Open(x.repo.CommonDir))
	if err != nil {
		x.problem("purge", err.Error(), "")
	}
	for i := range held {
		switch h := &held[i]; {
		case h.Away:
			x.warn("purge", fetcher.Asks(h)+"; it is sent nowhere until that comes", fetchWhatWaits(h.From))
		case h.Kept:
		case h.Here && h.Missions[0] == h.Mission:
			x.warn("purge", fetcher.Asks(h)+"; it stays as it is, and is sent nowhere, until you decide on a terminal", fetchWhatWaits(h.From))
		}
	}
	if w, _ := workspace.Open(x.repo); purge.FilterPending(w) {
		x.warn("filter", "git filter-repo or git filter-branch has run here, and missions may name commits that are gone", "git agent-turn doctor --repair")
	}
}

// fetchWhatWaits is the command for a remote, or, where a note was damaged, for all.
func fetchWhatWaits(name string) string {
	if name == "" {
		return "git agent-turn fetch"
	}
	return "git agent-turn fetch " + shell(name)
}

func (x *examination) access() {
	if x.repo.Readable() {
		remedy := "chmod go= " + cmdline.Shell([]string{x.repo.CommonDir})
		if x.records && x.init != "" {
			remedy = x.init + " --private"
		}
		x.warn("readers", "other users of this machine can read "+x.repo.CommonDir, remedy)
	}
}

// inPlace returns the command that moves away what is in the place of a file of
// ours. It deletes nothing: the user may need it.
func inPlace(err error) string {
	var refused *statedir.RefusedError
	if !errors.As(err, &refused) {
		return ""
	}
	return cmdline.Shell([]string{"mv", refused.Path, refused.Path + ".old"})
}

// lastErrors is how many different log entries doctor shows.
const lastErrors = 10

// maxLogged is how many entries it reads: an error may come at every turn.
const maxLogged = 1000

func (x *examination) log() {
	store := session.Open(x.repo.CommonDir)
	x.found = append(x.found, logged(store.LogTail(maxLogged), lastErrors)...)
	told := store.Notices()
	for _, t := range told[:min(len(told), lastErrors)] {
		x.add(finding{Level: fine, What: "told you", At: t.At, Text: t.Text})
	}
}

// logged returns findings for log entries, the newest first, without repeats.
func logged(entries []session.Logged, most int) []finding {
	times := make(map[string]int)
	for _, e := range entries {
		times[e.Text]++
	}
	var found []finding
	for _, e := range slices.Backward(entries) {
		n := times[e.Text]
		if n == 0 || len(found) == most {
			continue
		}
		times[e.Text] = 0
		text := e.Text
		if n > 1 {
			text += fmt.Sprintf(" (%d times)", n)
		}
		found = append(found, finding{Level: fine, What: "log", At: e.At, Text: text})
	}
	return found
}
