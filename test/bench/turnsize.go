package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fewTurns is how many turns are played.
const fewTurns = 60

// A keeping is a repository whose .git grows with each turn.
type keeping struct {
	name     string
	repo     *repository
	session  *session
	empty    kept
	cpu      time.Duration // of prompts, stops, and what they leave running
	laterCPU time.Duration // of the roll-up
}

// turnSizes prints what .git grows by with a turn, as the hooks leave it and once they have rolled it up, for this build and
// for the older one of -before, of which there is one more that rolls nothing up.
func turnSizes(l *lab) {
	repos := []*keeping{l.newKeeping("now", l.now(), 0)}
	if l.before != "" {
		repos = append(repos, l.newKeeping("before", l.before, 1), l.newKeeping("before, nothing rolled up", l.before, 2))
		gc := filepath.Join(repos[2].repo.dir, ".git", "gc.pid") // while there is one, nothing is
		check(os.WriteFile(gc, fmt.Appendf(nil, "%d %s", os.Getpid(), must(os.Hostname())), 0o666))
	}
	for range fewTurns {
		for _, k := range repos {
			prompt, stop := k.session.turn()
			k.cpu += prompt.cpu + stop.cpu
		}
	}
	fmt.Printf(keptFormat, "KiB of .git a turn", "all", "packs", "indexes", "loose", "refs", "ours", "/before", "/as is", "cpu ms", "target")
	last := repos[len(repos)-1]
	whole, rolling := last.grown(), repos[min(1, len(repos)-1)].grown()
	for _, k := range repos {
		k.cpu += k.session.background
		k.row("", whole, rolling, k.cpu, "0.6")
	}
	for _, k := range repos[:min(2, len(repos))] {
		k.rollUp()
	}
	rolling = repos[min(1, len(repos)-1)].grown()
	for _, k := range repos[:min(2, len(repos))] {
		k.row(", rolled up", rolling, rolling, k.laterCPU, "1.00")
		k.session.check(2)
	}
}

func (l *lab) newKeeping(name string, b build, sessions int) *keeping {
	own := &lab{ctx: l.ctx, dir: l.dir, program: b.program("git-agent-turn"), env: l.env, sessions: sessions}
	r := own.newRepository("turn-size-"+fmt.Sprint(sessions), smallFiles)
	r.enable()
	return &keeping{name: name, repo: r, session: r.newSession(), empty: r.kept()}
}

// rollUp lets the hooks' housekeeping roll up the packs an hour later, and after another one drop the replaced ones.
func (k *keeping) rollUp() {
	r := k.repo
	for range 2 {
		earlier := time.Now().Add(-2 * time.Hour)
		packs := must(filepath.Glob(filepath.Join(r.dir, ".git", "objects", "pack", "*.pack")))
		for _, file := range append(packs, filepath.Join(r.dir, ".git", "agent", "old-packs"), filepath.Join(r.dir, ".git", "agent", "joined-packs")) {
			if err := os.Chtimes(file, earlier, earlier); !os.IsNotExist(err) {
				check(err)
			}
		}
		_, x := r.timed(r.dir, nil, nil, r.program, "housekeep")
		k.laterCPU += x.cpu
	}
}

// kept are the bytes of the files of a .git, by what they are.
type kept map[string]int64

func (r *repository) kept() kept {
	sum := make(kept)
	top := filepath.Join(r.dir, ".git")
	check(filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		check(err)
		if d.IsDir() {
			return nil
		}
		info, err := d.Info()
		check(err)
		name := must(filepath.Rel(top, path))
		kind := "else"
		switch {
		case strings.HasSuffix(name, ".pack"):
			kind = "packs"
		case strings.HasSuffix(name, ".idx"), strings.HasSuffix(name, ".rev"):
			kind = "indexes"
		case strings.HasPrefix(name, "objects/"):
			kind = "loose"
		case strings.HasPrefix(name, "refs/"), strings.HasPrefix(name, "logs/"):
			kind = "refs"
		case strings.HasPrefix(name, "agent/"):
			kind = "ours"
		}
		sum[kind] += info.Size()
		sum["all"] += info.Size()
		return nil
	}))
	return sum
}

func (k *keeping) grown() kept {
	sum := k.repo.kept()
	for kind, n := range k.empty {
		sum[kind] -= n
	}
	return sum
}

const keptFormat = "%-38s %7s %7s %7s %7s %7s %7s %8s %8s %8s  %s\n"

// row prints what there is, beside all of an older build: where nothing was rolled up, and as it leaves it.
func (k *keeping) row(state string, before, asIs kept, cpu time.Duration, target string) {
	sum := k.grown()
	per := func(kind string) string { return fmt.Sprintf("%.2f", float64(sum[kind])/1024/fewTurns) }
	to := func(other kept) string { return fmt.Sprintf("%.2f", float64(sum["all"])/float64(other["all"])) }
	fmt.Printf(keptFormat, k.name+state, per("all"), per("packs"), per("indexes"), per("loose"), per("refs"), per("ours"),
		to(before), to(asIs), fmt.Sprintf("%.2f", ms(cpu)/fewTurns), target)
}
