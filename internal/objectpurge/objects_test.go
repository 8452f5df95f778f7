package objectpurge

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

const secret = "hunter2-of-the-lab"

// A lab is a repository with objects that nothing keeps: some with a secret, and some of the user's.
type lab struct {
	*gittest.Repo
	t      testing.TB
	repo   *git.Repo
	doomed map[object.Hash]bool
	all    map[string]string // what all objects are, by name
}

// newLab makes versions of a file, every other one with the secret, so that some are deltas of those.
// shape puts the objects somewhere while a branch still has them.
func newLab(t testing.TB, shape func(r *gittest.Repo)) *lab {
	t.Helper()
	r := gittest.Like(t, "with a secret", versions)
	shape(r)
	r.Git("branch", "-q", "-D", "old", "mine")
	r.Git("reflog", "expire", "--expire=all", "--expire-unreachable=all", "--all")
	return open(t, r)
}

// versions makes the versions of the file, on three branches.
func versions(r *gittest.Repo) {
	r.Git("config", "gc.auto", "0")
	first := make([]string, 300)
	for i := range first {
		first[i] = fmt.Sprintf("line %d of a file that has many", i*i)
	}
	texts := make(map[string][]string) // of f, by branch
	mix := func(branch string, round int, line string) {
		if texts[branch] == nil {
			texts[branch] = slices.Clone(first)
		}
		texts[branch][round*7] = line
		r.Write("f", strings.Join(texts[branch], "\n"))
		r.Write("dir/"+branch, line)
		r.Commit(fmt.Sprint(branch, " ", round))
	}
	for i := range 6 {
		mix("main", i, fmt.Sprint("changed in ", i))
	}
	r.Do("git branch mine; git checkout -q -b old")
	for i := range 6 {
		mix("old", 10+i, fmt.Sprint("password=", secret, i))
	}
	r.Git("checkout", "-q", "mine")
	for i := range 3 {
		mix("mine", 20+i, fmt.Sprint("what the user has thrown away ", i))
	}
	r.Git("checkout", "-q", "main")
	for i := range 6 {
		mix("main", 30+i, fmt.Sprint("changed later in ", i))
	}
	r.Pipe("what nothing names", "hash-object", "-w", "--stdin")
}

func open(t testing.TB, r *gittest.Repo) *lab {
	t.Helper()
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	l := &lab{Repo: r, t: t, repo: repo, doomed: make(map[object.Hash]bool), all: objects(t, r)}
	secrets := make(map[object.Hash]bool)
	for name, content := range l.all {
		if strings.HasPrefix(content, "blob") && strings.Contains(content, secret) {
			secrets[object.NewHash(name)] = true
		}
	}
	if len(secrets) == 0 {
		t.Fatal("the secret is nowhere")
	}
	leading, err := FindReferrers(t.Context(), repo, secrets)
	gittest.Must(t, err)
	l.doomed = leading.Without(nil)
	return l
}

// objects reads all objects, those of alternates left out.
func objects(t testing.TB, r *gittest.Repo) map[string]string {
	t.Helper()
	out := r.Pipe("", "cat-file", "--batch-all-objects", "--batch")
	out += "\n"
	all := make(map[string]string)
	for out != "" {
		head, rest, _ := strings.Cut(out, "\n")
		var name, kind string
		var size int
		if _, err := fmt.Sscan(head, &name, &kind, &size); err != nil {
			t.Fatalf("%q: %v", head, err)
		}
		all[name] = kind + " " + rest[:size]
		out = rest[size+1:]
	}
	return all
}

func (l *lab) erase() Result {
	l.t.Helper()
	report, err := Objects(l.t.Context(), l.repo, l.doomed, nil)
	gittest.Must(l.t, err)
	return report
}

