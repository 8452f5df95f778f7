package snapshot

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// attached records a turn as an attached mission does: snapshot, index, branch.
func attached(t testing.TB, r *gittest.Repo) *Snapshot {
	t.Helper()
	s := take(t, r, true)
	gittest.Must(t, s.Publish(context.Background()))
	commit(t, r, s)
	return s
}

func commit(t testing.TB, r *gittest.Repo, s *Snapshot) {
	t.Helper()
	args := []string{"commit-tree", "-m", "turn", s.Tree.String()}
	if !s.Head.Commit.IsZero() {
		args = append(args, "-p", s.Head.Commit.String())
	}
	r.Git("update-ref", "HEAD", r.Git(args...), s.Head.Commit.String())
}

// published fails the test if the user's index is not what the branch now holds.
func published(t testing.TB, r *gittest.Repo, skipped ...string) {
	t.Helper()
	if diff, err := r.Try("diff-index", "--cached", "--name-status", "HEAD"); diff != "" || err != nil {
		t.Errorf("index and branch differ in %q, %v", diff, err)
	}
	var want []string
	for _, name := range skipped {
		want = append(want, "?? "+name)
	}
	r.Says(strings.Join(want, "\n"), "status", "--porcelain")
	if _, err := os.Lstat(filepath.Join(open(t, r).GitDir, "index.lock")); err == nil {
		t.Error("index.lock is still there")
	}
	if names, _ := filepath.Glob(filepath.Join(open(t, r).GitDir, "agent/index.new*")); len(names) > 0 {
		t.Errorf("%v are still there", names)
	}
	fsck(t, r)
}

func TestPublish(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		prepare func(t *testing.T, r *gittest.Repo)
		skipped []string
	}{
		{"unstaged", script("a=changed"), nil},
		{"nothing", func(t *testing.T, r *gittest.Repo) {}, nil},
		{"only times", script("touch a"), nil},
		{"staged", script("a=changed; git add a"), nil},
		{"partially staged", script("a=staged; git add a; a=more"), nil},
		{"renamed, deleted, new, of another type", script("git mv a z; rm d b; b/x=x; ln f d; x/y/z=n; chmod 755 empty"), nil},
		{"intent to add", script("n=n; git add -N n"), nil},
		{"left out", script(".env=A=1; a=changed"), []string{".env"}},
		{"a snapshot of the passive kind before", func(t *testing.T, r *gittest.Repo) {
			for i := range maxPlainFiles + 1 {
				r.Write("many/"+string(rune('A'+i)), "n\n")
			}
			take(t, r, false)
		}, nil},
		{"split index", script("git update-index --split-index; a=changed"), nil},
		{"core.splitIndex", script("git config core.splitIndex true; git update-index --split-index; a=changed"), nil},
		{"sparse", script("git sparse-checkout set --cone --sparse-index d; a=changed; d/one=changed; f/new=outside"), nil},
		{"skip-worktree and assume-unchanged", script("git update-index --skip-worktree a; git update-index --assume-unchanged b; a=not seen; b=not seen; d/one=changed"), nil},
		{"core.ignoreStat", script("git config core.ignoreStat true; a=changed"), nil},
		{"detached", script("git checkout -q --detach; a=changed"), nil},
		{"unborn", script("git checkout -q --orphan fresh"), nil},
		{"unborn without an index", script("git checkout -q --orphan fresh; rm .git/index"), nil},
		{"index deleted", script("rm .git/index; a=changed"), nil},
		{"autocrlf", func(t *testing.T, r *gittest.Repo) {
			r.Git("config", "core.autocrlf", "true")
			r.Write("a", "changed\r\n")
		}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.name != "unstaged" {
				gittest.Check(t)
				gittest.Sample(t)
			}
			r := base(t)
			tt.prepare(t, r)
			var left []record.Skip
			for _, name := range tt.skipped {
				left = append(left, record.Skip{Path: name, Why: record.WhySecret})
			}
			want := wantTree(t, r, left)
			sameTree(t, attached(t, r), want)
			published(t, r, tt.skipped...)
			r.Write("d/e/three", "again\n") // the next turn
			if want := wantTree(t, r, left); attached(t, r).Tree != want {
				t.Errorf("next turn: want tree %s", want)
			}
			published(t, r, tt.skipped...)
			edit(t, r, "f/g/h/i=the user goes on; git add --sparse f")
			r.Git("commit", "-q", "-m", "user's")
			r.Says("f/g/h/i", "show", "--format=", "--name-only", "HEAD") // the user's next commit
		})
	}
}

