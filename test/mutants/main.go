// Mutants measures how good the tests are: it changes the product at places that it draws, and counts the changes, the
// mutants, that make a test fail.
//
//	go run ./test/mutants -seed 1 -n 80                the tests of make test
//	go run ./test/mutants -seed 1 -n 80 -ring check    those of make check, for what make test has not found
//	go run ./test/mutants -seed 1 -n 80 -only 3,17     these mutants alone, whatever is known of them
//	go run ./test/mutants -seed 1 -n 80 -table         what is known, without running a test
//	go run ./test/mutants -seed 1 -n 80 -draw          which mutants there are
//
// Run it where nothing can be lost, in a worktree of its own: a mutant may remove other files than the product does.
//
// # What is drawn
//
// A line of code, any of the product as likely as the other, then one of the kinds of changes that can be made there, then
// a place. A change is drawn again if the package does not compile with it. These are the kinds:
//
//	condition  that of an if or for is negated
//	boundary   < is <=, > is >=, == is !=, and the other way round
//	and-or     && is ||, and the other way round
//	number     is one more, as a constant in a function; for durations as well
//	string     is empty
//	error      if err != nil { return ... } is passed by
//	call       is left out, if it has no result, or only an error: then that is nil
//	return     of a bool is negated
//	jump       break or continue is left out
//
// The seed draws the same mutants of the same source. -packages draws of these packages alone.
//
// # How they run
//
// The product is compiled once, with all mutants: each changed place asks package mutant whether it is on. That package and
// the changed files exist in an overlay of the go command alone, which GOFLAGS hands to the tests that build the
// programs, too. Which mutant is on, if any, is in a file whose path is compiled in; every process reads it at its start.
//
// First, each package's tests run without a mutant, one package after the other. They must pass. Every process records
// which changed places it comes by, so for each mutant only those tests run that reach it: its own package's, then the
// quick ones first, until one fails. An error path is reached when there is an error, since without one nothing would be
// different. A binary that takes ten times what it took, and two minutes, is ended, and has found the mutant by hanging.
// On Linux, nothing that tests have started outlives them. A mutant that is not found isn't yet a fault of the tests: the
// change may be none, as of a number in a hint of how much memory to take.
//
// # What is kept
//
// -dir is where all of it is, below the user's cache if not said otherwise. A run goes on where the last one ended:
//
//	draws.json        the mutants
//	reach-test.jsonl  what each package's tests reach, by ring
//	results.jsonl     what became of the mutants; the last line about one counts
//	out/              what tests have printed: test-17.txt is of mutant 17 in ring test
//
// When tests have changed, -fresh forgets what they reach, and -only runs what they should find. When the product has changed,
// it is another measurement: give it another directory.
//
// # Another version
//
// The tests of another version, with its own product, are measured with the same mutants by -repo, a checkout, and -list,
// the draws.json of the first. A mutant is found again by its file, function, kind and the text of its line. -args has
// flags for test binaries, for instance -test.short where that was the word for a shorter form:
//
//	go run ./test/mutants -repo ../old -list ~/.cache/git-agent-mutants/1-80/draws.json -args -test.short -dir ...
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// A command is what the command line says.
type command struct {
	seed                                    uint64
	n                                       int
	dir, repo, ring, list, only, args, temp string
	packages, tests                         string
	fresh, draw, table                      bool
}