// check compares with what should be left.
func (l *lab) check() {
	l.t.Helper()
	want := maps.Clone(l.all)
	for h := range l.doomed {
		delete(want, h.String())
	}
	got := objects(l.t, l.Repo)
	for name := range want {
		if got[name] != want[name] {
			l.t.Errorf("%s is lost or another one: %.60q", name, want[name])
		}
	}
	for name, content := range got {
		if _, wanted := want[name]; !wanted {
			l.t.Errorf("%s is left: %.60q", name, content)
		}
	}
	if out, err := l.Try("fsck", "--full", "--no-dangling"); err != nil || out != "" {
		l.t.Errorf("fsck: %v\n%s", err, out)
	}
	for _, pattern := range []string{"tmp_*", asideName, "pack/tmp_*", "pack/*.lock", "info/*.lock", "info/commit-graphs/*.lock"} {
		if left, _ := filepath.Glob(filepath.Join(l.repo.CommonDir, "objects", pattern)); len(left) > 0 {
			l.t.Errorf("left behind: %q", left)
		}
	}
}

func glob(l *lab, pattern string) []string {
	files, err := filepath.Glob(filepath.Join(l.repo.CommonDir, "objects", "pack", pattern))
	gittest.Must(l.t, err)
	return files
}

// shapes are ways in which a repository can have its objects.
var shapes = []struct {
	name  string
	shape func(r *gittest.Repo)
}{
	{"loose", func(*gittest.Repo) {}},
	{"one pack", func(r *gittest.Repo) { r.Git("repack", "-adfq", "--depth=50") }},
	{"loose and packed", func(r *gittest.Repo) { r.Git("repack", "-aq") }},
	{"packs", func(r *gittest.Repo) {
		for _, rev := range []string{"main~6", "old~3", "mine", "main", "old"} {
			r.Pipe(rev+"\n", "pack-objects", "-q", "--revs", ".git/objects/pack/pack")
		}
		r.Git("prune-packed")
	}},
	{"reverse index", func(r *gittest.Repo) { r.Git("-c", "pack.writeReverseIndex=true", "repack", "-adfq") }},
	{"index of version 1", func(r *gittest.Repo) { r.Git("-c", "pack.indexVersion=1", "repack", "-adfq") }},
	{"packs of limited size", func(r *gittest.Repo) {
		r.Do("git repack -adfq; git config pack.packSizeLimit 1m")
	}},
	{"multi-pack index", func(r *gittest.Repo) {
		r.Do("git repack -dq; more:more; commit more; git repack -dq; git multi-pack-index write")
	}},
	{"multi-pack index with a bitmap", func(r *gittest.Repo) { r.Git("repack", "-adfq", "--write-midx", "--write-bitmap-index") }},
	{"bitmap", func(r *gittest.Repo) { r.Git("repack", "-adfbq") }},
	{"commit-graph", func(r *gittest.Repo) {
		r.Do("git repack -adfq; git commit-graph write --reachable --changed-paths")
	}},
	{"commit-graph chain", func(r *gittest.Repo) {
		for range 3 {
			r.Do("git commit-graph write --reachable --split=no-merge; commit more")
		}
	}},
	{"linked worktree", func(r *gittest.Repo) {
		r.Git("repack", "-adfq")
		r.Git("worktree", "add", "-q", "--detach", filepath.Join(filepath.Dir(r.Dir), "linked"))
	}},
	{"cruft", func(r *gittest.Repo) {
		r.Git("branch", "-q", "-D", "old", "mine")
		r.Git("reflog", "expire", "--expire=all", "--expire-unreachable=all", "--all")
		then := time.Unix(1500000000, 0)
		_ = filepath.WalkDir(filepath.Join(r.Dir, ".git", "objects"), func(path string, _ fs.DirEntry, err error) error {
			return os.Chtimes(path, then, then)
		})
		r.Git("repack", "--cruft", "-dq")
		r.Git("branch", "old") // removed again
		r.Git("branch", "mine")
	}},
	{"kept", func(r *gittest.Repo) {
		r.Git("repack", "-adfq")
		packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git", "objects", "pack", "*.pack"))
		r.Write(strings.TrimPrefix(strings.TrimSuffix(packs[0], ".pack"), r.Dir)+".keep", "the user's reason\n")
	}},
	{"read-only", func(r *gittest.Repo) {
		r.Git("repack", "-adfq")
		files, _ := filepath.Glob(filepath.Join(r.Dir, ".git", "objects", "pack", "*"))
		for _, file := range files {
			_ = os.Chmod(file, 0o400)
		}
	}},
	{"a pack of doomed objects alone", func(r *gittest.Repo) {
		r.Pipe("old\n^main\n^mine\n", "pack-objects", "-q", "--revs", ".git/objects/pack/pack")
		r.Do("git prune-packed; git multi-pack-index write; git repack -dq")
	}},
	{"a multi-pack index of doomed objects alone", func(r *gittest.Repo) {
		r.Pipe("old\n^main\n^mine\n", "pack-objects", "-q", "--revs", ".git/objects/pack/pack")
		r.Do("git prune-packed; git multi-pack-index write")
	}},
	{"an index without its pack", func(r *gittest.Repo) {
		r.Git("repack", "-adfq")
		packs, _ := filepath.Glob(filepath.Join(r.Dir, ".git", "objects", "pack", "*.idx"))
		b, err := os.ReadFile(packs[0])
		if err == nil {
			err = os.WriteFile(filepath.Join(filepath.Dir(packs[0]), "pack-1234567890123456789012345678901234567890.idx"), b, 0o444)
		}
		if err != nil {
			panic(err)
		}
	}},
	{"times of long ago", func(r *gittest.Repo) {
		r.Git("repack", "-adfq")
		then := time.Unix(1500000000, 0)
		_ = filepath.WalkDir(filepath.Join(r.Dir, ".git", "objects"), func(path string, _ fs.DirEntry, err error) error {
			return os.Chtimes(path, then, then)
		})
	}},
}

