package blockfile

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

func all(object.Hash) bool { return true }

func hash(n int) object.Hash { return object.NewHash(fmt.Sprintf("%040x", n)) }

func place(t *testing.T) Place {
	return Place{Dir: statedir.In(t.TempDir(), "state"), Name: "blocks/one", Kind: "of a test", Format: object.SHA1}
}

// some are blocks of these numbers, each other than all others.
func some(numbers ...int) (list []Block) {
	for _, n := range numbers {
		list = append(list, Block{hash(n), []byte(strings.Repeat(fmt.Sprint(n), n))})
	}
	return list
}

// has tells which of some blocks a file has, and fails at one that is another.
func has(t *testing.T, p Place, numbers ...int) (found []int) {
	t.Helper()
	f := p.Open()
	for _, b := range some(numbers...) {
		switch got := f.Get(b.Of); {
		case got == nil:
		case !bytes.Equal(got, b.Content):
			t.Errorf("block %s is %q", b.Of, got)
		default:
			found = append(found, int(b.Of.Byte(19)))
		}
	}
	return found
}

func want(t *testing.T, p Place, want ...int) {
	t.Helper()
	if got := has(t, p, 1, 2, 3, 4, 5, 6); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("blocks %v, want %v", got, want)
	}
}

func TestBlocks(t *testing.T) {
	t.Parallel()
	p := place(t)
	want(t, p)
	gittest.Must(t, p.Append(some(1, 2), all))
	gittest.Must(t, p.Append(some(2, 3), all))
	want(t, p, 1, 2, 3)
	other := p
	other.Kind = "of another test"
	want(t, other)
	gittest.Must(t, other.Append(some(4), all))
	want(t, other, 4)
	want(t, p)
}

// TestUseless: a file with mostly useless blocks begins anew.
func TestUseless(t *testing.T) {
	t.Parallel()
	p := place(t)
	gittest.Must(t, p.Append(some(1, 2, 3), all))
	gittest.Must(t, p.Append(some(4), func(of object.Hash) bool { return of != hash(1) }))
	want(t, p, 1, 2, 3, 4)
	gittest.Must(t, p.Append(some(5), func(of object.Hash) bool { return of == hash(5) }))
	want(t, p, 5)
}

// TestDamage: whatever a file is cut off at, and whichever of its bytes is another, a block is right or missing; and what is
// appended then is there.
func TestDamage(t *testing.T) {
	t.Parallel()
	p := place(t)
	gittest.Must(t, p.Append(some(1, 2, 3), all))
	whole, err := p.Dir.ReadFile(p.Name)
	gittest.Must(t, err)
	for i := range whole {
		for _, data := range [][]byte{whole[:i], append(append(bytes.Clone(whole[:i]), whole[i]^0x55), whole[i+1:]...)} {
			gittest.Must(t, p.Dir.WriteFile(p.Name, data))
			has(t, p, 1, 2, 3, 4)
			gittest.Must(t, p.Append(some(1, 2, 3, 4), all))
			want(t, p, 1, 2, 3, 4)
		}
	}
}

// TestShrinks: a file that is emptied while it is read has nothing more.
func TestShrinks(t *testing.T) {
	t.Parallel()
	p := place(t)
	gittest.Must(t, p.Append(some(1, 2), all))
	f := p.Open()
	gittest.Must(t, os.Truncate(p.Dir.Path(p.Name), 30))
	if got := f.Get(hash(2)); got != nil {
		t.Errorf("a block of an emptied file: %q", got)
	}
}