func TestPublishLinkedWorktree(t *testing.T) {
	t.Parallel()
	r := base(t)
	dir := filepath.Join(gittest.TempDir(t), "linked")
	r.Git("worktree", "add", "-q", "-b", "linked", dir)
	before := r.Read(".git/index")
	w := r.In(dir)
	w.Write("a", "changed\n")
	attached(t, w)
	published(t, w)
	if r.Read(".git/index") != before {
		t.Error("the main worktree's index was changed")
	}
}

// A snapshot that could not be published must be by the next one, though that finds
// nothing to hash: else the branch moves and the index does not, and the
// user's next commit takes the turn back.
func TestPublishCatchesUp(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	ctx := context.Background()
	for name, between := range map[string]func(t *testing.T, r *gittest.Repo){
		"at once":                  func(t *testing.T, r *gittest.Repo) {},
		"after a passive snapshot": func(t *testing.T, r *gittest.Repo) { take(t, r, false) },
		"after a checkout": func(t *testing.T, r *gittest.Repo) {
			r.Write("b", "changed\n")
			s := take(t, r, true)
			tree := object.NewHash(r.Git("rev-parse", "HEAD^{tree}"))
			gittest.Must(t, s.CheckOut(ctx, tree, Checkout{}))
			if got := r.Read("b"); got != "b\n" {
				t.Errorf("b = %q", got)
			}
			r.Write("d/one", "changed\n")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			edit(t, r, "a=changed; new=n; .git/index.lock:the user's")
			s := take(t, r, true)
			if err := s.Publish(limit.With(ctx, limit.Limits{Index: time.Millisecond})); !errors.Is(err, ErrIndexBusy) {
				t.Fatalf("Publish: %v, want ErrIndexBusy", err)
			}
			if got := r.Read(".git/index.lock"); got != "the user's" {
				t.Errorf("index.lock = %q", got)
			}
			remove(t, r, ".git/index.lock")
			between(t, r)
			want := wantTree(t, r, nil)
			sameTree(t, attached(t, r), want)
			published(t, r)
		})
	}
}

// After a check-out the private index holds what the user's does not.
func TestPublishAfterCheckOut(t *testing.T) {
	t.Parallel()
	r := base(t)
	first := object.NewHash(r.Git("rev-parse", "HEAD^{tree}"))
	edit(t, r, "a=changed; new=n; commit two")
	s := take(t, r, true)
	gittest.Must(t, s.CheckOut(context.Background(), first, Checkout{}))
	sameTree(t, attached(t, r), first)
	published(t, r)
}

func TestPublishTwice(t *testing.T) {
	t.Parallel()
	r := base(t)
	r.Write("a", "changed\n")
	s := attached(t, r)
	before := state(t, r)
	gittest.Must(t, s.Publish(context.Background()))
	sameState(t, r, before)
}