// TestObjects: in every kind of repository the doomed objects go, and every other one stays as it was.
func TestObjects(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, tt := range shapes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := newLab(t, tt.shape)
			tables, places := l.tables(), l.places()
			report := l.erase()
			l.check()
			if report.Objects != len(l.doomed) || report.Loose+report.Packs == 0 {
				t.Errorf("%d are gone of %d, %+v", report.Objects, len(l.doomed), report)
			}
			if now := l.tables(); !slices.Equal(now, tables) && len(glob(l, "*.idx")) > 0 {
				t.Errorf("tables %q, and there were %q", now, tables)
			}
			now := l.places()
			for h, were := range places {
				if now[h] == "" || !subset(now[h], were) { // two packs may have become the same one
					t.Errorf("%s is %q\nand was %q", h, now[h], were)
				}
			}
			if again := l.erase(); again.Objects+again.Loose+again.Packs != 0 {
				t.Errorf("again: %+v", again)
			}
			l.check()
		})
	}
}

// tables are those that git makes beside the packs, without bitmaps.
func (l *lab) tables() (names []string) {
	for _, name := range []string{"pack/multi-pack-index", "info/commit-graph", "info/commit-graphs/commit-graph-chain"} {
		if isFile(filepath.Join(l.repo.CommonDir, "objects", name)) {
			names = append(names, name)
		}
	}
	if files := glob(l, "*.rev"); len(files) > 0 {
		names = append(names, "reverse index")
	}
	return names
}

// places says of each object that is not doomed which files have it: their times, what a person has
// written beside a pack, and the object's own time in a cruft pack.
func (l *lab) places() map[string]string {
	l.t.Helper()
	places := make(map[string]string)
	add := func(h object.Hash, format string, args ...any) {
		if !l.doomed[h] {
			places[h.String()] += fmt.Sprintf(format, args...) + "\n"
		}
	}
	s := store{l.repo, filepath.Join(l.repo.CommonDir, "objects")}
	for name := range l.all {
		if info, err := os.Stat(s.looseFile(object.NewHash(name))); err == nil {
			add(object.NewHash(name), "loose %d", info.ModTime().UnixNano())
		}
	}
	names, err := s.packNames()
	for _, name := range names {
		base := filepath.Join(s.packDir(), name)
		info, statErr := os.Stat(base + ".pack")
		if statErr != nil {
			continue
		}
		keep, _ := os.ReadFile(base + ".keep")
		mtimes, e := readMtimes(base+".mtimes", s.repo.Format())
		if err == nil {
			err = e
		}
		if err == nil {
			var list []git.PackEntry
			list, err = s.entries(l.t.Context(), name)
			for i, o := range list {
				own := uint32(0)
				if mtimes != nil {
					own = mtimes[i]
				}
				add(o.Hash, "packed %d, kept %q, promised %t, cruft %t of %d", info.ModTime().UnixNano(), keep, isFile(base+".promisor"), mtimes != nil, own)
			}
		}
	}
	gittest.Must(l.t, err)
	return places
}

