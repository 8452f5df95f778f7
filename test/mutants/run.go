package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"gitagent/test/gittest"
	"gitagent/test/mutants/mutant"
)

// hung is the exit status of what took too long.
const hung = 124

// A lab runs the tests of a repository with the mutants in it.
type lab struct {
	dir, repo, ring string
	args            []string // further ones of test binaries
	temporary       string   // what tests take for TMPDIR
	env             []string
	out             io.Writer
}

// A binary is the tests of a package.
type binary struct {
	Package string
	Seconds float64 // that it took without a mutant
	Reached []int   // mutants

	name string // path of the file
	dir  string // of the package
}

// build compiles the tests of packages, two at a time.
func (l *lab) build(ctx context.Context, packages []listed) ([]*binary, error) {
	var all []*binary
	for _, p := range packages {
		if len(p.TestGoFiles)+len(p.XTestGoFiles) > 0 {
			name := strings.ReplaceAll(strings.TrimPrefix(p.ImportPath, p.Module.Path+"/"), "/", ".") + ".test"
			all = append(all, &binary{Package: p.ImportPath, name: filepath.Join(l.dir, "bin", name), dir: p.Dir})
		}
	}
	var (
		wait  sync.WaitGroup
		errs  = make([]error, len(all))
		slots = make(chan struct{}, 2)
	)
	for i, b := range all {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-o", b.name, b.Package)
			cmd.Dir, cmd.Env = l.repo, l.env
			if out, err := cmd.CombinedOutput(); err != nil {
				errs[i] = fmt.Errorf("build the tests of %s: %w\n%s", b.Package, err, out)
			}
		})
	}
	wait.Wait()
	return all, errors.Join(errs...)
}

// on says which mutant is on, or what else package mutant has to know.
func (l *lab) on(what string) error {
	return os.WriteFile(filepath.Join(l.dir, mutant.File), []byte(what+"\n"), 0o666)
}

