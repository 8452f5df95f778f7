package blame

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
)

// name is the hash of a commit with a name of one letter.
func name(letter byte) object.Hash { return made(letter) }

func names(letters string) (hashes []object.Hash) {
	for i := range len(letters) {
		hashes = append(hashes, name(letters[i]))
	}
	return hashes
}

// commits reads "b12*:chain:parents": a commit b of second 12, made for a state. With "12+7" it is known to
// be one, not made for it, since millisecond 7.
func commits(text string) (list []*waiting) {
	for field := range strings.FieldsSeq(text) {
		parts := strings.Split(field, ":")
		w := &waiting{hash: name(field[0]), chain: names(parts[1]), real: names(parts[2])}
		date, made := strings.CutSuffix(parts[0][1:], "*")
		w.made = made
		date, saved, _ := strings.Cut(date, "+")
		w.saved, _ = strconv.ParseInt(saved, 10, 64)
		if _, err := fmt.Sscan(date, &w.date); err != nil {
			panic(err)
		}
		list = append(list, w)
	}
	return list
}

func TestOrder(t *testing.T) {
	for _, test := range []struct{ what, commits, order, parents string }{
		{"by date", "a3:: b1:: c2::", "bca", "b: c: a:"},
		{"behind a parent that is younger", "a1::b b2::", "ba", "b: a:b"},
		{"made first in a second", "a1:: b1*::", "ba", "b: a:"},
		{"what a state needs of its second comes before others", "a1::y z1::y b1*:z: c1*:b:", "yzbca", "y: z:y b:z c:b a:y"},
		{"between two states", "a1::y z1::y b1*:: c1*:b:z", "ybzca", "y: b: z:y c:bz a:y"},
		{"what turns had comes before others", "a1:: b1+2:: c1+1::", "cba", "c: b: a:"},
		{"behind the state before it", "a1*:b: b2*::", "ba", "b: a:b"},
		{"the state before it comes first", "a1:: b2*:: c3*:b:a", "abc", "a: b: c:ba"},
		{"once", "a1:: b2*:a:a", "ab", "a: b:a"},
		{"what is not given begins", "a1::z b2::", "zab", "z: a:z b:"},
		{"a circle of states", "a1*:b: b2*:a:", "ab", "a: b:a"},
		{"a circle through a parent", "a2*:b: b1::a", "ab", "a: b:a"},
		{"behind a circle", "a1*:b: b2*:a: c0::b", "abc", "a: b:a c:b"},
	} {
		t.Run(test.what, func(t *testing.T) {
			g := order(nil, commits(test.commits))
			var order []byte
			var parents []string
			for _, n := range g.nodes {
				order = append(order, n.hash.Byte(0))
				of := string(n.hash.Byte(0)) + ":"
				for _, p := range n.parents {
					of += string(g.nodes[p].hash.Byte(0))
				}
				parents = append(parents, of)
			}
			if string(order) != test.order || strings.Join(parents, " ") != test.parents {
				t.Errorf("order %s with %v, want %s with %s", order, parents, test.order, test.parents)
			}
		})
	}
}

// TestOrderAcyclic: whatever states claim to come before each other, and whatever the clocks said, nothing is
// its own ancestor, and no parent of a commit's is lost.
func TestOrderAcyclic(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		n := 1 + r.IntN(20)
		var list []*waiting
		for i := range n {
			w := &waiting{hash: name(byte(i + 1)), date: r.Int64N(10), made: r.IntN(2) == 0}
			for range r.IntN(3) {
				if i > 0 {
					w.real = append(w.real, name(byte(1+r.IntN(i))))
				}
			}
			if w.made {
				w.chain = append(w.chain, name(byte(1+r.IntN(n))))
			}
			list = append(list, w)
		}
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		g := order(nil, list)
		if len(g.nodes) != n {
			t.Fatalf("%d commits, want %d", len(g.nodes), n)
		}
		for _, w := range list {
			node := g.nodes[g.index[w.hash]]
			for _, p := range node.parents {
				if p >= g.index[w.hash] {
					t.Fatalf("commit %x comes before one that it was made from", w.hash.Byte(0))
				}
			}
			for _, p := range w.real {
				if !slices.Contains(node.parents, g.index[p]) {
					t.Fatalf("commit %x has lost parent %x", w.hash.Byte(0), p.Byte(0))
				}
			}
		}
	}
}

// TestClaim looks for the commits that the agent made in a turn, which began within second 10 and ended in 20.
func TestClaim(t *testing.T) {
	for _, tt := range []struct {
		name       string
		commits    string // see commits; z is the turn's code
		base, head byte
		want       string
	}{
		{"none", "a5:: z20*::a", 'a', 'a', ""},
		{"one that goes on from the base", "a5:: b12::a z20*::b", 'a', 'b', "b"},
		{"in the second in which it began", "a5:: b10::a z20*::b", 'a', 'b', "b"},
		{"two", "a5:: b12::a c15::b z20*::c", 'a', 'c', "bc"},
		{"the user's, in the second in which it began", "a5:: b10::a z20*::b", 'b', 'b', ""},
		{"the user's, and one that goes on from it", "a5:: b10::a c12::b z20*::c", 'b', 'c', "c"},
		{"one that was amended, so that the base is later", "a5:: b12::a z20*::b", 'b', 'b', "b"},
		{"after its end", "a5:: b21::a z20*::b", 'a', 'b', ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := order(nil, commits(tt.commits))
			turn := &pastTurn{started: time.Unix(10, 500e6), at: time.Unix(20, 0), base: name(tt.base), head: name(tt.head), code: name('z')}
			g.claim(turn)
			got := ""
			for _, n := range g.nodes {
				if slices.Contains(n.writers, turn) {
					got += string(rune(n.hash.Byte(0)))
				}
			}
			if got != tt.want {
				t.Errorf("the agent made %q, want %q", got, tt.want)
			}
		})
	}
}
