//go:build unix

package pusher_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"gitagent/internal/fetcher"
	"gitagent/internal/pusher"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
)

// A network is all that git can reach in a test: hosts in the top-level domain invalid, through a
// proxy that records which of them were requested.
type network struct {
	proxy string
	hosts map[string]*gittest.Repo // by name

	mu    sync.Mutex
	asked map[string]bool
}

const (
	agreed = "http://agreed.example.invalid/repo"
	other  = "http://other.example.invalid/repo"
	moved  = "http://moved.example.invalid/repo" // its host redirects to the other one
)

func newNetwork(t *testing.T) *network {
	n := &network{hosts: make(map[string]*gittest.Repo), asked: make(map[string]bool)}
	backends := make(map[string]http.Handler)
	for _, name := range []string{"agreed.example.invalid", "other.example.invalid"} {
		n.hosts[name] = remotelab.NewHost(t)
		n.hosts[name].Git("config", "http.receivepack", "true")
		backends[name] = remotelab.Backend(t, n.hosts[name])
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.mu.Lock()
		n.asked[r.URL.Host] = true
		n.mu.Unlock()
		if r.URL.Host == "moved.example.invalid" {
			http.Redirect(w, r, strings.Replace(r.URL.String(), "moved", "other", 1), http.StatusMovedPermanently)
			return
		}
		if b := backends[r.URL.Host]; b != nil {
			b.ServeHTTP(w, r)
			return
		}
		http.Error(w, "no such host", http.StatusBadGateway)
	}))
	t.Cleanup(s.Close)
	n.proxy = s.URL
	return n
}

// reached returns the hosts requested since the last call.
func (n *network) reached() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	names := slices.Sorted(maps.Keys(n.asked))
	clear(n.asked)
	return names
}

// TestLeak: consent was given for one URL. Whatever else is configured, nothing is sent elsewhere.
func TestLeak(t *testing.T) {
	t.Parallel()
	const none, code, all = "", "code", "all"
	for _, tt := range []struct {
		name   string
		config [][]string // arguments of git config
		level  string     // what arrives at the agreed host
	}{
		{"as agreed", nil, all},
		{"branches alone", [][]string{{"agent." + agreed + ".push", "code"}}, code},
		{"a password in the URL", [][]string{{"remote.origin.url", strings.Replace(agreed, "//", "//dev:not-a-secret@", 1)}}, all},
		{"another URL", [][]string{{"remote.origin.url", other}}, none},
		{"another push URL", [][]string{{"remote.origin.pushurl", other}}, none},
		{"a second URL", [][]string{{"--add", "remote.origin.url", other}}, all},
		{"a second push URL", [][]string{{"remote.origin.pushurl", agreed}, {"--add", "remote.origin.pushurl", other}}, all},
		{"fetched elsewhere, pushed where agreed", [][]string{{"remote.origin.url", other}, {"remote.origin.pushurl", agreed}}, all},
		{"insteadOf", [][]string{{"url." + other + ".insteadOf", agreed}}, none},
		{"pushInsteadOf", [][]string{{"url." + other + ".pushInsteadOf", agreed}}, none},
		{"insteadOf of a prefix", [][]string{{"url.http://other.example.invalid/.insteadOf", "http://agreed.example.invalid/"}}, none},
		{"agreed is what insteadOf leads to", [][]string{{"remote.origin.url", "short:repo"}, {"url.http://agreed.example.invalid/.insteadOf", "short:"}}, all},
		{"a longer URL", [][]string{{"remote.origin.url", agreed + ".git"}}, none},
		{"a shorter URL", [][]string{{"remote.origin.url", strings.TrimSuffix(agreed, "repo")}}, none},
		{"a slash more", [][]string{{"remote.origin.url", agreed + "/"}}, none},
		{"a port", [][]string{{"remote.origin.url", strings.Replace(agreed, "/repo", ":80/repo", 1)}}, none},
		{"a nonsense level", [][]string{{"agent." + agreed + ".push", "true"}}, none},
		{"agreed by another name, and taken back", [][]string{{"agent." + strings.Replace(agreed, "//", "//x@", 1) + ".push", "none"}}, none},
		{"redirected", [][]string{{"remote.origin.url", moved}, {"agent." + moved + ".push", "all"}, {"http.followRedirects", "true"}}, none},
		{"another remote is the usual one", [][]string{{"remote.other.url", other}, {"remote.pushDefault", "other"}, {"branch.main.pushRemote", "other"}}, all},
		{"everything that adds to a push", [][]string{
			{"push.followTags", "true"},
			{"push.default", "matching"},
			{"remote.origin.push", "+refs/*:refs/*"},
			{"remote.origin.mirror", "true"},
			{"push.pushOption", "merge_request.create"},
			{"push.gpgSign", "if-asked"},
			{"push.recurseSubmodules", "on-demand"},
			{"push.autoSetupRemote", "true"},
		}, all},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "as agreed" && tt.name != "a second push URL" {
				gittest.Check(t)
			}
			leak(t, tt.config, tt.level)
		})
	}
}