func main() {
	if len(os.Args) > 3 && os.Args[1] == "keep" {
		limit, err := time.ParseDuration(os.Args[2])
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		os.Exit(keep(limit, os.Args[3:]))
	}
	var c command
	flag.Uint64Var(&c.seed, "seed", 1, "draws the mutants")
	flag.IntVar(&c.n, "n", 80, "how many mutants")
	flag.StringVar(&c.dir, "dir", "", "directory for all that is kept (default <cache>/git-agent-mutants/<seed>-<n>)")
	flag.StringVar(&c.repo, "repo", ".", "checkout whose product is changed and whose tests run")
	flag.StringVar(&c.ring, "ring", "test", "tests that run: test, check or nightly")
	flag.StringVar(&c.list, "list", "", "draws.json whose mutants are taken, instead of drawing")
	flag.StringVar(&c.only, "only", "", "numbers of the mutants to run, with commas")
	flag.StringVar(&c.args, "args", "", "further arguments of test binaries")
	flag.StringVar(&c.temp, "tmp", memory(), "directory for the tests' temporary files")
	flag.StringVar(&c.packages, "packages", "./...", "packages to draw from, with commas")
	flag.StringVar(&c.tests, "tests", "./...", "packages whose tests run, with commas")
	flag.BoolVar(&c.fresh, "fresh", false, "the tests have changed: measure again what they reach")
	flag.BoolVar(&c.draw, "draw", false, "draw and print, and run nothing")
	flag.BoolVar(&c.table, "table", false, "print what is known, and run nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := c.run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

// memory is a directory in memory, as test/gittest prefers it, or "".
func memory() string {
	const dir = "/dev/shm"
	if _, err := os.Stat(dir); err != nil {
		return ""
	}
	return dir
}

// run does what the command line says.
func (c *command) run(ctx context.Context) error {
	if !slices.Contains([]string{"test", "check", "nightly"}, c.ring) {
		return fmt.Errorf("no ring %q: it is test, check or nightly", c.ring)
	}
	only, err := numbers(c.only)
	if err != nil {
		return err
	}
	if c.dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return err
		}
		c.dir = filepath.Join(cache, "git-agent-mutants", fmt.Sprintf("%d-%d", c.seed, c.n))
	}
	if c.dir, err = filepath.Abs(c.dir); err != nil {
		return err
	}
	draws := filepath.Join(c.dir, "draws.json")
	results := filepath.Join(c.dir, "results.jsonl")
	if c.table {
		mutants, err := remembered(draws)
		if err != nil {
			return err
		}
		return show(mutants, results, c.ring)
	}

	s, err := c.mutants(draws)
	if err != nil {
		return err
	}
	if c.draw {
		for _, m := range s.mutants {
			fmt.Printf("%d %s:%d %s %s -> %s\n", m.N, m.File, m.Line, m.Kind, short(m.Before), short(m.After))
		}
		return nil
	}
	overlay, err := s.overlay(c.dir)
	if err != nil {
		return err
	}
	l := &lab{dir: c.dir, repo: c.repo, ring: c.ring, args: strings.Fields(c.args), temporary: c.temp, out: os.Stdout}
	if l.env, err = environment(ctx, c.repo, c.ring, overlay); err != nil {
		return err
	}
	if err := l.on(""); err != nil {
		return err
	}
	packages, err := list(c.repo, strings.Split(c.tests, ",")...)
	if err != nil {
		return err
	}
	binaries, err := l.build(ctx, packages)
	if err != nil {
		return err
	}
	if c.fresh {
		if err := os.Remove(filepath.Join(c.dir, "reach-"+c.ring+".jsonl")); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := l.reach(ctx, binaries); err != nil {
		return err
	}
	known, err := lines[finding](results)
	if err != nil {
		return err
	}
	for _, m := range s.mutants {
		if _, done := newest(known, c.ring)[m.N]; done && only == nil || only != nil && !slices.Contains(only, m.N) {
			continue
		}
		if c.ring != "test" && newest(known, "test")[m.N].Found != "" && only == nil {
			continue
		}
		f, err := l.try(ctx, m, binaries)
		if err != nil {
			return err
		}
		fmt.Printf("%7.1f s  mutant %d, %s:%d: %s\n", f.Seconds, m.N, m.File, m.Line, f)
		if err := appendLine(results, f); err != nil {
			return err
		}
	}
	return show(s.mutants, results, c.ring)
}

// show prints the table.
func show(mutants []*mutated, results, ring string) error {
	known, err := lines[finding](results)
	if err == nil {
		print(os.Stdout, mutants, ring, newest(known, ring))
	}
	return err
}

// mutants draws, or finds what an earlier run, or -list, has drawn.
func (c *command) mutants(draws string) (*set, error) {
	p, err := open(c.repo, strings.Split(c.packages, ","))
	if err != nil {
		return nil, err
	}
	from := draws
	if c.list != "" {
		from = c.list
	}
	listed, err := remembered(from)
	if err != nil {
		return nil, err
	}
	if listed == nil && c.list != "" {
		return nil, fmt.Errorf("there are no mutants in %s", c.list)
	}
	if listed == nil {
		s, err := p.draw(c.seed, c.n)
		if err != nil {
			return nil, err
		}
		return s, s.remember(draws)
	}
	s, absent, err := p.find(listed)
	if err != nil {
		return nil, err
	}
	for _, m := range absent {
		fmt.Printf("mutant %d is not in this product: %s, %s: %s\n", m.N, m.File, m.Func, m.Text)
	}
	if c.list == "" {
		if absent != nil {
			return nil, fmt.Errorf("the product has changed since %s was drawn: take another -dir, or say -list %[1]s", draws)
		}
		return s, nil
	}
	return s, s.remember(draws)
}

// numbers reads numbers with commas between them.
func numbers(s string) ([]int, error) {
	if s == "" {
		return nil, nil
	}
	var all []int
	for word := range strings.SplitSeq(s, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("-only %s: %w", s, err)
		}
		all = append(all, n)
	}
	return all, nil
}
