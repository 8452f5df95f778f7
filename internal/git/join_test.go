package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// chain writes a pack for each of n commits, one on the other, of a large directory in which a file changes.
func chain(t testing.TB, repo *Repo, from, n int, last object.Hash) (all []object.Hash, tip object.Hash) {
	t.Helper()
	files := make(map[string]object.Entry)
	for i := range 100 {
		h := tested.Object(plumbing.BlobObject, fmt.Append(nil, i))
		files[fmt.Sprintf("dir/file%03d", i)] = object.Entry{Mode: 0o100644, Hash: h}
	}
	for i := range n {
		o := repo.Objects(context.Background())
		for k := range 100 {
			if _, err := o.Write(plumbing.BlobObject, fmt.Append(nil, k)); err != nil {
				t.Fatal(err)
			}
			if from+i > 0 || n == 1 { // the others are there already
				break
			}
		}
		text := strings.Repeat("a line of the file\n", 100) + fmt.Sprint(from+i)
		one, err := o.Write(plumbing.BlobObject, []byte(text))
		gittest.Must(t, err)
		large, err := o.Write(plumbing.BlobObject, bytes.Repeat(fmt.Appendf(nil, "%d of a conversation\n", from+i), 2000))
		gittest.Must(t, err)
		files["dir/file050"] = object.Entry{Mode: 0o100644, Hash: one}
		files["large"] = object.Entry{Mode: 0o100644, Hash: large}
		tree, err := o.EditTree(object.Hash{}, files)
		gittest.Must(t, err)
		var parents []object.Hash
		if !last.IsZero() {
			parents = []object.Hash{last}
		}
		last, err = o.CommitTree(tree, parents, object.Signature{Name: "Dev", Email: "dev@example.invalid"}, object.Signature{Name: "Dev", Email: "dev@example.invalid"}, fmt.Sprint("commit ", from+i))
		gittest.Must(t, err)
		gittest.Must(t, o.Flush())
		o.Close()
		all = append(all, one, large, tree, last)
	}
	return all, last
}

// bases returns the names of packs from those of their files.
func bases(names []string) (list []string) {
	for _, n := range names {
		list = append(list, strings.TrimSuffix(filepath.Base(n), filepath.Ext(n)))
	}
	return list
}

func TestJoin(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	all, tip := chain(t, repo, 0, manyYoung, object.Hash{}) // the first pack is no young one
	gittest.Must(t, Join(ctx, repo))
	if n := len(packs(t, repo, ".idx")); n != manyYoung {
		t.Fatalf("%d packs: fewer than %d young ones were joined", n, manyYoung)
	}
	o := repo.Objects(ctx) // a reader that has listed the packs
	defer o.Close()
	_ = o.Has(object.Hash{})
	more, tip := chain(t, repo, manyYoung, 1, tip)
	all = append(all, more...)
	young, err := youngPacks(repo)
	gittest.Must(t, err)
	if len(young) != manyYoung {
		t.Fatalf("%d young packs", len(young))
	}
	gittest.Must(t, Join(ctx, repo))
	fresh, old := readOldPacks(repo, joinedPacksFile)
	if len(old) != manyYoung || len(packs(t, repo, ".idx")) != manyYoung+2 {
		t.Errorf("%d packs, %d replaced, want the old ones to wait", len(packs(t, repo, ".idx")), len(old))
	}
	present(t, r, all)
	verify := r.Git("verify-pack", "-v", filepath.Join(packDir(repo), fresh+".idx"))
	for _, want := range []string{"chain length = 1", "chain length = 2", "chain length = 3"} {
		if !strings.Contains(verify, want) {
			t.Errorf("no %s in\n%s", want, verify)
		}
	}
	size := func(name string) int64 {
		info, err := os.Stat(filepath.Join(packDir(repo), name+".pack"))
		gittest.Must(t, err)
		return info.Size()
	}
	if one := size(old[0]); size(fresh) > 2*one {
		t.Errorf("%d bytes, and one of the packs has %d", size(fresh), one)
	}
	// A reader of ours goes through the deltas.
	again := repo.Objects(ctx)
	defer again.Close()
	for _, h := range all {
		if !again.Stored(h) {
			t.Errorf("%s is in no small pack", h)
		}
		obj, err := again.object(h, 1<<20)
		gittest.Must(t, err)
		if tested.Object(obj.Type, obj.Content) != h {
			t.Errorf("%s is read as something else", h)
		}
	}
	// The next ones take their place.
	more, tip = chain(t, repo, manyYoung+1, manyYoung, tip)
	all = append(all, more...)
	gittest.Must(t, Join(ctx, repo))
	for _, name := range old {
		if isFile(filepath.Join(packDir(repo), name+".pack")) || isFile(filepath.Join(packDir(repo), name+".idx")) {
			t.Errorf("%s is there, though another join has come", name)
		}
	}
	if !isFile(filepath.Join(packDir(repo), fresh+".pack")) {
		t.Error("what was joined is gone")
	}
	r.Git("update-ref", "refs/heads/chain", tip.String())
	present(t, r, all)
	for _, h := range all {
		if _, err := o.object(h, 1<<20); err != nil {
			t.Errorf("reading goes on with %v", err)
		}
	}
	if out := r.Git("count-objects", "-v"); !strings.Contains(out, "garbage: 0") {
		t.Errorf("there is garbage: %s", out)
	}
}

