package git

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// flushed writes a pack of blobs that nothing refers to, and returns their hashes.
func flushed(t testing.TB, repo *Repo, contents ...string) []object.Hash {
	t.Helper()
	o := repo.Objects(context.Background())
	defer o.Close()
	var hashes []object.Hash
	for _, c := range contents {
		h, err := o.Write(plumbing.BlobObject, []byte(c))
		gittest.Must(t, err)
		hashes = append(hashes, h)
	}
	gittest.Must(t, o.Flush())
	return hashes
}

// manyPacks writes n packs of three blobs each.
func manyPacks(t testing.TB, repo *Repo, n int) []object.Hash {
	t.Helper()
	var hashes []object.Hash
	for i := range n {
		hashes = append(hashes, flushed(t, repo, fmt.Sprint("one ", i), strings.Repeat(fmt.Sprint("two ", i, "\n"), 100), "in all packs")...)
	}
	return hashes
}

// packs returns the names in objects/pack that end in ext.
func packs(t testing.TB, repo *Repo, ext string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(repo.CommonDir, "objects/pack/*"+ext))
	gittest.Must(t, err)
	return names
}

// present fails the test if git does not find an object or finds the repository broken.
func present(t testing.TB, r *gittest.Repo, hashes []object.Hash) {
	t.Helper()
	var in strings.Builder
	for _, h := range hashes {
		in.WriteString(h.String() + "\n")
	}
	out, err := r.Feed(in.String(), "cat-file", "--batch-check")
	gittest.Must(t, err)
	if n := strings.Count(out, " missing"); n > 0 {
		t.Errorf("%d of %d objects are missing", n, len(hashes))
	}
	r.Git("fsck", "--strict", "--no-dangling", "--no-progress")
}

// anHourLater makes the packs that the last roll-up has replaced an hour old.
func anHourLater(t testing.TB, repo *Repo) {
	t.Helper()
	old := time.Now().Add(-oldPacksWait)
	gittest.Must(t, os.Chtimes(agentDir(repo).Path(oldPacksFile), old, old))
}

// rollUpTwice rolls up, and an hour later removes the packs that were replaced.
func rollUpTwice(t testing.TB, repo *Repo) {
	t.Helper()
	gittest.Must(t, RollUp(context.Background(), repo))
	anHourLater(t, repo)
	gittest.Must(t, RollUp(context.Background(), repo))
}

func TestRollUp(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	ctx := context.Background()
	hashes := manyPacks(t, repo, maxSmallPacks)
	if RollUpDue(repo) {
		t.Error("due at the limit")
	}
	gittest.Must(t, RollUp(ctx, repo))
	if n := len(packs(t, repo, ".pack")); n != maxSmallPacks {
		t.Errorf("%d packs, want them left alone", n)
	}
	o := repo.Objects(ctx) // a reader that began earlier
	defer o.Close()
	_ = o.Has(object.Hash{})
	hashes = append(hashes, manyPacks(t, repo, 2*maxSmallPacks)...)
	if !RollUpDue(repo) {
		t.Error("not due")
	}
	gittest.Must(t, RollUp(ctx, repo))
	if n := len(packs(t, repo, ".pack")); n != 2*maxSmallPacks+1 {
		t.Errorf("%d packs, want the old ones to wait beside the new one", n)
	}
	if RollUpDue(repo) {
		t.Error("due again, for packs that wait")
	}
	gittest.Must(t, RollUp(ctx, repo))
	if n := len(packs(t, repo, ".pack")); n != 2*maxSmallPacks+1 {
		t.Errorf("%d packs: old ones did not wait", n)
	}
	anHourLater(t, repo)
	if !RollUpDue(repo) {
		t.Error("not due, though the old packs have waited")
	}
	gittest.Must(t, RollUp(ctx, repo))
	if n := len(packs(t, repo, "")) - len(packs(t, repo, ".rev")); n != 2 {
		t.Errorf("%q, want one pack with its index", packs(t, repo, ""))
	}
	if RollUpDue(repo) {
		t.Error("due again")
	}
	present(t, r, hashes)
	for _, h := range hashes {
		if _, err := o.Blob(h, 1<<30); err != nil {
			t.Errorf("reading goes on with %v", err)
		}
	}
	if out := r.Git("count-objects", "-v"); !strings.Contains(out, "garbage: 0") {
		t.Errorf("there is garbage: %s", out)
	}
}