func subset(some, all string) bool {
	for line := range strings.Lines(some) {
		if !strings.Contains(all, line) {
			return false
		}
	}
	return true
}

// TestPartialClone: what is erased from a partial clone is not fetched back, neither by looking for it nor
// by searching for it.
func TestPartialClone(t *testing.T) {
	t.Parallel()
	origin := newLab(t, func(r *gittest.Repo) { r.Git("tag", "keep", "old") })
	origin.Do("git config uploadpack.allowFilter true; git config uploadpack.allowAnySHA1InWant true")
	dir := filepath.Join(filepath.Dir(origin.Dir), "partial")
	origin.Git("clone", "-q", "--filter=blob:none", "--no-tags", "file://"+origin.Dir, dir)
	r := origin.In(dir)
	r.Git("fetch", "-q", "origin", "tag", "keep")
	r.Git("checkout", "-q", "keep") // fetches the blobs of one state
	r.Do("git checkout -q main; git tag -d keep")
	r.Git("reflog", "expire", "--expire=all", "--expire-unreachable=all", "--all")
	gittest.Must(t, os.Remove(filepath.Join(dir, ".git", "FETCH_HEAD")))
	l := open(t, r)
	places := l.places()
	promised := 0
	for _, at := range places {
		if strings.Contains(at, "promised true") {
			promised++
		}
	}
	l.erase()
	l.check()
	if now := l.places(); !maps.Equal(now, places) || promised == 0 {
		t.Errorf("%d were promised; places %q, and they were %q", promised, now, places)
	}
	found, err := Search(t.Context(), l.repo, has)
	if err != nil || len(found.Found) > 0 {
		t.Errorf("found %+v, %v", found, err)
	}
	leading, err := FindReferrers(t.Context(), l.repo, l.doomed)
	if err == nil {
		_, err = leading.Roots(t.Context(), l.repo, has)
	}
	gittest.Must(t, err)
	l.check()
}

// TestAlternates: what another repository lends is named and stays, also in the one that lends it.
func TestAlternates(t *testing.T) {
	t.Parallel()
	lender := newLab(t, func(r *gittest.Repo) { r.Git("repack", "-adfq") })
	r := gittest.New(t)
	objectsDir := filepath.Join(lender.repo.CommonDir, "objects")
	r.Write(".git/objects/info/alternates", "# a comment\n"+objectsDir+"\n")
	r.Git("reset", "-q", "--hard", lender.Git("rev-parse", "main"))
	r.Write("own", secret)
	r.Do("commit own; git reset -q --hard HEAD~1")
	r.Git("repack", "-adfq") // borrows nothing any more
	r.Git("reflog", "expire", "--expire=all", "--expire-unreachable=all", "--all")
	r.Git("update-ref", "-d", "ORIG_HEAD")
	l := open(t, r)
	report := l.erase()
	if !slices.Equal(report.Elsewhere, []string{objectsDir}) {
		t.Errorf("elsewhere %q", report.Elsewhere)
	}
	found, err := Search(t.Context(), l.repo, has)
	if err != nil || len(found.Found) == 0 {
		t.Fatalf("found %+v, %v", found, err)
	}
	for _, f := range found.Found {
		if !f.Elsewhere {
			t.Errorf("left here: %+v", f)
		}
	}
	lender.doomed = nil
	lender.check()
	own := l.Git("count-objects", "-v")
	if !strings.Contains(own, "count: 0\n") {
		t.Errorf("loose objects are left:\n%s", own)
	}
}

