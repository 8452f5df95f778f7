package remote_test

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
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// TestMain keeps the developer's own configuration out of the tests.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: unasked{m}}.Run()) }

// unasked are tests that fail if somebody is asked for a password: a prompt leaves a file.
type unasked struct{ *testing.M }

func (u unasked) Run() int {
	home := os.Getenv("HOME")
	asked := filepath.Join(home, "asked")
	ask := filepath.Join(home, "ask")
	if err := os.WriteFile(ask, []byte("#!/bin/sh\n: >'"+asked+"'\n"), 0o700); err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"SSH_ASKPASS": ask, "SSH_ASKPASS_REQUIRE": "force", "DISPLAY": ":0"} {
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

// A clone is one person's repository with the remote origin.
type clone struct {
	*gittest.Repo
	t testing.TB
}

// newHost makes a bare repository with one commit on main.
func newHost(t testing.TB) *gittest.Repo {
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

// cloneOf clones a URL and agrees to everything being sent there. args are passed to git clone.
func cloneOf(t testing.TB, url string, args ...string) *clone {
	t.Helper()
	in := &gittest.Repo{}
	*in = *gittest.New(t)
	dir := filepath.Join(gittest.TempDir(t), "clone")
	in.Git(append(append([]string{"clone", "-q"}, args...), url, dir)...)
	c := &clone{in.In(dir), t}
	c.agree(url, "all")
	return c
}

func (c *clone) agree(url, level string) {
	c.t.Helper()
	c.Git("config", remote.ConsentKey(url), level)
}

func (c *clone) repo() *git.Repo {
	c.t.Helper()
	repo, err := git.Find(c.Dir)
	if err != nil {
		c.t.Fatal(err)
	}
	return repo
}

func (c *clone) workspace() *workspace.Workspace {
	c.t.Helper()
	return workspace.New(c.repo(), config.Default())
}

// turn records a turn of a mission, with a file that it has changed.
func (c *clone) turn(id record.ID, prompt string) *turns.Turn {
	c.t.Helper()
	c.Write("of "+string(id), prompt+"\n")
	result, err := recorder.Record(c.t.Context(), c.workspace(), recorder.Signal{
		Event: recorder.Stopped, At: time.Now(), Agent: "test", Mission: id, Session: "of-" + string(id), Prompt: prompt, Reply: "answer to " + prompt,
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return result.Turns[0]
}

func (c *clone) origin() *remote.Remote {
	c.t.Helper()
	r, err := remote.Open(c.t.Context(), c.workspace(), "origin")
	if err != nil {
		c.t.Fatal(err)
	}
	return r
}

// push pushes one mission and returns its name there.
func (c *clone) push(id record.ID) *remote.Pushed {
	c.t.Helper()
	p, err := remote.Push(c.t.Context(), c.origin(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	return p
}

// pushAll pushes everything.
func (c *clone) pushAll() {
	c.t.Helper()
	if _, err := remote.PushAll(c.t.Context(), c.origin(), nil); err != nil {
		c.t.Fatal(err)
	}
}

// fetch fetches and returns the changes, in words.
func (c *clone) fetch(ids ...record.ID) []string {
	c.t.Helper()
	changes, err := remote.Fetch(c.t.Context(), c.origin(), ids...)
	if err != nil {
		c.t.Fatal(err)
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

// agentRefs returns all our refs, in a repository or a bare one.
func agentRefs(r *gittest.Repo) map[string]string {
	return refsOf(r, "refs/agent/", "refs/notes/", "refs/heads/agent/")
}

func refsOf(r *gittest.Repo, prefixes ...string) map[string]string {
	refs := make(map[string]string)
	for line := range strings.Lines(r.Git(append([]string{"for-each-ref", "--format=%(refname) %(objectname)"}, prefixes...)...) + "\n") {
		if name, hash, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			refs[name] = hash
		}
	}
	return refs
}

// ledgerTips returns the tips of all ledgers, sorted.
func ledgerTips(r *gittest.Repo) []string {
	return slices.Sorted(maps.Values(refsOf(r, "refs/agent/missions/")))
}

// prompts returns the prompts of a mission's turns, in order.
func (c *clone) prompts(id record.ID) []string {
	c.t.Helper()
	list, err := turns.List(c.t.Context(), c.repo(), id)
	if err != nil {
		c.t.Fatal(err)
	}
	var prompts []string
	for _, t := range list {
		prompts = append(prompts, t.Prompt)
	}
	return prompts
}

// notes returns the lines of a mission's notes, as git shows them with the commits that its ledger
// keeps: the turns that they name, and their prompts, sorted.
func (c *clone) notes(id record.ID) []string {
	c.t.Helper()
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
			c.t.Fatalf("note %q: %v", line, err)
		}
		list = append(list, fmt.Sprintf("%s/%d %s", turn.Mission, turn.Turn, turn.Prompt))
	}
	slices.Sort(list)
	return list
}

func equal[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

const mission = record.ID("a1b2c3d4")

// sides returns the missions of a clone.
func (c *clone) sides() map[record.ID]bool {
	ids := make(map[record.ID]bool)
	for ref := range refsOf(c.Repo, "refs/agent/missions/") {
		ids[record.ID(strings.TrimPrefix(ref, "refs/agent/missions/"))] = true
	}
	return ids
}
