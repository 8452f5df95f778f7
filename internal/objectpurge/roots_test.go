package objectpurge

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

func has(text []byte) bool { return bytes.Contains(text, []byte(secret)) }

// TestRoots: all that leads to an object is found; and when it is gone, the object can go.
func TestRoots(t *testing.T) {
	t.Parallel()
	testRoots(t, gittest.New(t))
	for _, backend := range []string{"files", "reftable"} {
		t.Run(backend+" elsewhere", func(t *testing.T) { testRoots(t, gittest.Elsewhere(t, backend)) })
	}
}

func testRoots(t *testing.T, r *gittest.Repo) {
	t.Helper()
	dir := filepath.Dir(r.Dir)
	r.Write("f", "first\n")
	first := r.Commit("first")
	r.Git("worktree", "add", "-q", "-b", "side", filepath.Join(dir, "linked"))
	linked := r.In(filepath.Join(dir, "linked"))
	bare := gittest.New(t, "--bare")

	r.Write("f", "first\n"+secret+"\n") // two stashes, one staged file
	r.Git("stash", "push", "-q", "-m", "older")
	r.Write("f", secret+"\nfirst\n")
	r.Git("stash", "push", "-q", "-m", "newer")
	r.Write("staged", secret+"\n")
	r.Git("add", "staged")
	linked.Write("f", secret)
	bad := linked.Commit("it is " + secret) // in COMMIT_EDITMSG and two logs
	linked.Git("tag", "-a", "-m", "a tag", "v1")
	linked.Git("update-ref", "refs/bisect/bad", bad)
	linked.Git("update-ref", "ORIG_HEAD", bad)
	linked.Git("checkout", "-q", "--detach")
	r.Git("replace", first, bad)
	r.Git("push", "-q", bare.Dir, "side")
	r.Git("remote", "add", "origin", bare.Dir)
	r.Git("fetch", "-q", "origin")
	r.Git("notes", "add", "-C", r.Git("rev-parse", bad+":f"), first)
	r.Git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/side")
	gittest.Must(t, os.WriteFile(filepath.Join(r.Dir, ".git", "MERGE_MSG"), []byte("no "+secret+"\n"), 0o666))

	repo, err := git.Find(linked.Dir) // wherever the user is
	gittest.Must(t, err)
	doomed := make(map[object.Hash]bool)
	for name, content := range objects(t, r) {
		if strings.HasPrefix(content, "blob") && strings.Contains(content, secret) {
			doomed[object.NewHash(name)] = true
		}
	}
	leading, err := FindReferrers(t.Context(), repo, doomed)
	gittest.Must(t, err)
	roots, err := leading.Roots(t.Context(), repo, has)
	gittest.Must(t, err)
	var got []string
	for _, root := range roots {
		name := root.Ref
		if root.Path != "" {
			name, _ = filepath.Rel(repo.CommonDir, root.Path)
			if !filepath.IsLocal(name) {
				name, _ = filepath.Rel(repo.RefsDir(), root.Path)
			}
		}
		if root.Kind == Log || root.Kind == Stash {
			name += "@{" + strconv.Itoa(root.Entry) + "}"
		}
		if root.Said {
			name += " said"
		}
		if len(root.Hashes) > 0 {
			name += " leads"
		}
		got = append(got, string(root.Kind)+" "+name)
	}
	slices.Sort(got)
	want := []string{
		"file FETCH_HEAD leads",
		"file MERGE_MSG said",
		"file worktrees/linked/COMMIT_EDITMSG said",
		"file worktrees/linked/ORIG_HEAD leads",
		"index index leads",
		"index worktrees/linked/index leads",
		"log refs/heads/side@{0} said leads",
		"log refs/notes/commits@{0} leads",
		"log refs/remotes/origin/HEAD@{0} leads", // a symbolic ref has a log of its own
		"log refs/remotes/origin/side@{0} leads",
		"log worktrees/linked/HEAD@{0} leads",
		"log worktrees/linked/HEAD@{1} said leads",
		"ref refs/heads/side leads",
		"ref refs/notes/commits leads",
		"ref refs/remotes/origin/side leads",
		"ref refs/replace/" + first + " leads",
		"ref refs/stash leads",
		"ref refs/tags/v1 leads",
		"ref worktrees/linked/HEAD leads",
		"ref worktrees/linked/refs/bisect/bad leads",
		"stash refs/stash@{0} leads",
		"stash refs/stash@{1} leads",
	}
	if r.InTables() {
		want[slices.Index(want, "file worktrees/linked/ORIG_HEAD leads")] = "ref worktrees/linked/ORIG_HEAD leads"
		slices.Sort(want)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if goes := leading.Without(roots); len(goes) > 0 {
		t.Errorf("%d can go before anything was done", len(goes))
	}

	gittest.Must(t, Forget(t.Context(), repo, roots))
	r.Git("replace", "-d", first)
	r.Git("reset", "-q", "--hard")
	linked.Git("bisect", "reset")
	linked.Git("checkout", "-q", "-B", "side", first)
	for _, ref := range []string{"worktrees/linked/ORIG_HEAD", "worktrees/linked/refs/bisect/bad", "refs/notes/commits", "refs/stash", "refs/tags/v1"} {
		gittest.Must(t, Unset(t.Context(), repo, Root{Kind: Ref, Ref: ref}))
	}
	r.Git("remote", "remove", "origin")
	for _, root := range roots {
		if root.Kind == File {
			if err := os.Remove(root.Path); err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
		}
	}
	roots, err = leading.Roots(t.Context(), repo, has)
	gittest.Must(t, err)
	if err := Forget(t.Context(), repo, roots); err != nil { // of the checkout
		t.Fatal(err)
	}
	if roots, err = leading.Roots(t.Context(), repo, has); err != nil || len(roots) > 0 {
		t.Fatalf("left: %+v, %v", roots, err)
	}
	l := &lab{Repo: r, t: t, repo: repo, all: objects(t, r), doomed: leading.Without(nil)}
	l.erase()
	l.check()
}

// TestWithout: what the user's own roots need stays, and nothing else does.
func TestWithout(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(r *gittest.Repo) { r.Git("tag", "keep", "old~3") })
	leading, err := FindReferrers(t.Context(), l.repo, l.doomed)
	gittest.Must(t, err)
	roots, err := leading.Roots(t.Context(), l.repo, nil)
	if err != nil || len(roots) != 1 || roots[0].Ref != "refs/tags/keep" {
		t.Fatalf("roots %+v, %v", roots, err)
	}
	l.doomed = leading.Without(roots)
	l.erase()
	l.check()
	if l.Git("rev-list", "--count", "keep") != "9" {
		t.Error("history of the tag is lost")
	}
}

// TestLogFile: where git has a ref's log. What other names have in common with those of worktrees changes nothing.
func TestLogFile(t *testing.T) {
	t.Parallel()
	for ref, want := range map[string]string{
		"HEAD":                      "logs/HEAD",
		"refs/heads/main":           "logs/refs/heads/main",
		"refs/heads/worktrees/a":    "logs/refs/heads/worktrees/a",
		"refs/worktrees/a":          "logs/refs/worktrees/a",
		"worktrees/a":               "logs/worktrees/a",
		"worktrees/a/HEAD":          "worktrees/a/logs/HEAD",
		"worktrees/a/refs/bisect/x": "worktrees/a/logs/refs/bisect/x",
	} {
		if got := filepath.ToSlash(logFile("git", ref)); got != "git/"+want {
			t.Errorf("%s: %s, want git/%s", ref, got, want)
		}
	}
}