// Packs that nothing joins soon are rolled up when there are fewer.
func TestRollUpIdle(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	hashes := manyPacks(t, repo, maxIdlePacks+2)
	for i, name := range packs(t, repo, ".pack")[1:] {
		if RollUpDue(repo) {
			t.Errorf("due with %d packs of an hour ago", i)
		}
		old := time.Now().Add(-oldPacksWait)
		gittest.Must(t, os.Chtimes(name, old, old))
	}
	if !RollUpDue(repo) {
		t.Error("not due")
	}
	rollUpTwice(t, repo)
	if n := len(packs(t, repo, ".pack")); n != 1 {
		t.Errorf("%d packs, want one", n)
	}
	present(t, r, hashes)
}

// The new pack may already exist.
func TestRollUpIntoItself(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	hashes := manyPacks(t, repo, 2*maxSmallPacks)
	rollUpTwice(t, repo)
	same := false
	for range 3 {
		one := packs(t, repo, ".pack")
		for i := range maxSmallPacks { // what the one pack holds, again
			flushed(t, repo, fmt.Sprint("one ", i))
		}
		for _, name := range packs(t, repo, ".pack") {
			if old := time.Now().Add(-time.Hour); name != one[0] { // git begins with the newest
				gittest.Must(t, os.Chtimes(name, old, old))
			}
		}
		rollUpTwice(t, repo)
		got := packs(t, repo, ".pack")
		if len(got) != 1 {
			t.Fatalf("%q, want one pack", got)
		}
		same = same || got[0] == one[0]
		present(t, r, hashes)
	}
	if !same {
		t.Fatal("the result was never a pack that was there already, so this tests nothing")
	}
}

func TestRollUpLeavesAlone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	for _, ext := range []string{".keep", ".promisor", ".mtimes", ".bitmap"} {
		t.Run(ext, func(t *testing.T) {
			t.Parallel()
			r := gittest.New(t)
			repo := find(t, r)
			flushed(t, repo, "special")
			special := strings.TrimSuffix(packs(t, repo, ".pack")[0], ".pack")
			gittest.Must(t, os.WriteFile(special+ext, nil, 0o666))
			manyPacks(t, repo, 2*maxSmallPacks)
			rollUpTwice(t, repo)
			if n := len(packs(t, repo, ".pack")); n != 2 || !isFile(special+".pack") || !isFile(special+".idx") {
				t.Errorf("%q, want the special one and the new one", packs(t, repo, ""))
			}
		})
	}
	t.Run("large", func(t *testing.T) {
		t.Parallel()
		r := gittest.New(t)
		repo := find(t, r)
		random := make([]byte, maxRolledPack)
		for i := range random {
			random[i] = byte(rand.Uint32())
		}
		hashes := flushed(t, repo, string(random))
		large := packs(t, repo, ".pack")[0]
		hashes = append(hashes, manyPacks(t, repo, 2*maxSmallPacks)...)
		rollUpTwice(t, repo)
		if n := len(packs(t, repo, ".pack")); n != 2 || !isFile(large) {
			t.Errorf("%q, want the large one and the new one", packs(t, repo, ""))
		}
		present(t, r, hashes)
	})
	t.Run("multi-pack index", func(t *testing.T) {
		t.Parallel()
		r := gittest.New(t)
		repo := find(t, r)
		hashes := manyPacks(t, repo, 2*maxSmallPacks)
		r.Git("multi-pack-index", "write")
		if RollUpDue(repo) {
			t.Error("due, though the packs are in the multi-pack index")
		}
		manyPacks(t, repo, 5) // the same files again: as new as those that follow
		var more []object.Hash
		for i := range 2 * maxSmallPacks {
			more = append(more, flushed(t, repo, fmt.Sprint("later ", i))...)
		}
		rollUpTwice(t, repo)
		r.Git("multi-pack-index", "verify")
		present(t, r, append(hashes, more...))
		if RollUpDue(repo) {
			t.Error("due again")
		}
	})
	t.Run("somebody else at it", func(t *testing.T) {
		t.Parallel()
		r := gittest.New(t)
		repo := find(t, r)
		manyPacks(t, repo, 2*maxSmallPacks)
		held, err := agentDir(repo).Lock(t.Context(), "locks/packs")
		gittest.Must(t, err)
		defer held.Release()
		gittest.Must(t, RollUp(context.Background(), repo))
		if n := len(packs(t, repo, ".pack")); n != 2*maxSmallPacks {
			t.Errorf("%d packs, want them left to the other one", n)
		}
	})
}

