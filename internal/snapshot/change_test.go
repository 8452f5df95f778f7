package snapshot

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// made is a hash that only n says of, none for 0.
func made(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

// TestOutcomeOf: what a killed change had to make of paths, and what they are. They are written "a=1", with 0 for one
// that is gone.
func TestOutcomeOf(t *testing.T) {
	t.Parallel()
	read := func(text string) map[string]object.Entry {
		entries := make(map[string]object.Entry)
		for word := range strings.FieldsSeq(text) {
			path, value, _ := strings.Cut(word, "=")
			e := object.Entry{}
			if value != "0" {
				e = object.Entry{Mode: filemode.Regular, Hash: made(value[0])}
			}
			entries[path] = e
		}
		return entries
	}
	for _, tt := range []struct {
		name, became, since string
		want                outcome
	}{
		{"nothing", "a=2 b=2", "", untouched},
		{"all", "a=2 b=2", "a=2 b=2", complete},
		{"one of two", "a=2 b=2", "a=2", inPart},
		{"all of them are gone", "a=0 b=0", "a=0 b=0", complete},
		{"one is gone, the other one not yet there", "a=0 b=2", "a=0", inPart},
		{"the beginning of a file", "a=2", "a=3", inPart},
		{"it had removed it to write it", "a=2", "a=0", inPart},
		{"nothing, and somebody has changed another one", "a=2 b=2", "c=4", untouched},
		{"all, and somebody has changed another one", "a=2", "a=2 c=4", complete},
		{"all, and somebody has changed one of them", "a=2 b=2", "a=2 b=4", inPart},
		{"nothing, and somebody has changed one of them", "a=2 b=2", "b=4", inPart},
	} {
		if got := outcomeOf(read(tt.became), read(tt.since)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	mode := map[string]object.Entry{"a": {Mode: filemode.Executable, Hash: made(1)}}
	if got := outcomeOf(mode, map[string]object.Entry{"a": {Mode: filemode.Regular, Hash: made(1)}}); got != inPart {
		t.Errorf("with another mode: %d", got)
	}
}
