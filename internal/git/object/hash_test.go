package object

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/test/gittest"
)

// TestHash: a hash is what git has printed, of either format, and none is
// nothing in JSON and zeros for git.
func TestHash(t *testing.T) {
	t.Parallel()
	for format, digits := range map[Format]int{SHA1: 40, SHA256: 64} {
		text := strings.Repeat("0a", digits/2)
		h, err := ParseHash(text)
		if err != nil || h.String() != text || h.Format() != format || h.IsZero() || h != NewHash(text) || !IsHash(text) || len(h.Bytes()) != digits/2 {
			t.Errorf("%s is read as %s, %s, %v", text, h, h.Format(), err)
		}
		if from, err := ParseHash([]byte(strings.ToUpper(text))); from != h || err != nil {
			t.Errorf("in capitals: %s, %v", from, err)
		}
		if format.Hash(append(slices.Clone(h.Bytes()), 1)) != h || h.Byte(1) != 0x0a || string(format.Append(nil, h)) != string(h.Bytes()) {
			t.Errorf("%s is not its bytes %x", h, h.Bytes())
		}
		zeros := strings.Repeat("0", digits)
		if none, err := ParseHash(zeros); none != (Hash{}) || err != nil || !IsHash(zeros) || format.Text(none) != zeros || format.Hash(make([]byte, digits)) != none {
			t.Errorf("zeros are %s, %v", none, err)
		}
		if format.Text(h) != text || !format.Names(h, Hash{}) || format.Names(h, NewHash(strings.Repeat("1", 104-digits))) {
			t.Errorf("%s does not know its own", format)
		}
		out, err := json.Marshal(map[string]Hash{"a": h, "b": {}})
		var back map[string]Hash
		if err == nil {
			err = json.Unmarshal(out, &back)
		}
		if want := `{"a":"` + text + `","b":""}`; string(out) != want || err != nil || back["a"] != h || back["b"] != (Hash{}) {
			t.Errorf("%s as JSON is %s, and %v again, %v", h, out, back, err)
		}
	}
	one := gittest.Hash("1")
	for _, text := range []string{"", "1", one[1:], one + "1", one + "11", one[:len(one)-1] + "g", " " + one[1:], "HEAD"} {
		if h, err := ParseHash(text); err == nil || h != (Hash{}) || NewHash(text) != h || IsHash(text) {
			t.Errorf("%q is read as %s", text, h)
		}
		if err := json.Unmarshal([]byte(`"`+text+`"`), new(Hash)); err == nil && text != "" {
			t.Errorf("%q is one in JSON", text)
		}
	}
	if h := (Hash{}); h.String() != "" || !h.IsZero() || h.Format() != 0 || len(h.Bytes()) != 0 {
		t.Errorf("none is %q", h)
	}
}

// TestHashOrder: hashes are in git's order, none first.
func TestHashOrder(t *testing.T) {
	t.Parallel()
	h := func(n byte) Hash { return NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }
	list := []Hash{h(3), h(0x1f), {}, h(1), h(0xff)}
	slices.SortFunc(list, Hash.Compare)
	if want := []Hash{{}, h(1), h(3), h(0x1f), h(0xff)}; !slices.Equal(list, want) {
		t.Errorf("%v, want %v", list, want)
	}
}

// TestHashAllocates: to read and to compare hashes allocates nothing, and to
// print one its text alone.
func TestHashAllocates(t *testing.T) {
	text := gittest.Hash("0123456789abcdef")
	line, hash := []byte(text), NewHash(text)
	for name, tt := range map[string]struct {
		f    func()
		most float64
	}{
		"parse a text":  {func() { _, _ = ParseHash(text) }, 0},
		"parse a line":  {func() { _, _ = ParseHash(line) }, 0},
		"from its file": {func() { _ = tested.Hash(hash.Bytes()) }, 0},
		"compare":       {func() { _ = hash.Compare(hash) }, 0},
		"print":         {func() { text = hash.String() }, 1},
	} {
		if n := testing.AllocsPerRun(100, tt.f); n > tt.most {
			t.Errorf("%s: %g allocations", name, n)
		}
	}
}

// TestHashObject: objects have the names that git gives them, and loose ones
// say theirs.
func TestHashObject(t *testing.T) {
	t.Parallel()
	for _, format := range []Format{SHA1, SHA256} {
		r := gittest.New(t, "--object-format="+format.String())
		want, err := r.Feed("text\n", "hash-object", "-w", "--stdin")
		gittest.Must(t, err)
		if got := format.Object(plumbing.BlobObject, []byte("text\n")); got.String() != want {
			t.Errorf("%s: %s, want %s", format, got, want)
		}
		file := strings.NewReader(r.Read(".git/objects/" + want[:2] + "/" + want[2:]))
		if got, err := format.LooseHash(file); got.String() != want || err != nil {
			t.Errorf("%s: its file has %s, %v", format, got, err)
		}
		if got, err := format.LooseHash(strings.NewReader("x")); err == nil {
			t.Errorf("%s: what is no object is %s", format, got)
		}
		if want, err := r.Feed("", "mktree"); err != nil || format.EmptyTree().String() != want {
			t.Errorf("%s: the empty tree is %s, want %s, %v", format, format.EmptyTree(), want, err)
		}
	}
}
