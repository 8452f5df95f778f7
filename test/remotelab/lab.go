// Package remotelab has hosts, servers of these, and clones, for tests of what is
// pushed and fetched.
package remotelab

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// Run runs tests without the developer's own configuration. They fail if
// somebody is asked for a password.
func Run(m *testing.M) int { return gittest.Tests{M: unasked{m}}.Run() }

// unasked are tests that fail if somebody is asked for a password: a prompt
// leaves a file.
type unasked struct{ *testing.M }

func (u unasked) Run() int {
	home := os.Getenv("HOME")
	asked := filepath.Join(home, "asked")
	ask := filepath.Join(home, "ask")
	if err := os.WriteFile(ask, []byte("#!/bin/sh\n: >'"+asked+"'\n"), 0o700); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"GIT_ASKPASS": ask, "SSH_ASKPASS": ask, "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\n\taskPass = "+ask+"\n"), 0o600); err != nil {
		panic(err)
	}
	code := u.M.Run()
	if _, err := os.Lstat(asked); err == nil {
		fmt.Println("somebody was asked for a password")
		code = 1
	}
	return code
}

// A Clone is one person's repository with the remote origin.
type Clone struct {
	*gittest.Repo
	T testing.TB
}

// NewHost makes a bare repository with one commit on main.
func NewHost(t testing.TB) *gittest.Repo {
	t.Helper()
	host := gittest.New(t, "--bare")
	host.Git("config", "uploadpack.allowFilter", "true")
	host.Git("config", "uploadpack.allowAnySHA1InWant", "true")
	seed := gittest.New(t)
	seed.Write("file", "1\n")
	seed.Commit("first")
	seed.Git("push", "-q", host.Dir, "main")
	return host
}

// CloneOf clones a URL and agrees to everything being sent there. args are
// passed to git clone.
func CloneOf(t testing.TB, url string, args ...string) *Clone {
	t.Helper()
	in := gittest.New(t)
	dir := filepath.Join(gittest.TempDir(t), "clone")
	in.Git(append(append([]string{"clone", "-q"}, args...), url, dir)...)
	c := &Clone{in.In(dir), t}
	c.Agree(url, "all")
	return c
}

// Agree sets what may be sent to a URL.
func (c *Clone) Agree(url, level string) {
	c.T.Helper()
	c.Git("config", remote.ConsentKey(url), level)
}

// Open returns the clone as the product has it.
func (c *Clone) Open() *git.Repo {
	c.T.Helper()
	repo, err := git.Find(c.Dir)
	if err != nil {
		c.T.Fatal(err)
	}
	return repo
}

// Workspace returns a workspace with default settings.
func (c *Clone) Workspace() *workspace.Workspace {
	c.T.Helper()
	return workspace.New(c.Open(), config.Default())
}

// Turn records a turn of a mission, with a file that it has changed.
func (c *Clone) Turn(id record.ID, prompt string) *turns.Turn {
	c.T.Helper()
	c.Write("of "+string(id), prompt+"\n")
	result, err := recorder.Record(c.T.Context(), c.Workspace(), recorder.Signal{
		Event: recorder.Stopped, At: time.Now(), Agent: "test", Mission: id, Session: "of-" + string(id), Prompt: prompt, Reply: "answer to " + prompt,
	})
	if err != nil {
		c.T.Fatal(err)
	}
	return result.Turns[0]
}

// Origin returns the remote.
func (c *Clone) Origin() *remote.Remote {
	c.T.Helper()
	r, err := remote.Open(c.T.Context(), c.Workspace(), "origin")
	if err != nil {
		c.T.Fatal(err)
	}
	return r
}

// Push pushes one mission and returns its name there.
func (c *Clone) Push(id record.ID) *pusher.Pushed {
	c.T.Helper()
	p, err := pusher.Push(c.T.Context(), c.Origin(), id)
	if err != nil {
		c.T.Fatal(err)
	}
	return p
}

// PushAll pushes everything, to all URLs.
func (c *Clone) PushAll() {
	c.T.Helper()
	for _, r := range c.Origin().Each() {
		if _, err := pusher.PushAll(c.T.Context(), r, nil); err != nil {
			c.T.Fatal(err)
		}
	}
}

// Fetch fetches and returns the changes, in words.
func (c *Clone) Fetch(ids ...record.ID) []string {
	c.T.Helper()
	changes, err := fetcher.Fetch(c.T.Context(), c.Origin(), ids...)
	if err != nil {
		c.T.Fatal(err)
	}
	var words []string
	for _, change := range changes {
		line := fmt.Sprintf("%s %s", change.Mission, change.Kind)
		if change.Of != "" {
			line += " of " + string(change.Of)
		}
		words = append(words, line)
	}
	return words
}

// AgentRefs returns all our refs that travel, in a repository or a bare one.
func AgentRefs(r *gittest.Repo) map[string]string {
	return RefsOf(r, "refs/agent/", "refs/notes/", "refs/heads/agent/")
}

// RefsOf returns the refs below some prefixes, with what they point at, but no
// symbolic ones and no keepers'.
func RefsOf(r *gittest.Repo, prefixes ...string) map[string]string {
	refs := make(map[string]string)
	for line := range strings.Lines(r.Git(append([]string{"for-each-ref", "--format=%(refname) %(objectname) %(symref)"}, prefixes...)...) + "\n") {
		if fields := strings.Fields(line); len(fields) == 2 && !strings.HasPrefix(fields[0], git.Keepers) {
			refs[fields[0]] = fields[1]
		}
	}
	return refs
}

// LedgerTips returns the tips of all ledgers, sorted.
func LedgerTips(r *gittest.Repo) []string {
	return slices.Sorted(maps.Values(RefsOf(r, "refs/agent/missions/")))
}

// Prompts returns the prompts of a mission's turns, in order.
func (c *Clone) Prompts(id record.ID) []string {
	c.T.Helper()
	list, err := turns.List(c.T.Context(), c.Open(), id)
	if err != nil {
		c.T.Fatal(err)
	}
	var prompts []string
	for _, t := range list {
		prompts = append(prompts, t.Prompt)
	}
	return prompts
}

// Notes returns the lines of a mission's notes, as git shows them with the commits that its ledger
// keeps: the turns that they name, and their prompts, sorted.
func (c *Clone) Notes(id record.ID) []string {
	c.T.Helper()
	var list []string
	for line := range strings.Lines(c.Git("log", "--format=%N", "--notes=agent/"+string(id), id.Ref())) {
		if line == "\n" {
			continue // after each note, and for a commit without one
		}
		var turn struct {
			Mission record.ID
			Turn    int
			Prompt  string
		}
		if err := json.Unmarshal([]byte(line), &turn); err != nil {
			c.T.Fatalf("note %q: %v", line, err)
		}
		list = append(list, fmt.Sprintf("%s/%d %s", turn.Mission, turn.Turn, turn.Prompt))
	}
	slices.Sort(list)
	return list
}

// Equal fails the test unless two lists are equal.
func Equal[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Mission is a mission for tests that need one.
const Mission = record.ID("a1b2c3d4")

// Sides returns the missions of a clone.
func (c *Clone) Sides() map[record.ID]bool {
	ids := make(map[record.ID]bool)
	for ref := range RefsOf(c.Repo, "refs/agent/missions/") {
		ids[record.ID(strings.TrimPrefix(ref, "refs/agent/missions/"))] = true
	}
	return ids
}