// A broken pack makes the roll-up fail, and nothing is lost.
func TestRollUpBroken(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	hashes := flushed(t, repo, "broken "+strings.Repeat("x", 100))
	broken := packs(t, repo, ".pack")[0]
	content, err := os.ReadFile(broken)
	gittest.Must(t, err)
	gittest.Must(t, os.Chmod(broken, 0o666))
	gittest.Must(t, os.WriteFile(broken, append(content[:40:40], bytes.Repeat([]byte{0xff}, len(content)-40)...), 0o444))
	manyPacks(t, repo, 2*maxSmallPacks)
	before := packs(t, repo, "")
	if err := RollUp(context.Background(), repo); err == nil {
		t.Error("no error")
	}
	if after := packs(t, repo, ""); len(after) < len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
	gittest.Must(t, os.WriteFile(broken, content, 0o444))
	present(t, r, hashes)
}

// Files left by a writer that died inside Flush.
func TestRollUpDropsLeftovers(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	repo := find(t, r)
	hashes := flushed(t, repo, "kept by a link that was left")
	base := strings.TrimSuffix(packs(t, repo, ".pack")[0], ".pack")
	gittest.Must(t, os.Link(base+".pack", base+".keep"))
	dir := packDir(repo)
	flushed(t, repo, "without an index")
	for _, name := range packs(t, repo, ".idx") {
		if name != base+".idx" {
			gittest.Must(t, os.Remove(name))
		}
	}
	for name, content := range map[string]string{"pack-1.keep": "fetch-pack 1 on a host", "pack-2.keep": "PACK left before the pack got its name"} {
		gittest.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o444))
	}
	r.Git("fsck", "--strict", "--no-dangling")
	flushed(t, repo, "the next write")
	count := func() int { return len(packs(t, repo, "")) }
	before := count()
	gittest.Must(t, RollUp(context.Background(), repo))
	if count() != before {
		t.Errorf("%q: what is fresh may still be in use", packs(t, repo, ""))
	}
	old := time.Now().Add(-2 * time.Hour)
	for _, name := range packs(t, repo, "") {
		gittest.Must(t, os.Chtimes(name, old, old))
	}
	gittest.Must(t, RollUp(context.Background(), repo))
	if got := packs(t, repo, ".keep"); len(got) != 1 || filepath.Base(got[0]) != "pack-1.keep" || count() != 5 {
		t.Errorf("%q, want two packs and git's .keep", packs(t, repo, ""))
	}
	present(t, r, hashes)
}