func TestPublishAfterUsersChange(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for name, change := range map[string]func(t *testing.T, r *gittest.Repo){
		"staged":          script("b=user's; git add b"),
		"deleted":         script("rm .git/index"),
		"sparse":          script("git sparse-checkout set d"),
		"settings":        script(".git/config.worktree=[core]"),
		"sparse patterns": script(".git/info/sparse-checkout=/d/"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			r.Write("a", "changed\n")
			s := take(t, r, true)
			change(t, r)
			before := state(t, r)
			if err := s.Publish(context.Background()); !errors.Is(err, ErrIndexBusy) {
				t.Errorf("Publish: %v, want ErrIndexBusy", err)
			}
			sameState(t, r, before)
			if name != "sparse" {
				remove(t, r, ".git/config.worktree", ".git/info/sparse-checkout")
			}
			attached(t, r)
			published(t, r)
		})
	}
}

func TestPublishBrokenIndex(t *testing.T) {
	t.Parallel()
	r := base(t)
	edit(t, r, "a=changed; .git/index:DIRC garbage")
	s := take(t, r, true)
	if err := s.Publish(context.Background()); !errors.Is(err, ErrIndexBusy) {
		t.Errorf("Publish: %v, want ErrIndexBusy", err)
	}
	if got := r.Read(".git/index"); got != "DIRC garbage" {
		t.Error("the user's index was replaced")
	}
}

func TestPublishGivesUpWhenTold(t *testing.T) {
	t.Parallel()
	r := base(t)
	edit(t, r, "a=changed; .git/index.lock:")
	s := take(t, r, true)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := s.Publish(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Publish: %v, want context.Canceled", err)
	}
}

// A process may die between taking the lock and putting the new index in its place.
func TestPublishAfterCrash(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	r.Write("a", "changed\n")
	take(t, r, true) // leaves index.new
	gittest.Must(t, os.Link(filepath.Join(r.Dir, ".git/agent/index.new"), filepath.Join(r.Dir, ".git/index.lock")))
	take(t, r, false)
	if _, err := os.Lstat(filepath.Join(r.Dir, ".git/index.lock")); err == nil {
		t.Fatal("our own lock is still there")
	}
	attached(t, r)
	published(t, r)

	// A copy is not the same file, whatever it holds.
	r.Write("a", "again\n")
	take(t, r, true)
	r.Write(".git/index.lock", r.Read(".git/agent/index.new"))
	take(t, r, false)
	if _, err := os.Lstat(filepath.Join(r.Dir, ".git/index.lock")); err != nil {
		t.Error("somebody else's lock was removed")
	}
}

// A process may die between the index and the branch.
func TestPublishWithoutBranch(t *testing.T) {
	t.Parallel()
	r := base(t)
	r.Write("a", "changed\n")
	s := take(t, r, true)
	gittest.Must(t, s.Publish(context.Background()))
	r.Says("M  a", "status", "--porcelain") // a staged file
	check(t, r)
	attached(t, r)
	published(t, r)
}

func TestPublishKeepsTheUsersUntrackedCache(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name    string
		prepare func(r *gittest.Repo)
		want    bool
	}{
		{"none", func(r *gittest.Repo) {}, false},
		{"asked for once", func(r *gittest.Repo) { r.Git("update-index", "--untracked-cache") }, true},
		{"true", func(r *gittest.Repo) { r.Git("config", "core.untrackedCache", "true"); r.Git("status") }, true},
		{"keep", func(r *gittest.Repo) { r.Git("config", "core.untrackedCache", "keep") }, false},
		{"false", func(r *gittest.Repo) { r.Git("config", "core.untrackedCache", "false") }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := base(t)
			tt.prepare(r)
			has := func() bool { return strings.Contains(r.Read(".git/index"), untrackedCache) }
			if tt.want && !has() {
				t.Fatal("the user's index has none, so this tests nothing")
			}
			for _, content := range []string{"one\n", "two\n", "two\n"} {
				r.Write("a", content)
				touch(t, r, "b")
				take(t, r, false)
				if !strings.Contains(r.Read(".git/agent/index"), untrackedCache) {
					t.Error("the private index has none")
				}
				attached(t, r)
				if has() != tt.want {
					t.Errorf("the user's index has one: %v, want %v", has(), tt.want)
				}
				published(t, r)
			}
			// The tree is known to the private index, and still to be published.
			for i := range maxPlainFiles + 1 {
				r.Write("many/"+string(rune('A'+i)), "n\n")
			}
			take(t, r, false)
			attached(t, r)
			if has() != tt.want {
				t.Errorf("after a passive snapshot: the user's index has one: %v, want %v", has(), tt.want)
			}
			published(t, r)
		})
	}
}

