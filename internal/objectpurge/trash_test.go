package objectpurge

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// staged is the state of the branch that is doomed, which the user has staged: its blobs are found, and not written.
func (l *lab) staged(name string) {
	l.t.Helper()
	l.Git("read-tree", name)
}

// keeps are what a tree needs, which is not to go.
func (l *lab) keeps(tree string) {
	l.t.Helper()
	for name := range strings.Lines(l.Git("ls-tree", "-r", "-t", "--format=%(objectname)", tree) + "\n" + tree + "\n") {
		delete(l.doomed, object.NewHash(strings.TrimSpace(name)))
	}
}

// TestTaken: what a git of the user's has found while objects were looked for, and staged or committed, is there
// again; and nothing else is.
func TestTaken(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range shapes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			gittest.Sample(t)
			var tree, older string
			l := newLab(t, func(r *gittest.Repo) {
				tree, older = r.Git("rev-parse", "old^{tree}"), r.Git("rev-parse", "old~2^{tree}")
				tt.shape(r)
			})
			l.staged(tree)
			commit := l.Git("commit-tree", "-m", "mine", older)
			l.Git("update-ref", "refs/heads/again", commit)
			l.all = objects(t, l.Repo)
			report, err := Objects(t.Context(), l.repo, l.doomed, nil)
			gittest.Must(t, err)
			var taken []string
			for _, r := range report.Taken {
				taken = append(taken, string(r.Kind)+" "+r.Ref)
			}
			slices.Sort(taken)
			if want := []string{"index ", "log refs/heads/again", "ref refs/heads/again"}; !slices.Equal(taken, want) {
				t.Errorf("taken: %q, want %q", taken, want)
			}
			l.keeps(tree)
			l.keeps(older)
			if report.Objects != len(l.doomed) {
				t.Errorf("%d are gone of %d", report.Objects, len(l.doomed))
			}
			l.check()
		})
	}
}

// TestTakenOwn: what only the caller's own leads to goes all the same.
func TestTakenOwn(t *testing.T) {
	t.Parallel()
	var tree string
	l := newLab(t, func(r *gittest.Repo) { tree = r.Git("rev-parse", "old^{tree}") })
	l.staged(tree)
	index := filepath.Join(l.repo.GitDir, "index")
	report, err := Objects(t.Context(), l.repo, l.doomed, func(r Root) bool { return r.Path == index })
	if err != nil || len(report.Taken) > 0 {
		t.Errorf("%+v, %v", report, err)
	}
	l.Git("read-tree", "HEAD")
	l.check()
}

// TestTakenBeforeKill: what was put aside by one that was killed is there when the next one looks.
func TestTakenBeforeKill(t *testing.T) {
	t.Parallel()
	var tree string
	l := newLab(t, func(r *gittest.Repo) { tree = r.Git("rev-parse", "old^{tree}") })
	l.staged(tree)
	l.all = objects(t, l.Repo)
	killed := eraser{store: store{l.repo, filepath.Join(l.repo.CommonDir, "objects")}, doomed: l.doomed, gone: make(map[object.Hash]bool)}
	killed.aside = filepath.Join(killed.dir, asideName)
	if _, err := killed.loose(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Try("cat-file", "-e", tree); err == nil {
		t.Fatal("it is not aside")
	}
	if report := l.erase(); len(report.Taken) != 1 {
		t.Errorf("taken: %+v", report.Taken)
	}
	l.keeps(tree)
	l.check()
}

// TestTakenLate: a git that was adding files when they were put aside is waited for.
func TestTakenLate(t *testing.T) {
	t.Parallel()
	var tree string
	l := newLab(t, func(r *gittest.Repo) { tree = r.Git("rev-parse", "old^{tree}") })
	l.staged(tree)
	index := filepath.Join(l.repo.GitDir, "index")
	staged, err := os.ReadFile(index)
	gittest.Must(t, err)
	l.Git("read-tree", "HEAD")
	l.all = objects(t, l.Repo)
	if err := os.WriteFile(index+".lock", nil, 0o666); err != nil { // as git makes it before it looks at files
		t.Fatal(err)
	}
	adding := make(chan error, 1)
	go func() {
		for isFile(store{l.repo, filepath.Join(l.repo.CommonDir, "objects")}.looseFile(object.NewHash(tree))) {
			_, _ = l.Try("rev-parse", "HEAD") // takes a moment
		}
		adding <- errors.Join(os.WriteFile(index+".lock", staged, 0o666), os.Rename(index+".lock", index))
	}()
	report := l.erase()
	gittest.Must(t, <-adding)
	if len(report.Taken) != 1 {
		t.Errorf("taken: %+v", report.Taken)
	}
	l.keeps(tree)
	l.check()
}