func leak(t *testing.T, config [][]string, level string) {
	n := newNetwork(t)
	c := remotelab.CloneOf(t, n.hosts["agreed.example.invalid"].Dir)
	c.Git("config", "--unset-all", remote.ConsentKey(n.hosts["agreed.example.invalid"].Dir))
	c.Git("config", "http.proxy", n.proxy)
	c.Git("remote", "set-url", "origin", agreed)
	c.Agree(agreed, "all")
	for _, args := range config {
		c.Git(append([]string{"config"}, args...)...)
	}

	// What must never leave.
	c.Git("switch", "-qc", "private")
	c.Write("private", "private\n")
	private := []string{c.Commit("private")}
	c.Git("tag", "-a", "-m", "private", "private-tag")
	private = append(private, c.Git("rev-parse", "private-tag"), c.Git("rev-parse", "private:private"))
	c.Git("switch", "-q", "main")
	c.Git("update-ref", "refs/other/private", "private")
	c.Write("stashed", "stashed\n")
	c.Git("add", "stashed")
	c.Git("stash", "-q")
	private = append(private, c.Git("rev-parse", "stash"))
	c.Write(".git-agent.toml", "[capture]\nmax_untracked_files = 100\n")

	// What may.
	c.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	c.Git("tag", "-a", "-m", "on the way", "on-the-way") // followTags would take it along
	c.Turn(remotelab.Mission, "one")
	passive := record.ID("00000001")
	c.Git("switch", "-q", "main")
	c.Turn(passive, "one")
	n.reached()

	repo := c.Open()
	conf, err := repo.Config(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	remotes, err := remote.Consenting(t.Context(), c.Workspace(), conf)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range remotes { // what the hooks do; some of these must fail
		_, _ = pusher.PushAll(t.Context(), r, []record.ID{remotelab.Mission})
		_, _ = pusher.PushAll(t.Context(), r, []record.ID{remotelab.Mission, passive})
	}
	for _, name := range []string{"origin", "other"} { // and what a person may do
		if r, err := remote.Open(t.Context(), c.Workspace(), name); err == nil {
			for _, r := range append(r.Each(), r) {
				_, _ = pusher.Push(t.Context(), r, passive)
				_, _ = pusher.PushAll(t.Context(), r, nil)
			}
		}
	}

	want := map[string][]string{"": nil, "code": {"agreed.example.invalid"}, "all": {"agreed.example.invalid"}}[level]
	reached := slices.DeleteFunc(n.reached(), func(host string) bool { return host == "moved.example.invalid" }) // that one was agreed to
	remotelab.Equal(t, "hosts", reached, want)
	if got := n.hosts["other.example.invalid"].Git("for-each-ref", "--format=%(refname)"); got != "refs/heads/main" {
		t.Errorf("the other host has got %s", got)
	}
	host := n.hosts["agreed.example.invalid"]
	refs := map[string][]string{
		"":     {"refs/heads/main"},
		"code": {"refs/heads/agent/mission/a1b2c3d4", "refs/heads/main"},
		"all": {
			"refs/agent/missions/00000001", "refs/agent/missions/a1b2c3d4", "refs/heads/agent/mission/a1b2c3d4", "refs/heads/main",
			"refs/notes/agent/00000001", "refs/notes/agent/a1b2c3d4",
		},
	}[level]
	remotelab.Equal(t, "refs", strings.Fields(host.Git("for-each-ref", "--format=%(refname)")), refs)
	// Every object there must be reachable from its refs; objects that came along without a ref
	// would be a leak, too.
	reachable := make(map[string]bool)
	for line := range strings.Lines(host.Git("rev-list", "--objects", "--all")) {
		hash, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		reachable[hash] = true
	}
	objects := strings.Fields(host.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)"))
	for _, hash := range objects {
		if !reachable[hash] {
			t.Errorf("the host has the object %s, which nothing refers to", hash)
		}
	}
	for _, hash := range private {
		if slices.Contains(objects, hash) {
			t.Errorf("the host has %s: %s", hash, c.Git("log", "-1", "--format=%s", hash))
		}
	}
	if level != "all" {
		record := c.Git("rev-parse", remotelab.Mission.Ref()+":turns")
		if slices.Contains(objects, record) {
			t.Error("the host has the records of turns")
		}
	}
}

// TestFetchLeavesAlone: our fetch deletes nothing and brings no tags, tracking branches or
// FETCH_HEAD, however the user's own fetches are configured.
func TestFetchLeavesAlone(t *testing.T) {
	t.Parallel()
	host := remotelab.NewHost(t)
	a, b := remotelab.CloneOf(t, host.Dir), remotelab.CloneOf(t, host.Dir)
	a.Git("switch", "-qc", "agent/mission/a1b2c3d4")
	a.Turn(remotelab.Mission, "one")
	a.Git("tag", "-a", "-m", "theirs", "theirs")
	a.Git("push", "-q", "origin", "refs/tags/theirs")
	a.Push(remotelab.Mission)
	for _, args := range [][]string{
		{"fetch.prune", "true"},
		{"fetch.pruneTags", "true"},
		{"remote.origin.prune", "true"},
		{"remote.origin.pruneTags", "true"},
		{"remote.origin.tagOpt", "--tags"},
		{"--add", "remote.origin.fetch", "+refs/notes/*:refs/notes/*"},
		{"--add", "remote.origin.fetch", "+refs/agent/*:refs/agent/*"},
		{"fetch.writeCommitGraph", "true"},
		{"fetch.recurseSubmodules", "true"},
	} {
		b.Git(append([]string{"config"}, args...)...)
	}
	b.Git("tag", "mine")
	b.Git("update-ref", "refs/agent/missions/00000001", "HEAD")
	b.Git("update-ref", "refs/notes/mine", "HEAD")
	b.Git("update-ref", "refs/remotes/origin/gone", "HEAD")
	before := remotelab.RefsOf(b.Repo, "refs/")
	if _, err := fetcher.Fetch(t.Context(), b.Origin()); err != nil {
		t.Fatal(err)
	}
	want := maps.Clone(before)
	want["refs/agent/missions/a1b2c3d4"] = host.Git("rev-parse", "refs/agent/missions/a1b2c3d4")
	want["refs/notes/agent/a1b2c3d4"] = host.Git("rev-parse", "refs/notes/agent/a1b2c3d4")
	if got := remotelab.RefsOf(b.Repo, "refs/"); !maps.Equal(got, want) {
		t.Errorf("after the fetch there are %v, want %v", got, want)
	}
	if _, err := b.Try("rev-parse", "--verify", "-q", "FETCH_HEAD"); err == nil {
		t.Error("there is a FETCH_HEAD")
	}
}