// The user's index must be as racy as it is: a file written in the tick of the publication is read
// again.
func TestPublishRacy(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := base(t)
	edit(t, r, "git config core.trustctime false; git config core.checkStat minimal")
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	r.Write("a", "one\n")
	gittest.Must(t, os.Chtimes(filepath.Join(r.Dir, "a"), at, at))
	attached(t, r)
	for _, name := range []string{".git/index", ".git/agent/index"} {
		gittest.Must(t, os.Chtimes(filepath.Join(r.Dir, name), at, at))
	}
	r.Write("a", "two\n")
	gittest.Must(t, os.Chtimes(filepath.Join(r.Dir, "a"), at, at))
	r.Says(" M a", "status", "--porcelain")
	want := wantTree(t, r, nil)
	sameTree(t, attached(t, r), want)
	published(t, r)
}

func TestCheckOut(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	r := base(t)
	r.Write("kept", "untracked\n")
	first := take(t, r, true)
	r.Git("commit-tree", "-m", "keep the objects", first.Tree.String())
	edit(t, r, "a=later; later=n; rm d; d=a file; x.o=ignored")
	now := take(t, r, true)
	before := state(t, r)
	gittest.Must(t, now.CheckOut(ctx, first.Tree, Checkout{Dry: true}))
	sameState(t, r, before)
	index := r.Read(".git/index")
	gittest.Must(t, now.CheckOut(ctx, first.Tree, Checkout{}))
	sameTree(t, take(t, r, false), first.Tree)
	if r.Read("x.o") != "ignored\n" || !bytes.Equal([]byte(r.Read(".git/index")), []byte(index)) {
		t.Error("what is ignored, or the user's index, was changed")
	}

	// A file that was left out is in the way.
	other := base(t)
	other.Write("secret.pem", "kept\n")
	s := take(t, other, true)
	if !slices.Equal(s.Skipped, []record.Skip{{Path: "secret.pem", Why: record.WhySecret}}) {
		t.Fatal(s.Skipped)
	}
	other.Env = append(other.Env, "GIT_INDEX_FILE="+filepath.Join(gittest.TempDir(t), "index"))
	other.Git("read-tree", "HEAD")
	other.Git("update-index", "--add", "--cacheinfo", "100644,"+other.Git("rev-parse", "HEAD:a")+",secret.pem")
	tree := object.NewHash(other.Git("write-tree"))
	for _, dry := range []bool{true, false} {
		if err := s.CheckOut(ctx, tree, Checkout{Dry: dry}); err == nil {
			t.Errorf("dry %v: a file that was left out was overwritten", dry)
		}
	}
	if got := other.Read("secret.pem"); got != "kept\n" {
		t.Errorf("secret.pem = %q", got)
	}
}

// TestCheckOutUnwritable: git only warns of a file that it can't remove.
func TestCheckOutUnwritable(t *testing.T) {
	t.Parallel()
	r := base(t)
	first := take(t, r, true)
	r.Write("closed/f", "f\n")
	now := take(t, r, true)
	chmod(t, r, "closed", 0o555)
	defer chmod(t, r, "closed", 0o777)
	if err := os.WriteFile(filepath.Join(r.Dir, "closed", "g"), nil, 0o600); err == nil {
		t.Skip("this user writes where there is no permission to")
	}
	if err := now.CheckOut(t.Context(), first.Tree, Checkout{}); err == nil || !strings.Contains(err.Error(), `"closed/f" could not be removed`) {
		t.Errorf("checked out: %v", err)
	}
}
