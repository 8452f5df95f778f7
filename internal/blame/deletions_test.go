package blame

import (
	"fmt"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/test/gittest"
)

// made is a hash that only n says of, none for 0.
func made(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }

// TestAct: what a turn did to a file that went from version 1 to version 3 in a commit. The turn went from one version
// to another; 0 is for none.
func TestAct(t *testing.T) {
	for _, tt := range []struct {
		name          string
		from          string // its former name; "" for the same one
		old           byte   // its version before the commit
		mode          bool   // that has changed
		before, after byte
		was           byte // what was under the former name
		now           byte // what the turns after this one left of the file
		want          act
	}{
		{name: "it wrote what is there", old: 1, before: 1, after: 3, now: 3, want: otherText},
		{name: "it wrote what the next turn found", old: 1, before: 1, after: 2, now: 2, want: otherText},
		{name: "it wrote what somebody has changed since", old: 1, before: 1, after: 2, now: 3},
		{name: "it found it so", old: 1, before: 3, after: 3, now: 3},
		{name: "it made it", before: 0, after: 3, now: 3, want: otherText},
		{name: "it removed it", old: 1, before: 1, after: 0, now: 0, want: otherText},
		{name: "it was not there, and is not", old: 1, before: 0, after: 0, now: 0},
		{name: "it may have changed the mode", old: 3, mode: true, before: 3, after: 3, now: 3, want: otherMode},
		{name: "it has changed the text as well as the mode", old: 1, mode: true, before: 1, after: 3, now: 3, want: otherText},
		{name: "the mode was changed with the text, by another", old: 1, mode: true, before: 3, after: 3, now: 3},
		{name: "it renamed it", from: "former", old: 3, before: 0, after: 3, was: 3, now: 3, want: otherText},
		{name: "it renamed it, and changed the mode", from: "former", old: 3, mode: true, before: 0, after: 3, was: 3, now: 3, want: otherText},
		{name: "it renamed it, and wrote to it", from: "former", old: 1, before: 0, after: 3, was: 1, now: 3, want: otherText},
		{name: "it found it renamed", from: "former", old: 3, before: 3, after: 3, was: 0, now: 3},
		{name: "it found it renamed, and may have changed the mode", from: "former", old: 3, mode: true, before: 3, after: 3, now: 3, want: otherMode},
	} {
		f := &file{before: []object.Hash{made(tt.before)}, after: []object.Hash{made(tt.after)}, was: []object.Hash{made(tt.was)}}
		f.c.Path, f.c.From = "file", "file"
		if tt.from != "" {
			f.c.From = tt.from
		}
		f.c.Old = object.Entry{Mode: filemode.Regular, Hash: made(tt.old)}
		if f.c.New = (object.Entry{Mode: filemode.Regular, Hash: made(3)}); tt.mode {
			f.c.New.Mode = filemode.Executable
		}
		if got := f.act(0, made(tt.now)); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestSoleAct: changes of which lines tell nothing.
func TestSoleAct(t *testing.T) {
	text := object.Entry{Mode: filemode.Regular, Hash: made(1)}
	other := object.Entry{Mode: filemode.Regular, Hash: made(2)}
	module := object.Entry{Mode: filemode.Submodule, Hash: made(3)}
	for _, tt := range []struct {
		name string
		c    gitdiff.Change
		want bool
	}{
		{"lines", gitdiff.Change{FileStat: gitdiff.FileStat{Insertions: 1}, Old: text, New: other}, false},
		{"lines that went", gitdiff.Change{FileStat: gitdiff.FileStat{Deletions: 1}, Old: text, New: other}, false},
		{"a new file", gitdiff.Change{FileStat: gitdiff.FileStat{Insertions: 1}, New: text}, false},
		{"an empty one", gitdiff.Change{New: text}, true},
		{"a mode", gitdiff.Change{Old: text, New: text}, true},
		{"a binary file", gitdiff.Change{FileStat: gitdiff.FileStat{Binary: true}, Old: text, New: other}, true},
		{"a file is gone", gitdiff.Change{FileStat: gitdiff.FileStat{Deletions: 9}, Old: text}, true},
		{"a submodule", gitdiff.Change{FileStat: gitdiff.FileStat{Insertions: 1, Deletions: 1}, Old: module, New: module}, true},
		{"a submodule for a file", gitdiff.Change{FileStat: gitdiff.FileStat{Insertions: 1, Deletions: 9}, Old: text, New: module}, true},
	} {
		if got := soleAct(tt.c); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
