package provenance

import (
	"context"
	"fmt"
	"hash/maphash"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
)

// versions say what a file was in each commit of a graph, under all the names that it had.
type versions struct {
	repo    *git.Repo
	objects *git.Objects
	graph   *graph
	names   []string
	blobs   [][]plumbing.Hash // by name and place; zero where there is none

	words map[uint64]int32 // the lines that have been seen, by their hashes, numbered
	seed  maphash.Seed
	lines map[plumbing.Hash][]int32 // of a blob: the numbers of its lines, in order, each once
	left  int                       // how many numbers may still be kept
}

// Limits of what is kept: a file may have 100,000 versions of 10,000 lines.
const (
	maxBlob  = 16 << 20 // bytes of one version
	maxLines = 64 << 20 // of all versions
)

func newVersions(repo *git.Repo, objects *git.Objects, g *graph) *versions {
	return &versions{repo: repo, objects: objects, graph: g, words: make(map[uint64]int32), seed: maphash.MakeSeed(), lines: make(map[plumbing.Hash][]int32), left: maxLines}
}

// add looks up what the graph's commits have under another name.
func (v *versions) add(ctx context.Context, name string) error {
	nodes := v.graph.nodes
	blobs := make([]plumbing.Hash, len(nodes))
	parts := max(1, min(runtime.GOMAXPROCS(0), len(nodes)/256))
	errs := make([]error, parts)
	var done sync.WaitGroup
	for i := range parts {
		done.Go(func() {
			from, to := i*len(nodes)/parts, (i+1)*len(nodes)/parts
			errs[i] = v.look(ctx, nodes[from:to], name, blobs[from:to])
		})
	}
	done.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	v.names, v.blobs = append(v.names, name), append(v.blobs, blobs)
	return nil
}

func (v *versions) look(ctx context.Context, nodes []*node, name string, blobs []plumbing.Hash) error {
	var in strings.Builder
	for _, n := range nodes {
		in.WriteString(n.hash.String() + ":" + name + "\x00")
	}
	out, err := v.repo.Output(ctx, strings.NewReader(in.String()), "cat-file", "--batch-check=%(objectname)", "-z", "--buffer")
	if err != nil {
		return err
	}
	rest := string(out)
	for i, n := range nodes {
		question := n.hash.String() + ":" + name
		if after, ok := strings.CutPrefix(rest, question); ok { // "<what was asked> missing"
			_, rest, _ = strings.Cut(after, "\n")
			continue
		}
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		hash, err := git.ParseHash(line)
		if err != nil {
			return fmt.Errorf("look up %q in commit %s: %w", name, n.hash, err)
		}
		blobs[i] = hash
	}
	return nil
}

// same reports whether two commits have the same under all names.
func (v *versions) same(a, b int) bool {
	for _, blobs := range v.blobs {
		if blobs[a] != blobs[b] {
			return false
		}
	}
	return true
}

// appears reports whether a commit has a name that another one has not.
func (v *versions) appears(in, from int) bool {
	for _, blobs := range v.blobs {
		if !blobs[in].IsZero() && blobs[from].IsZero() {
			return true
		}
	}
	return false
}

// read reads the lines of all versions that have not been read yet, the newest first.
func (v *versions) read() error {
	var wanted []git.Wanted
	asked := make(map[plumbing.Hash]bool)
	for at := len(v.graph.nodes) - 1; at >= 0; at-- {
		for _, blobs := range v.blobs {
			hash := blobs[at]
			if _, known := v.lines[hash]; !known && !hash.IsZero() && !asked[hash] {
				asked[hash] = true
				wanted = append(wanted, git.Wanted{Hash: hash, Most: maxBlob})
			}
		}
	}
	return v.objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		hash := wanted[i].Hash
		v.lines[hash] = nil // what can't be read has none that count
		if err == nil && obj.Type == plumbing.BlobObject && v.left > 0 {
			v.lines[hash] = v.number(string(obj.Content))
			v.left -= len(v.lines[hash])
		}
		return nil
	})
}

// number numbers the lines of a text that have a word in them. The second of two equal lines is another one
// than the first.
func (v *versions) number(text string) []int32 {
	var numbers []int32
	times := make(map[uint64]uint64)
	for line := range strings.SplitSeq(text, "\n") {
		if !strings.ContainsFunc(line, isWord) {
			continue
		}
		hash := maphash.String(v.seed, line)
		again := times[hash]
		times[hash] = again + 1
		if again > 0 {
			hash = maphash.Comparable(v.seed, [2]uint64{hash, again})
		}
		n, known := v.words[hash]
		if !known {
			n = int32(len(v.words))
			v.words[hash] = n
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	return numbers
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// contents are what the graph's commits have under all names together.
func (v *versions) contents() contents {
	c := contents{of: make([]int, len(v.graph.nodes))}
	known := make(map[string]int)
	var key []byte
	for at := range v.graph.nodes {
		key = key[:0]
		for _, blobs := range v.blobs {
			key = append(key, blobs[at][:]...)
		}
		version, ok := known[string(key)]
		if !ok {
			version = len(c.lines)
			known[string(key)] = version
			var lines []int32
			for _, blobs := range v.blobs {
				lines = append(lines, v.lines[blobs[at]]...)
			}
			if len(v.blobs) > 1 {
				slices.Sort(lines)
				lines = slices.Compact(lines)
			}
			c.lines = append(c.lines, lines)
		}
		c.of[at] = version
	}
	return c
}
