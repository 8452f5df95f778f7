package gitnotes

import (
	"fmt"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// packed makes a repository with count notes in a pack, and opens the last notes commit.
func packed(b *testing.B, count, levels int) *Notes {
	b.Helper()
	r := newRepo(b)
	fastImport(b, r, "ours", levels, some(count))
	r.Git("repack", "-adq")
	return open(b, objects(b, r), tip(r, "ours"))
}

// BenchmarkAppend opens the notes, appends a line to one and commits:
// what a turn costs. The objects are on disk, loose ones are written.
func BenchmarkAppend(b *testing.B) {
	for _, size := range []struct{ notes, levels int }{{10, 0}, {1000, 1}, {100_000, 2}} {
		b.Run(fmt.Sprint(size.notes), func(b *testing.B) {
			n := packed(b, size.notes, size.levels)
			i := 0
			for b.Loop() {
				n := open(b, n.s, n.commit)
				gittest.Must(b, n.Append(hash("1"), fmt.Append(nil, i)))
				commit(b, n)
				i++
			}
		})
	}
}

// BenchmarkGet opens the notes and reads one of them.
func BenchmarkGet(b *testing.B) {
	for _, size := range []struct{ notes, levels int }{{10, 0}, {1000, 1}, {100_000, 2}} {
		b.Run(fmt.Sprint(size.notes), func(b *testing.B) {
			n := packed(b, size.notes, size.levels)
			for b.Loop() {
				if _, err := open(b, n.s, n.commit).Get(hash("1")); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAll opens 10,000 notes and lists them, without their contents.
func BenchmarkAll(b *testing.B) {
	n := packed(b, 10_000, 1)
	for b.Loop() {
		listed := 0
		for _, err := range open(b, n.s, n.commit).All() {
			gittest.Must(b, err)
			listed++
		}
		if listed != 10_000 {
			b.Fatalf("listed %d notes", listed)
		}
	}
}

// BenchmarkMerge merges two commits that each appended a line to a note among 10,000.
func BenchmarkMerge(b *testing.B) {
	n := packed(b, 10_000, 1)
	var sides [2]object.Hash
	for i := range sides {
		n := open(b, n.s, n.commit)
		gittest.Must(b, n.Append(hash("1"), fmt.Append(nil, i)))
		sides[i] = commit(b, n)
	}
	for b.Loop() {
		if _, err := Merge(n.s, sides[0], sides[1], dev, dev, "merge\n"); err != nil {
			b.Fatal(err)
		}
	}
}
