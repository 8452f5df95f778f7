package git

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// Packs that a roll-up has replaced go with the next one, however soon that comes.
func TestOldPacksGoWithTheNextRollUp(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	hashes := manyPacks(t, repo, 2*maxSmallPacks)
	for i := range 3 {
		gittest.Must(t, RollUp(context.Background(), repo))
		for j := range maxSmallPacks {
			hashes = append(hashes, flushed(t, repo, fmt.Sprint("later ", i, " ", j))...)
		}
		present(t, r, hashes)
		if n := len(packs(t, repo, ".pack")); i > 0 && n > 2*maxSmallPacks+2 {
			t.Errorf("%d packs", n)
		}
	}
}

// An old pack is removed only if it is unchanged and the new one still holds all its objects.
func TestOldPacksAreCheckedAgain(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range []struct {
		name  string
		then  func(t *testing.T, r *gittest.Repo, repo *Repo, taker string, old []string)
		stays int  // of the old ones
		harms bool // the case itself damages the repository
	}{
		{"as it was", func(*testing.T, *gittest.Repo, *Repo, string, []string) {}, 0, false},
		{"git has repacked the new one", func(t *testing.T, _ *gittest.Repo, _ *Repo, taker string, _ []string) {
			remove(t, taker+".idx", taker+".pack")
		}, maxSmallPacks + 1, false},
		{"the new one is cut", func(t *testing.T, _ *gittest.Repo, _ *Repo, taker string, old []string) {
			remove(t, taker+".pack")
			link(t, old[0]+".pack", taker+".pack")
		}, maxSmallPacks + 1, true},
		{"the new one has not got it all", func(t *testing.T, _ *gittest.Repo, _ *Repo, taker string, old []string) {
			remove(t, taker+".idx", taker+".pack")
			_ = os.Remove(taker + ".rev") // as git 2.41 and later write it
			link(t, old[0]+".pack", taker+".pack")
			link(t, old[0]+".idx", taker+".idx")
		}, maxSmallPacks, true}, // from 2.50 on, git compares packs that have one name
		{"one was written again", func(t *testing.T, _ *gittest.Repo, _ *Repo, _ string, old []string) {
			gittest.Must(t, os.Chtimes(old[1]+".pack", time.Time{}, time.Now().Add(time.Second)))
		}, 1, false},
		{"git has repacked some", func(t *testing.T, _ *gittest.Repo, _ *Repo, _ string, old []string) {
			remove(t, old[1]+".idx", old[1]+".pack", old[2]+".idx", old[2]+".pack")
		}, 0, true},
		{"one is to be kept", func(t *testing.T, _ *gittest.Repo, _ *Repo, _ string, old []string) {
			gittest.Must(t, os.WriteFile(old[1]+".keep", nil, 0o666))
		}, 1, false},
		{"a multi-pack index knows them", func(_ *testing.T, r *gittest.Repo, _ *Repo, _ string, _ []string) {
			r.Git("multi-pack-index", "write")
		}, maxSmallPacks + 1, false},
		{"git gc runs", func(t *testing.T, _ *gittest.Repo, repo *Repo, _ string, _ []string) {
			gcPID(t, repo, fmt.Sprint(os.Getpid(), " ", hostname(t)), 0)
		}, maxSmallPacks + 1, false},
		{"git packs beside it", func(t *testing.T, _ *gittest.Repo, repo *Repo, _ string, _ []string) {
			gittest.Must(t, os.WriteFile(filepath.Join(repo.CommonDir, "objects", "maintenance.lock"), nil, 0o666))
		}, maxSmallPacks + 1, false},
		{"the note is lost", func(t *testing.T, _ *gittest.Repo, repo *Repo, _ string, _ []string) {
			gittest.Must(t, os.WriteFile(agentDir(repo).Path(oldPacksFile), []byte("\x00\x00"), 0o666))
		}, maxSmallPacks + 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			repo := find(t, r)
			hashes := manyPacks(t, repo, maxSmallPacks+1)
			before := packs(t, repo, ".pack")
			gittest.Must(t, RollUp(context.Background(), repo))
			taker := ""
			for _, p := range packs(t, repo, ".pack") {
				if !slices.Contains(before, p) {
					taker = strings.TrimSuffix(p, ".pack")
				}
			}
			var old []string
			for _, p := range before {
				old = append(old, strings.TrimSuffix(p, ".pack"))
			}
			tt.then(t, r, repo, taker, old)
			anHourLater(t, repo)
			gittest.Must(t, RollUp(context.Background(), repo))
			stay := 0
			for _, base := range old {
				if isFile(base+".pack") && isFile(base+".idx") {
					stay++
				}
			}
			if stay != tt.stays {
				t.Errorf("%d old packs are there, want %d", stay, tt.stays)
			}
			if tt.harms {
				return
			}
			present(t, r, hashes)
			_ = os.Remove(filepath.Join(repo.CommonDir, "gc.pid"))
			_ = os.Remove(filepath.Join(repo.CommonDir, "objects", "maintenance.lock"))
			for range 3 {
				rollUpIfDue(t, repo)
			}
			if RollUpDue(repo) {
				t.Error("due for ever")
			}
		})
	}
}

func rollUpIfDue(t *testing.T, repo *Repo) {
	t.Helper()
	if RollUpDue(repo) {
		gittest.Must(t, RollUp(context.Background(), repo))
	}
}

// There is no roll-up while git holds gc.pid, as git judges it.
func TestRollUpWhileGCRuns(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	dead := exec.Command(os.Args[0], "-test.run=^$")
	gittest.Must(t, dead.Run())
	for _, tt := range []struct {
		name string
		text string
		age  time.Duration
		held bool
	}{
		{"alive", fmt.Sprint(os.Getpid(), " ", hostname(t)), 0, true},
		{"alive for 11 hours", fmt.Sprint(os.Getpid(), " ", hostname(t)), 11 * time.Hour, true},
		{"alive for 13 hours", fmt.Sprint(os.Getpid(), " ", hostname(t)), 13 * time.Hour, false},
		{"dead", fmt.Sprint(dead.Process.Pid, " ", hostname(t)), 0, false},
		{"on another host", fmt.Sprint(dead.Process.Pid, " another.example.invalid"), 0, true},
		{"on another host for 13 hours", fmt.Sprint(dead.Process.Pid, " another.example.invalid"), 13 * time.Hour, false},
		{"empty", "", 0, false},
		{"no host", fmt.Sprint(os.Getpid()), 0, false},
		{"nonsense", "one two", 0, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			repo := find(t, r)
			manyPacks(t, repo, maxSmallPacks+1)
			gcPID(t, repo, tt.text, tt.age)
			if due := RollUpDue(repo); due == tt.held {
				t.Errorf("due: %v", due)
			}
			gittest.Must(t, RollUp(context.Background(), repo))
			if n := len(packs(t, repo, ".pack")); (n == maxSmallPacks+1) != tt.held {
				t.Errorf("%d packs", n)
			}
			if _, err := r.Try("gc", "-q"); (err != nil) != tt.held {
				t.Errorf("git itself: %v", err)
			}
		})
	}
}

func gcPID(t *testing.T, repo *Repo, text string, age time.Duration) {
	t.Helper()
	path := filepath.Join(repo.CommonDir, "gc.pid")
	gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
	at := time.Now().Add(-age)
	gittest.Must(t, os.Chtimes(path, at, at))
}

func hostname(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	gittest.Must(t, err)
	return name
}

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		gittest.Must(t, os.Remove(path))
	}
}

func link(t *testing.T, from, to string) {
	t.Helper()
	gittest.Must(t, os.Link(from, to))
}
