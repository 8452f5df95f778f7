package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// baseline is what a person would put into the Stop hook.
const baseline = `git add -A && git diff --cached --quiet || git commit -q -m "turn $(git rev-list --count HEAD)"`

// The sizes of repositories, in files.
const (
	smallFiles = 100
	largeFiles = 50_000
)

// A repository is one that was made for the benchmark.
type repository struct {
	*lab
	dir   string
	files int

	round  int  // how often two files were changed
	spread bool // other files in every round
}

// twins are two equal repositories: in one runs the hook, in the other the baseline.
type twins struct{ hook, base *repository }

// large returns the lab's large twins, which are made when they are first asked for:
// it takes some ten seconds. Every case leaves them on their main branch.
func (l *lab) large() (*twins, error) {
	var err error
	if l.largeTwins == nil {
		l.largeTwins, err = l.newTwins("large", largeFiles)
	}
	return l.largeTwins, err
}

// newTwins makes two equal repositories, of which the hook's is enabled.
func (l *lab) newTwins(name string, files int) (*twins, error) {
	t := new(twins)
	var err error
	if t.hook, err = l.newRepository(name+"-hook", files); err != nil {
		return nil, err
	}
	if t.base, err = l.newRepository(name+"-base", files); err != nil {
		return nil, err
	}
	if err := t.hook.enable(); err != nil {
		return nil, err
	}
	time.Sleep(1100 * time.Millisecond) // git does not trust a file that is as young as the index
	for _, r := range []*repository{t.hook, t.base} {
		if _, err := r.git("status"); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// newRepository makes a repository with one commit, whose objects are in one pack.
// Its hashes are the same wherever it is made.
func (l *lab) newRepository(name string, files int) (*repository, error) {
	r := &repository{lab: l, dir: filepath.Join(l.dir, name), files: files}
	if _, err := l.git(l.dir, "init", "-q", r.dir); err != nil {
		return nil, err
	}
	var in bytes.Buffer
	commit(&in, "main", "a commit to start from", "")
	put(&in, ".gitignore", "*.log\n*.tmp\n/build/\n/node_modules/\n.cache/\n")
	for i := range files {
		put(&in, path(i), source(i, 0))
	}
	if err := r.load(&in); err != nil {
		return nil, err
	}
	_, err := r.git("reset", "-q", "--hard")
	return r, err
}

// commit begins a commit in a stream for git fast-import.
func commit(in *bytes.Buffer, branch, subject, from string) {
	fmt.Fprintf(in, "commit refs/heads/%s\ncommitter Dev <dev@example.invalid> 1795176000 +0000\ndata %d\n%s\n", branch, len(subject), subject)
	if from != "" {
		fmt.Fprintf(in, "from %s\n", from)
	}
}

// put gives a file its content in a stream for git fast-import.
func put(in *bytes.Buffer, path, content string) {
	fmt.Fprintf(in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
}

// load feeds a stream to git fast-import.
func (r *repository) load(in *bytes.Buffer) error {
	_, err := r.feed(r.dir, in.Bytes(), "git", "fast-import", "--quiet")
	return err
}

func (r *repository) git(args ...string) (string, error) { return r.lab.git(r.dir, args...) }

// enable switches recording on as `git agent-turn init` does, with the client's settings in the
// lab's own home.
func (r *repository) enable() error {
	_, err := r.feed(r.dir, nil, r.program, "init")
	return err
}

// path is the path of file i: a hundred in each directory, twenty of these in each above.
func path(i int) string {
	return fmt.Sprintf("src/module%02d/part%02d/file%05d.go", i/2000, i/100%20, i)
}

// source is the content of file i after some rounds of changes, about 1.5 KB; a round changes three
// lines.
func source(i, round int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "// Package part of module %d, file %d.\npackage part\n\nconst round = %d\n\n", i/2000, i, round)
	for line := range 40 {
		last := 0 // the round that changed this line last
		if round > 0 {
			last = round - (round-1-line%40+40)%40
		}
		fmt.Fprintf(&b, "var value%d%02d = compute(%d)\n", i, line, max(0, last)*7+line)
	}
	return b.String()
}

// change begins a round: two files get new content, in place.
func (r *repository) change() error {
	r.round++
	changed := []int{7, r.files / 2}
	if r.spread {
		changed = []int{2 * r.round % r.files, (2*r.round + 1) % r.files}
	}
	for _, i := range changed {
		if err := os.WriteFile(filepath.Join(r.dir, path(i)), []byte(source(i, r.round)), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// commitAll runs the baseline.
func (r *repository) commitAll() (sample, error) {
	s, err := r.measure(r.dir, nil, nil, "sh", "-c", baseline)
	if err != nil {
		return s, err
	}
	_, err = settle()
	return s, err
}