// run runs the tests of a binary and returns the exit status. What they print goes to a file.
func (l *lab) run(ctx context.Context, b *binary, limit time.Duration, printed string) (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	if err := os.MkdirAll(filepath.Dir(printed), 0o777); err != nil {
		return 0, err
	}
	out, err := os.Create(printed)
	if err != nil {
		return 0, err
	}
	defer out.Close()
	// In memory, as the tests' own choice would be; but they can't remove what they have when they are killed.
	temporary, err := os.MkdirTemp(l.temporary, "m")
	if err != nil {
		return 0, err
	}
	defer remove(temporary)
	args := slices.Concat([]string{"keep", limit.String(), b.name, "-test.count=1", "-test.failfast"}, l.args)
	cmd := exec.Command(self, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.dir, out, out
	cmd.Env = append(slices.Clone(l.env), "PWD="+b.dir, "TMPDIR="+temporary)
	stdin, err := cmd.StdinPipe() // its end tells keep to stop
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return 0, err
	}
	defer context.AfterFunc(ctx, func() { _ = stdin.Close() })()
	err = cmd.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// remove removes a directory in which some may have no permission to be removed.
func remove(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	_ = os.RemoveAll(dir)
}

// reach runs each package's tests without a mutant and finds out which mutants they come by, and what they take. What
// an earlier run has found out is not measured again.
func (l *lab) reach(ctx context.Context, binaries []*binary) error {
	name := filepath.Join(l.dir, "reach-"+l.ring+".jsonl")
	known, err := lines[binary](name)
	if err != nil {
		return err
	}
	for _, b := range binaries {
		if i := slices.IndexFunc(known, func(k binary) bool { return k.Package == b.Package }); i >= 0 {
			b.Seconds, b.Reached = known[i].Seconds, known[i].Reached
			continue
		}
		word := l.ring + "-" + strings.TrimSuffix(filepath.Base(b.name), ".test")
		dir := filepath.Join(l.dir, mutant.Reach, word)
		_ = os.RemoveAll(dir)
		err := os.MkdirAll(dir, 0o777)
		if err == nil {
			err = os.Chmod(dir, 0o777) // some tests run the programs as another user
		}
		if err == nil {
			err = l.on("reach " + word)
		}
		if err != nil {
			return err
		}
		printed := filepath.Join(l.dir, "out", word+".txt")
		began := time.Now()
		status, err := l.run(ctx, b, 12*time.Hour, printed)
		if err != nil {
			return err
		}
		if status != 0 {
			text, _ := os.ReadFile(printed)
			return fmt.Errorf("%s fails without a mutant:\n%s", b.Package, text[max(0, len(text)-4000):])
		}
		b.Seconds = time.Since(began).Seconds()
		reached, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, entry := range reached {
			if n, err := strconv.Atoi(entry.Name()); err == nil {
				b.Reached = append(b.Reached, n)
			}
		}
		slices.Sort(b.Reached)
		fmt.Fprintf(l.out, "%7.1f s  %s reaches %d\n", b.Seconds, b.Package, len(b.Reached))
		if err := appendLine(name, b); err != nil {
			return err
		}
	}
	return nil
}

// A finding is what became of a mutant in a ring.
type finding struct {
	N       int
	Ring    string
	Reached []string `json:",omitempty"` // by the tests of which packages, in the order in which they are run
	Found   string   `json:",omitempty"` // by which package, a test of it or hang
	Seconds float64
}

// try runs the tests that reach a mutant until one finds it.
func (l *lab) try(ctx context.Context, m *mutated, binaries []*binary) (*finding, error) {
	f := &finding{N: m.N, Ring: l.ring}
	theirs := reaching(m, binaries)
	for _, b := range theirs {
		f.Reached = append(f.Reached, b.Package)
	}
	if err := l.on(strconv.Itoa(m.N)); err != nil {
		return nil, err
	}
	began := time.Now()
	for _, b := range theirs {
		limit := 2*time.Minute + time.Duration(10*b.Seconds*float64(time.Second))
		printed := filepath.Join(l.dir, "out", fmt.Sprintf("%s-%d.txt", l.ring, m.N))
		status, err := l.run(ctx, b, limit, printed)
		if err != nil {
			return nil, err
		}
		if status != 0 {
			by := "hang"
			if status != hung {
				by = failing(printed)
			}
			f.Found = strings.TrimSpace(b.Package + " " + by)
			break
		}
	}
	f.Seconds = time.Since(began).Seconds()
	return f, l.on("")
}

// reaching returns the tests that reach a mutant: those of its own package, then the quick ones first.
func reaching(m *mutated, binaries []*binary) []*binary {
	theirs := slices.DeleteFunc(slices.Clone(binaries), func(b *binary) bool { return !slices.Contains(b.Reached, m.N) })
	slices.SortStableFunc(theirs, func(a, b *binary) int {
		if own := a.Package == m.Package; own != (b.Package == m.Package) {
			if own {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Seconds, b.Seconds)
	})
	return theirs
}

// failing is the first test that failed, by what was printed.
func failing(printed string) string {
	text, _ := os.ReadFile(printed)
	all := failed.FindAllSubmatch(text, -1)
	if all == nil {
		return "no test: it ended"
	}
	name := all[0][1]
	for _, m := range all { // a test is printed before its parts
		if strings.HasPrefix(string(m[1]), string(name)+"/") {
			name = m[1]
		}
	}
	return string(name)
}

var failed = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)

// environment is that of the tests of a ring, with an overlay for every go command that they start.
func environment(ctx context.Context, repo, ring, overlay string) ([]string, error) {
	if strings.ContainsAny(overlay, " \t'\"") {
		return nil, fmt.Errorf("%q can't be in GOFLAGS", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", "env", "GOFLAGS")
	cmd.Dir = repo
	flags, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	env := append(os.Environ(), "GOFLAGS="+strings.TrimSpace(strings.TrimSpace(string(flags))+" -overlay="+overlay))
	return append(env, gittest.Ring+"="+strings.TrimPrefix(ring, "test")), nil
}