// BenchmarkRollUp reports the bytes of objects/pack before and after, for typical turns: 2 files of
// 10 KB changed, a 20 KB segment of JSON lines, commits, trees, records and notes.
func BenchmarkRollUp(b *testing.B) {
	for _, turns := range []int{100, 1000} {
		b.Run(fmt.Sprint(turns, " turns"), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				r := gittest.New(b)
				repo := find(b, r)
				writeTurns(b, repo, turns, false)
				before := size(b, repo)
				once := gittest.New(b)
				rolled := find(b, once)
				writeTurns(b, rolled, turns, true)
				b.StartTimer()
				gittest.Must(b, RollUp(context.Background(), repo))
				b.StopTimer()
				b.ReportMetric(float64(before)/float64(turns), "B/turn-before")
				b.ReportMetric(float64(size(b, repo))/float64(turns), "B/turn-at-once")
				b.ReportMetric(float64(size(b, rolled))/float64(turns), "B/turn-as-due")
				b.ReportMetric(float64(len(packs(b, rolled, ".pack"))), "packs-as-due")
				r.Git("gc", "-q", "--prune=now")
				b.ReportMetric(float64(size(b, repo))/float64(turns), "B/turn-gc")
				b.StartTimer()
			}
		})
	}
}

func size(t testing.TB, repo *Repo) (total int64) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(repo.CommonDir, "objects"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	gittest.Must(t, err)
	return total
}

func writeTurns(t testing.TB, repo *Repo, turns int, roll bool) {
	t.Helper()
	ctx := context.Background()
	words := strings.Fields("the quick brown agent reads files and writes tests for every function that it has changed in this turn")
	text := func(n int, sep string) []byte {
		var b bytes.Buffer
		for b.Len() < n {
			fmt.Fprintf(&b, "%s %x%s", words[rand.IntN(len(words))], rand.Uint32N(1<<12), sep)
		}
		return b.Bytes()
	}
	who := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: time.Unix(1_700_000_000, 0)}
	var code, ledger object.Hash
	var codeTree, ledgerTree object.Hash
	must := func(h object.Hash, err error) object.Hash {
		gittest.Must(t, err)
		return h
	}
	files := make(map[int][]byte)
	parents := func(h object.Hash) []object.Hash {
		if h.IsZero() {
			return nil
		}
		return []object.Hash{h}
	}
	for n := range turns {
		o := repo.Objects(ctx)
		blob := func(content []byte) object.Entry {
			return object.Entry{Mode: 0o100644, Hash: must(o.Write(plumbing.BlobObject, content))}
		}
		changes := make(map[string]object.Entry)
		for range 2 {
			i := rand.IntN(20)
			if files[i] == nil {
				files[i] = text(10_000, "\n")
			}
			at := rand.IntN(9_000)
			files[i] = append(append(append([]byte{}, files[i][:at]...), text(200, "\n")...), files[i][at+100:]...)
			changes[fmt.Sprintf("src/%d/%d.go", i%4, i)] = blob(files[i])
		}
		codeTree = must(o.EditTree(codeTree, changes))
		code = must(o.CommitTree(codeTree, parents(code), who, who, fmt.Sprintf("turn %d\n", n)))
		record := fmt.Appendf(nil, `{"v":1,"turn":%d,"code":"%s","prompt":"%s"}`, n, code, text(400, " "))
		ledgerTree = must(o.EditTree(ledgerTree, map[string]object.Entry{
			fmt.Sprintf("turns/%04d/%06d.json", n/100, n):       blob(record),
			fmt.Sprintf("transcript/%04d/%06d.jsonl", n/100, n): blob(text(20_000, `","type":"assistant","uuid":"`)),
		}))
		ledger = must(o.CommitTree(ledgerTree, append(parents(ledger), code), who, who, fmt.Sprintf("turn %d\n", n)))
		gittest.Must(t, o.Flush())
		o.Close()
		if roll && RollUpDue(repo) {
			gittest.Must(t, RollUp(ctx, repo))
		}
	}
	gittest.Must(t, repo.UpdateRefs(ctx, "turns", []Update{{Ref: "refs/agent/missions/a", New: ledger}}))
}