// Of what was joined, nothing is lost with the note, nor joined with what is no longer there.
func TestJoinForgotten(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	hashes := manyPacks(t, repo, manyYoung)
	gittest.Must(t, Join(ctx, repo))
	gittest.Must(t, agentDir(repo).Remove(joinedPacksFile)) // as if it had been killed before
	gittest.Must(t, Join(ctx, repo))
	fresh, _ := readOldPacks(repo, joinedPacksFile)
	gittest.Must(t, os.Remove(filepath.Join(packDir(repo), fresh+".pack"))) // as if git had repacked
	gittest.Must(t, os.Remove(filepath.Join(packDir(repo), fresh+".idx")))
	gittest.Must(t, Join(ctx, repo))
	present(t, r, hashes)
}

// What is not joined.
func TestJoinLeaves(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	ctx := context.Background()
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, repo *Repo, pack string) // with the path of one of the packs, without extension
		left []string                                    // extensions that this one still has then
		none bool                                        // nothing is joined
	}{
		{"all are young", func(*testing.T, *Repo, string) {}, nil, false},
		{"one is kept", func(t *testing.T, _ *Repo, pack string) {
			gittest.Must(t, os.WriteFile(pack+".keep", nil, 0o666))
		}, []string{".pack", ".idx", ".keep"}, false},
		{"one is a promisor's", func(t *testing.T, _ *Repo, pack string) {
			gittest.Must(t, os.WriteFile(pack+".promisor", nil, 0o666))
		}, []string{".pack", ".idx", ".promisor"}, false},
		{"one is damaged", func(t *testing.T, _ *Repo, pack string) {
			data, err := os.ReadFile(pack + ".pack")
			gittest.Must(t, err)
			data[len(data)/2] ^= 0x40
			gittest.Must(t, os.Chmod(pack+".pack", 0o666))
			gittest.Must(t, os.WriteFile(pack+".pack", data, 0o666))
		}, []string{".pack", ".idx"}, false},
		{"one is cut", func(t *testing.T, _ *Repo, pack string) {
			gittest.Must(t, os.Chmod(pack+".pack", 0o666))
			gittest.Must(t, os.Truncate(pack+".pack", 40))
		}, []string{".pack", ".idx"}, false},
		{"git collects garbage", func(t *testing.T, repo *Repo, _ string) {
			host, err := os.Hostname()
			gittest.Must(t, err)
			gittest.Must(t, os.WriteFile(filepath.Join(repo.CommonDir, "gc.pid"), fmt.Appendf(nil, "%d %s", os.Getpid(), host), 0o666))
		}, nil, true},
		{"a roll-up or a purge is at work", func(t *testing.T, repo *Repo, _ string) {
			held, err := agentDir(repo).TryLock(filepath.Join("locks", "packs"))
			gittest.Must(t, err)
			t.Cleanup(func() { (*statedir.Lock).Release(held) })
		}, nil, true},
		{"a multi-pack index has them", func(t *testing.T, repo *Repo, _ string) {
			_, err := repo.Output(ctx, nil, "multi-pack-index", "write")
			gittest.Must(t, err)
		}, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			repo := find(t, r)
			manyPacks(t, repo, 2*manyYoung)
			young, err := youngPacks(repo)
			gittest.Must(t, err)
			one := filepath.Join(packDir(repo), young[3])
			tt.do(t, repo, one)
			gittest.Must(t, Join(ctx, repo))
			_, old := readOldPacks(repo, joinedPacksFile)
			if tt.none != (len(old) == 0) {
				t.Errorf("%d packs were joined", len(old))
			}
			for _, ext := range tt.left {
				if !isFile(one + ext) {
					t.Errorf("%s is gone", ext)
				}
			}
			if tt.left != nil && (len(old) != 2*manyYoung-1 || strings.Contains(strings.Join(old, " "), young[3])) {
				t.Errorf("joined were %q, and %s among them or too few", old, young[3])
			}
			for _, name := range old {
				if !isFile(filepath.Join(packDir(repo), name+".idx")) {
					t.Errorf("%s has not waited", name)
				}
			}
		})
	}
}