// TestOpenPack: a git that has a pack open reads on when that was written anew.
func TestOpenPack(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(r *gittest.Repo) { r.Git("repack", "-adfq") })
	cmd := exec.Command("git", "cat-file", "--batch-check")
	cmd.Dir, cmd.Env = l.Dir, l.Env
	in, err := cmd.StdinPipe()
	gittest.Must(t, err)
	stdout, err := cmd.StdoutPipe()
	gittest.Must(t, err)
	gittest.Must(t, cmd.Start())
	out := bufio.NewReader(stdout)
	ask := func(name string) {
		_, err := io.WriteString(in, name+"\n")
		line, e := out.ReadString('\n')
		if err != nil || e != nil || strings.HasSuffix(line, "missing\n") {
			t.Errorf("%s: %q, %v, %v", name, line, err, e)
		}
	}
	ask(l.Git("rev-parse", "main"))
	l.erase()
	for name := range l.all {
		if !l.doomed[object.NewHash(name)] {
			ask(name)
		}
	}
	_ = in.Close()
	gittest.Must(t, cmd.Wait())
}

// TestGarbage: what dead writers have left goes if a doomed object is in it, also in a part of a pack, and
// stays otherwise.
func TestGarbage(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(r *gittest.Repo) {})
	dir := filepath.Join(l.repo.CommonDir, "objects")
	write := func(name string, content []byte) string {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o777)
		gittest.Must(t, err)
		gittest.Must(t, os.WriteFile(path, content, 0o444))
		return path
	}
	pack := func(names ...string) []byte {
		out := l.Pipe(strings.Join(names, "\n")+"\n", "pack-objects", "-q", "--stdout")
		return []byte(out)
	}
	var bad, good string
	for name, content := range l.all {
		if strings.HasPrefix(content, "blob password") {
			bad = name
		} else if strings.HasPrefix(content, "blob changed") {
			good = name
		}
	}
	loose := func(name string) []byte {
		b, err := os.ReadFile(store{l.repo, dir}.looseFile(object.NewHash(name)))
		gittest.Must(t, err)
		return b
	}
	cut := pack(bad, good)
	gone := []string{
		write("ab/tmp_obj_1", loose(bad)),
		write("pack/tmp_pack_1", pack(bad)),
		write("pack/tmp_pack_2", cut[:len(cut)-25]),
		write("pack/pack-1111111111111111111111111111111111111111.pack", pack(good, bad)),
		write("tmp_objdir-incoming-1/pack/tmp_pack_3", pack(bad)),
		write("tmp_objdir-incoming-1/ab/cd", loose(bad)),
	}
	stay := []string{
		write("ab/tmp_obj_2", loose(good)),
		write("pack/tmp_pack_4", pack(good)),
		write("pack/tmp_pack_5", []byte("PACK and nothing that can be read")),
		write("pack/pack-2222222222222222222222222222222222222222.pack", pack(good)),
	}
	write("pack/tmp_idx_1", []byte("an index"))
	l.erase()
	for _, file := range gone {
		if isFile(file) {
			t.Errorf("%s is left", file)
		}
	}
	for _, file := range stay {
		if !isFile(file) {
			t.Errorf("%s is gone", file)
		}
	}
	found, err := Search(t.Context(), l.repo, has)
	slices.Sort(stay)
	if err != nil || len(found.Found) > 0 || !slices.Equal(found.Garbage, stay) {
		t.Errorf("found %+v, %v", found, err)
	}
}

// TestCollecting: while a gc runs, which may have read the objects before, it is not said that they are gone.
func TestCollecting(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(*gittest.Repo) {})
	host, err := os.Hostname()
	gittest.Must(t, err)
	l.Write(".git/gc.pid", fmt.Sprint(os.Getpid(), " ", host))
	if _, err := Objects(t.Context(), l.repo, l.doomed, nil); !errors.Is(err, ErrCollecting) {
		t.Errorf("while a gc runs: %v", err)
	}
	l.check()
	gittest.Must(t, os.Remove(filepath.Join(l.Dir, ".git", "gc.pid")))
	l.erase()
	l.check()
}

