package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/git/object"
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

// large returns the lab's large twins, which are made when they are first asked for: it takes some
// ten seconds. Every case leaves them on their main branch.
func (l *lab) large() *twins {
	if l.largeTwins == nil {
		l.largeTwins = l.newTwins("large", largeFiles)
	}
	return l.largeTwins
}

// newTwins makes two equal repositories, of which the hook's is enabled.
func (l *lab) newTwins(name string, files int) *twins {
	t := &twins{l.newRepository(name+"-hook", files), l.newRepository(name+"-base", files)}
	t.hook.enable()
	time.Sleep(1100 * time.Millisecond) // git does not trust a file that is as young as the index
	t.hook.git("status")
	t.base.git("status")
	return t
}

// newRepository makes a repository with one commit, whose objects are in one pack. Its hashes are
// the same wherever it is made.
func (l *lab) newRepository(name string, files int) *repository {
	r := &repository{lab: l, dir: filepath.Join(l.dir, name), files: files}
	l.git(l.dir, "init", "-q", r.dir)
	var in bytes.Buffer
	commit(&in, "refs/heads/main", "a commit to start from")
	put(&in, ".gitignore", "*.log\n*.tmp\n/build/\n/node_modules/\n.cache/\n")
	for i := range files {
		put(&in, path(i), source(i, 0))
	}
	r.load(&in)
	r.git("reset", "-q", "--hard")
	return r
}

// commit begins a commit in a stream for git fast-import; a tip that the stream knows is its first
// parent.
func commit(in *bytes.Buffer, ref, subject string) {
	fmt.Fprintf(in, "commit %s\ncommitter Dev <dev@example.invalid> 1795176000 +0000\ndata %d\n%s\n", ref, len(subject), subject)
}

// put gives a file its content in a stream for git fast-import.
func put(in *bytes.Buffer, path, content string) {
	fmt.Fprintf(in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
}

// load feeds a stream to git fast-import.
func (r *repository) load(in *bytes.Buffer) {
	r.feed(r.dir, in.Bytes(), "git", "fast-import", "--quiet")
}

func (r *repository) git(args ...string) string { return r.lab.git(r.dir, args...) }

// format is that of its objects.
func (r *repository) format() object.Format {
	return object.NewHash(r.git("rev-parse", "HEAD")).Format()
}

// enable switches recording on as `git agent-turn init` does, with the client's settings in the
// lab's own home.
func (r *repository) enable() { r.feed(r.dir, nil, r.program, "init") }

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
func (r *repository) change() {
	r.round++
	changed := []int{7, r.files / 2}
	if r.spread {
		changed = []int{2 * r.round % r.files, (2*r.round + 1) % r.files}
	}
	for _, i := range changed {
		check(os.WriteFile(filepath.Join(r.dir, path(i)), []byte(source(i, r.round)), 0o666))
	}
}

// commitAll runs the baseline.
func (r *repository) commitAll() sample {
	s := r.measure(r.dir, nil, nil, "sh", "-c", baseline)
	settle()
	return s
}