// Packs that git has made, with deltas of its own, are joined as well.
func TestJoinOfGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	var all []object.Hash
	for i := range manyYoung {
		text := strings.Repeat(fmt.Sprintln("line", i), 200)
		hashes := flushed(t, repo, text, text+"more\n", text+"and more\n", strings.Repeat("z", 20<<10)+text)
		all = append(all, hashes...)
	}
	for _, name := range bases(packs(t, repo, ".idx")) {
		list, err := repo.PackEntries(ctx, filepath.Join(packDir(repo), name))
		gittest.Must(t, err)
		var in strings.Builder
		for _, e := range list {
			in.WriteString(e.Hash.String() + "\n")
		}
		_, err = r.Feed(in.String(), "pack-objects", "-q", "--no-reuse-object", filepath.Join(packDir(repo), "pack"))
		gittest.Must(t, err)
		for _, ext := range []string{".pack", ".idx"} {
			gittest.Must(t, os.Remove(filepath.Join(packDir(repo), name+ext)))
		}
	}
	gittest.Must(t, Join(ctx, repo))
	fresh, old := readOldPacks(repo, joinedPacksFile)
	if len(old) != manyYoung {
		t.Fatalf("%d packs were joined", len(old))
	}
	r.Git("verify-pack", filepath.Join(packDir(repo), fresh+".idx"))
	present(t, r, all)
}

// A directory in the place of the note goes.
func TestJoinNoteIsDirectory(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	all, _ := chain(t, repo, 0, manyYoung+1, object.Hash{})
	gittest.Must(t, os.MkdirAll(filepath.Join(agentDir(repo).Path(joinedPacksFile), "sub"), 0o700))
	gittest.Must(t, Join(context.Background(), repo))
	if _, old := readOldPacks(repo, joinedPacksFile); len(old) != manyYoung {
		t.Errorf("%d packs are noted as replaced", len(old))
	}
	present(t, r, all)
}

// Packs of an import are gathered as they are.
func TestGather(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	var all []object.Hash
	for i := range 2 * maxSmallPacks {
		o := repo.Objects(ctx)
		for n := range manyObjects {
			h, err := o.Write(plumbing.BlobObject, fmt.Append(nil, "of all ", n%8, "of one ", i, n))
			gittest.Must(t, err)
			all = append(all, h)
		}
		h, err := o.Write(plumbing.BlobObject, []byte("in all packs"))
		gittest.Must(t, err)
		all = append(all, h)
		gittest.Must(t, o.Flush())
		o.Close()
	}
	gittest.Must(t, Join(ctx, repo)) // none is young
	if n := len(packs(t, repo, ".idx")); n != 2*maxSmallPacks {
		t.Errorf("%d packs", n)
	}
	gittest.Must(t, Gather(ctx, repo))
	fresh, old := readOldPacks(repo, joinedPacksFile)
	if len(old) != 2*maxSmallPacks || len(packs(t, repo, ".idx")) != 2*maxSmallPacks+1 {
		t.Errorf("%d packs, %d replaced", len(packs(t, repo, ".idx")), len(old))
	}
	gittest.Must(t, Gather(ctx, repo)) // again there is nothing to do
	if again, _ := readOldPacks(repo, joinedPacksFile); again != fresh {
		t.Error("it was gathered again")
	}
	r.Git("verify-pack", filepath.Join(packDir(repo), fresh+".idx"))
	present(t, r, all)
	anHour := time.Now().Add(-oldPacksWait)
	gittest.Must(t, os.Chtimes(agentDir(repo).Path(joinedPacksFile), anHour, anHour))
	if !RollUpDue(repo) {
		t.Error("not due, though they have waited")
	}
	gittest.Must(t, RollUp(ctx, repo))
	if n := len(packs(t, repo, ".idx")); n != 1 {
		t.Errorf("%d packs", n)
	}
	present(t, r, all)
}

// What git has packed is gathered with its deltas, also of what is in two packs.
func TestGatherDeltas(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	var names []string
	var tip object.Hash
	all, tip := chain(t, repo, 0, 2, tip)
	for i := range 4 {
		var more []object.Hash
		more, tip = chain(t, repo, 2+2*i, 2, tip)
		all = append(all, more...)
		var in strings.Builder
		for _, h := range all[4*i:] { // those before, too
			in.WriteString(h.String() + "\n")
		}
		args := []string{"pack-objects", "-q", filepath.Join(packDir(repo), "pack")}
		if i%2 == 0 {
			args = slices.Insert(args, 1, "--delta-base-offset")
		}
		out, err := r.Feed(in.String(), args...)
		gittest.Must(t, err)
		names = append(names, "pack-"+strings.TrimSpace(out))
	}
	gittest.Must(t, join(ctx, repo, names, maxGathered, false))
	fresh, old := readOldPacks(repo, joinedPacksFile)
	if len(old) != len(names) {
		t.Fatalf("%d were joined", len(old))
	}
	if out := r.Git("verify-pack", "-v", filepath.Join(packDir(repo), fresh+".idx")); !strings.Contains(out, "chain length = 1") {
		t.Errorf("there are no deltas in\n%s", out)
	}
	o := repo.Objects(ctx)
	defer o.Close()
	for _, h := range all {
		if obj, err := o.object(h, 1<<20); err != nil || tested.Object(obj.Type, obj.Content) != h {
			t.Errorf("%s is read as something else (%v)", h, err)
		}
	}
	present(t, r, all)
}