// leftByGit drops what a git that failed has left, which is its own affair
// unless it has what was erased.
func (l *lab) leftByGit() {
	l.t.Helper()
	dir := filepath.Join(l.repo.CommonDir, "objects")
	e := eraser{store: store{quiet(l.repo), dir}, doomed: l.doomed, temp: filepath.Join(dir, tempName)}
	left, err := filepath.Glob(filepath.Join(dir, "pack", "tmp_pack_??????")) // by git's names, ours are longer
	gittest.Must(l.t, err)
	for _, file := range left {
		doomed, err := e.inGarbage(l.t.Context(), file)
		if doomed || err != nil && !errors.Is(err, fs.ErrNotExist) {
			l.t.Errorf("%s of git has what was erased: %t, %v", file, doomed, err)
		}
		_ = os.Remove(file)
	}
}

// TestBesideGC: a gc that runs at the same time brings nothing back, and loses nothing.
func TestBesideGC(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for n := range gittest.Size(6, 2) {
		l := newLab(t, func(r *gittest.Repo) { r.Git("repack", "-adfq") })
		gc := exec.Command("git", "-c", "gc.pruneExpire=never", "-c", fmt.Sprintf("gc.cruftPacks=%t", n%2 == 0), "gc", "-q")
		gc.Dir, gc.Env = l.Dir, l.Env
		gittest.Must(t, gc.Start())
		ended := make(chan struct{})
		go func() {
			_ = gc.Wait() // it may fail when a pack goes
			close(ended)
		}()
		for i := range n { // at another moment each time
			_ = l.Git("rev-parse", fmt.Sprint("HEAD~", i%5))
		}
		_, err := Objects(t.Context(), l.repo, l.doomed, nil)
		for errors.Is(err, ErrCollecting) {
			_, err = Objects(t.Context(), l.repo, l.doomed, nil)
		}
		gittest.Must(t, err)
		<-ended
		l.leftByGit()
		l.check()
	}
}

// TestAnyName: the path of a repository is no pattern.
func TestAnyName(t *testing.T) {
	t.Parallel()
	r := gittest.Like(t, "with a secret", versions)
	r.Do("git repack -adfq; git branch -q -D old mine")
	r.Git("reflog", "expire", "--expire=all", "--expire-unreachable=all", "--all")
	dir := filepath.Join(filepath.Dir(r.Dir), "[a-c]")
	gittest.Must(t, os.Rename(r.Dir, dir))
	l := open(t, r.In(dir))
	l.erase()
	l.check()
}

// TestChain: of several multi-pack indexes, as git 2.47 can write them, none names a pack that is gone.
func TestChain(t *testing.T) {
	t.Parallel()
	l := newLab(t, func(r *gittest.Repo) { r.Git("repack", "-adfq") })
	l.Write(".git/objects/pack/multi-pack-index.d/multi-pack-index-chain", gittest.Hash("1")+"\n")
	l.erase()
	l.check()
	if left := glob(l, "multi-pack-index.d"); len(left) > 0 || len(glob(l, "multi-pack-index")) != 1 {
		t.Errorf("left: %q", left)
	}
}

// TestPadded: a tree of the user's whose modes begin with a zero, as old programs wrote them, keeps what it needs.
func TestPadded(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	feed := func(text string, args ...string) string {
		t.Helper()
		return r.Pipe(text, args...)
	}
	blob := feed(secret, "hash-object", "-w", "--stdin")
	below := object.NewHash(feed("100644 blob "+blob+"\tf\n", "mktree"))
	tree := feed("040000 dir\x00"+string(below.Bytes()), "hash-object", "-t", "tree", "-w", "--literally", "--stdin")
	r.Git("update-ref", "refs/heads/mine", r.Git("commit-tree", "-m", "mine", tree))
	repo, err := git.Find(r.Dir)
	gittest.Must(t, err)
	leading, err := FindReferrers(t.Context(), repo, map[object.Hash]bool{object.NewHash(blob): true})
	gittest.Must(t, err)
	roots, err := leading.Roots(t.Context(), repo, nil)
	if err != nil || !slices.ContainsFunc(roots, func(r Root) bool { return r.Kind == Ref && r.Ref == "refs/heads/mine" }) {
		t.Errorf("what keeps it is %+v, %v", roots, err)
	}
	if goes := leading.Without(roots); len(goes) > 0 {
		t.Errorf("%v would go", goes)
	}
}
