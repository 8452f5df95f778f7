package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"time"
)

func main() {
	pattern := flag.String("run", "", "measure only the cases whose name matches `regexp`")
	missions := flag.Int("missions", 100_000, "how many `missions` there are, in the case of that name")
	before := flag.String("before", "", "compare with the older programs in a `directory`, where a case can")
	picture := flag.String("plot", "", "measure how the cost grows, and draw it into a `file`; -run says of which curves, and the others stay")
	largest := flag.Int("largest", 100_000, "the most that a curve has: `100`, 1000, 10000 or 100000")
	n := flag.Int("n", 0, "repeat each measurement `n` times; 0 is what suits the case")
	flag.Usage = usage
	flag.Parse()
	if flag.NArg() > 0 || *n < 0 || *missions < 1 {
		usage()
		os.Exit(2)
	}
	match, err := regexp.Compile(*pattern)
	if *before != "" && err == nil {
		*before, err = filepath.Abs(*before)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err == nil {
		err = run(&lab{ctx: ctx, n: *n, missions: *missions, before: build(*before)}, match, *picture, *largest)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: go run ./test/bench [-run <regexp>] [-n <repetitions>] [-before <directory>] [-plot <file>]")
	flag.PrintDefaults()
	fmt.Fprintln(os.Stderr, "The cases:")
	for _, c := range cases() {
		fmt.Fprintf(os.Stderr, "  %-15s %s\n", c.name, c.what)
	}
	fmt.Fprintln(os.Stderr, "The curves of -plot:")
	for _, c := range curves() {
		fmt.Fprintf(os.Stderr, "  %s, by %s\n", c.name, c.of)
	}
}

// A benchCase is a part of the table that can be selected.
type benchCase struct {
	name, what string
	run        func(*lab)
}

func cases() []benchCase {
	return []benchCase{
		{"machine", "what this machine takes for a process and for a file", machine},
		{"hooks", "the hooks of a turn and of a batch of tool calls beside an older build's, 100 files, 2 changed", hooked},
		{"idle", "the Stop hook where nothing is to be recorded", idle},
		{"small", "100 files, 2 changed", small},
		{"shell", "100 files, the hook run through a shell, as the client does", shell},
		{"spread", "100 files, other ones changed in every round, so that the changes since HEAD add up", spread},
		{"attributes", "100 files and a .gitattributes", attributes},
		{"attached", "100 files, a mission with a branch", attached},
		{"one", "100 files, hook and baseline in one repository", one},
		{"trace", "100 files, the processes of git that one Stop hook runs", trace},
		{"transcript", "100 files, a transcript of 50 MB against one of 50 KB", transcript},
		{"thousand", "100 files, 1000 turns recorded", thousand},
		{"turn-size", "100 files, 60 turns, what .git grows by with each", turnSizes},
		{"unchanged", "100 files, 1000 turns without a change", unchanged},
		{"list", "10,000 turns", list},
		{"turns-landed", "20,000 turns in 100,000 commits: summary and log", turnsLanded},
		{"turns-listed", "lists of 10,000 and 200,000 turns", turnsListed},
		{"turns-page", "a page of 10,000 turns", turnsPage},
		{"missions", "100,000 missions, live and archived, and a fleet of 1,000 agents", manyMissions},
		{"mission-lists", "10,000 missions, 1,000 of them forks, and 3,000 forks of forks with handoffs, listed", missionLists},
		{"purged", "the Stop hook where a word was purged", purged},
		{"purging", "a map of purges applied, and a killed purge completed", purging},
		{"beside", "a push of one mission beside many archived ones", pushBesideArchive},
		{"whose", "1000 missions of this clone's, and of others: purge, repair, list, blame, search against git fsck and rev-list", whose},
		{"import", "300 sessions of the client that were not recorded", imports},
		{"import-contest", "300 sessions of the client, imported by this build and an older one", importContest},
		{"blame", "a file of 1000 lines, 10,000 commits, 1000 turns", blame},
		{"blames", "a file with a turn in each commit, in one of ten and of twenty; files of 200 MB", blames},
		{"search", "2 GB of conversations", searching},
		{"everywhere", "missions and search --everywhere, 1, 50 and 500 repositories of 10 missions", everywhere},
		{"fork", "a fork against git worktree add alone, 100 and 50,000 files", fork},
		{"fork-large", "a fork that takes 200 MB of conversation along, against git worktree add alone", forkLarge},
		{"include", "forks of 5,000 files that copy ignored ones, one and eight", included},
		{"signing", "signing an event, and checking the signatures of 1000", signing},
		{"handoff", "the hooks that begin and end a session", handoff},
		{"context", "the hook after each batch of tool calls, a transcript of 400 MB", contextMonitor},
		{"step", "a state kept after tools, 100 files", steps},
		{"recall", "10,000 turns: the hook that tells of a file, its hints, and git agent-turn recall", recalled},
		{"company", "the Stop hook of a turn with company, 100 files", company},
		{"visits", "the hooks of turns that act in up to four other repositories, 100 files each", visits},
		{"worktrees", "the hooks of a session in a repository with linked worktrees, 100 files", worktrees},
		{"agents", "the Stop hook of each agent, 100 files, 2 changed", agents},
		{"large", "50,000 files, 2 changed", large},
		{"large-step", "50,000 files, a state kept after tools", largeSteps},
		{"large-one", "50,000 files, hook and baseline in one repository", largeOne},
		{"large-switch", "50,000 files, a branch switch that changes 20,000 of them before the hook", largeSwitch},
		{"large-sparse", "50,000 files, a sparse-checkout of 30,000 of them set or lifted before the hook", largeSparse},
		{"large-gc", "50,000 files, git gc --prune=now before the hook", largeGC},
		{"large-attached", "50,000 files, a mission with a branch", largeAttached},
	}
}

// run measures the cases that match, or the curves of a picture.
func run(l *lab, match *regexp.Regexp, picture string, largest int) (err error) {
	began := time.Now()
	running := ""
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%s%w", running, p.error)
		default:
			panic(p)
		}
		err = errors.Join(err, l.clean())
	}()
	l.furnish()
	fmt.Printf("%s, %s %s/%s, %d CPUs%s\n", l.git(l.dir, "--version"), runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), load())
	if picture != "" {
		l.plotCurves(picture, match, largest)
		return nil
	}
	for _, c := range cases() {
		if match.MatchString(c.name) && ((c.name != "missions" && c.name != "beside") || match.String() != "") { // it takes an hour
			fmt.Printf("\n# %s: %s\n", c.name, c.what)
			running = c.name + ": "
			c.run(l)
		}
	}
	fmt.Printf("\n%.0f s%s\n", time.Since(began).Seconds(), load())
	return nil
}

// A failure is what [check] panics with and [run] returns: an error of any step ends the benchmark.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

// load tells of other work on the machine, where the system does.
func load() string {
	b, err := os.ReadFile("/proc/loadavg")
	fields := strings.Fields(string(b))
	if err != nil || len(fields) == 0 {
		return ""
	}
	return ", load " + fields[0]
}
