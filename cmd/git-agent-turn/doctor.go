package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/trust"
)

// An examination collects what doctor finds.
type examination struct {
	c        *cli.Context
	out      *bufio.Writer
	problems int
}

func doctor(c *cli.Context) error {
	x := &examination{c: c, out: bufio.NewWriter(c.App.Writer)}
	repo, err := git.Open(c.Context)
	if err != nil && !errors.Is(err, git.ErrNotFound) {
		x.problem("repository", err.Error())
	}
	if c.IsSet("remote") {
		if err := x.probe(c.String("remote")); err != nil {
			return err
		}
		return x.finish()
	}
	x.versions()
	x.repository(repo)
	x.hooks(repo)
	x.config(repo)
	x.keys(repo)
	if repo != nil {
		x.remotes(repo)
		x.sizes(repo)
		x.access(repo)
		x.log(repo)
	}
	return x.finish()
}

// finish prints what was found.
func (x *examination) finish() error {
	if err := x.out.Flush(); err != nil {
		return err
	}
	if x.problems > 0 {
		return fmt.Errorf("%s found", cmdline.Plural(x.problems, "problem"))
	}
	return nil
}

func (x *examination) say(what, text string) {
	fmt.Fprintf(x.out, "%-12s %s\n", what, cmdline.OneLine(text))
}

func (x *examination) problem(what, text string) {
	x.problems++
	x.say(what, "problem: "+text)
}

// The oldest git that we support.
const (
	gitMajor = 2
	gitMinor = 39
)

func (x *examination) versions() {
	x.say("git-agent", cmdline.Version()+", "+runtime.GOOS+"/"+runtime.GOARCH)
	major, minor, text, err := git.Version(x.c.Context)
	switch {
	case err != nil:
		x.problem("git", err.Error())
	case major < gitMajor || major == gitMajor && minor < gitMinor:
		x.problem("git", fmt.Sprintf("%s is older than %d.%d", text, gitMajor, gitMinor))
	default:
		x.say("git", text)
	}
}

func (x *examination) repository(repo *git.Repo) {
	if repo == nil {
		x.say("repository", "none here")
		return
	}
	conf, err := repo.Config(x.c.Context)
	if err != nil {
		x.problem("repository", err.Error())
		return
	}
	if conf.SHA256() {
		x.problem("repository", "its object format is SHA-256, which git-agent can't write yet")
	}
	switch store := session.Open(repo.CommonDir); {
	case store.Enabled():
		x.say("recording", "on in "+repo.Top)
	case conf.Bool("agent.record"):
		x.say("recording", "on everywhere (agent.record)")
	default:
		x.problem("recording", "off in "+repo.Top+"; switch it on with: git agent-turn init")
	}
	if os.Getenv("GIT_AGENT_DISABLE") == "1" {
		x.problem("recording", "off in this environment (GIT_AGENT_DISABLE=1)")
	}
}

func (x *examination) hooks(repo *git.Repo) {
	agent := hooks.Claude
	places := hooks.Places{Config: agent.ConfigDir(os.Getenv), Managed: hooks.ManagedSettings()}
	if repo != nil {
		places.Project = repo.Top
	}
	report := hooks.Inspect(agent, places)
	byPath := make(map[string][]string)
	for _, i := range report.Installed {
		byPath[i.Path] = append(byPath[i.Path], i.Event)
	}
	for _, path := range slices.Sorted(maps.Keys(byPath)) {
		x.say("hooks", strings.Join(byPath[path], ", ")+" in "+path)
	}
	for _, p := range report.Plugins {
		x.say("hooks", "the plugin "+p)
	}
	for _, f := range report.Findings {
		x.problem("hooks", f.String())
	}
}

func (x *examination) config(repo *git.Repo) {
	file := ""
	if repo != nil {
		file = filepath.Join(repo.Top, config.RepoFile)
	}
	conf, err := config.Load(config.UserPath(), file)
	if err != nil {
		foreign := errors.As(err, new(*config.Stranger))
		for line := range strings.Lines(err.Error()) {
			if foreign {
				x.say("config", "warning: "+line)
			} else {
				x.problem("config", line)
			}
		}
	}
	for _, v := range conf.Values() {
		x.say("config", fmt.Sprintf("%s = %s (%s)", v.Key, v.Value, v.Origin))
	}
}

// keys says what is signed with, and what is wrong with the list of keys that are trusted.
func (x *examination) keys(repo *git.Repo) {
	k, err := keys()
	if err != nil {
		return // x.config has said so
	}
	switch {
	case k.CanMake():
		x.say("key", "none, so what is recorded is not signed, and is a stranger's in other clones; make one with: git agent-turn init")
	case k.Own == nil:
		x.say("key", "none, so what is recorded is not signed, and is a stranger's in other clones: "+k.OwnError.Error())
	default:
		x.say("key", k.OwnPath)
	}
	if repo != nil && k.Own != nil {
		conf, err := repo.Config(x.c.Context)
		if name := conf.Get("user.signingkey"); err == nil && name != "" && signsWith(name, k) {
			x.problem("key", "user.signingKey is the key that signs ledgers; take another one for either, or a commit of yours could pass for a ledger's")
		}
	}
	x.say("trusted keys", fmt.Sprint(len(k.Signers)))
	for _, line := range k.Ignored {
		x.problem("trusted keys", line)
	}
}

// signsWith reports whether a user.signingKey of git's, the path of a key or the public key itself, is
// the user's own key for ledgers.
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

func (x *examination) sizes(repo *git.Repo) {
	missions, err := ledger.List(x.c.Context, repo)
	if err != nil {
		x.problem("missions", err.Error())
		return
	}
	x.say("missions", fmt.Sprint(len(missions)))
	if n, err := size(filepath.Join(repo.CommonDir, "objects")); err == nil {
		x.say("size", cmdline.Size(n)+" of objects, the user's own among them")
	}
	if n, err := size(session.Open(repo.CommonDir).Dir().Path(".")); err == nil {
		x.say("size", cmdline.Size(n)+" of local state")
	}
}

// size is the number of bytes in the files below dir.
func size(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // git may have packed it
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return nil
	})
	return total, err
}

// access tells who can read the repository, and whether we can write there.
func (x *examination) access(repo *git.Repo) {
	if repo.Readable() {
		x.say("readers", "other users of this machine can read "+repo.CommonDir+"; to keep them out: git agent-turn init --private")
	}
	store := session.Open(repo.CommonDir)
	if !store.Enabled() {
		return
	}
	if err := store.Probe(); err != nil {
		x.problem("writing", err.Error())
	}
	if err := repo.Probe(); err != nil {
		x.problem("writing", err.Error())
	}
}

// lastErrors is how many lines of the log doctor shows.
const lastErrors = 10

func (x *examination) log(repo *git.Repo) {
	lines := session.Open(repo.CommonDir).LogTail(lastErrors)
	slices.Reverse(lines)
	for _, line := range lines {
		x.say("log", line)
	}
	told := session.Open(repo.CommonDir).Told()
	for _, t := range told[:min(len(told), lastErrors)] {
		x.say("told you", t.At.UTC().Format(time.RFC3339)+" "+t.Text)
	}
}
