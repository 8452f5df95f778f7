package missionstore

import (
	"errors"
	"fmt"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
	"gitagent/turns"
)

// TestForkBegins: the commit that a fork begins at: the end of the turn, its start, a saved state, or HEAD, if it is
// not known where the code was.
func TestForkBegins(t *testing.T) {
	t.Parallel()
	const base, code, saved, head = 1, 2, 3, 4
	broken := errors.New("broken")
	for _, tt := range []struct {
		name     string
		imported string
		f        ForkPlan
		base     byte
		unborn   bool
		err      error
		want     byte
	}{
		{name: "its end", base: base, want: code},
		{name: "its start", base: base, f: ForkPlan{Before: true}, want: base},
		{name: "its start, and that is not known", f: ForkPlan{Before: true}, want: head},
		{name: "a saved state", base: base, f: ForkPlan{From: hash(saved)}, want: saved},
		{name: "it is known by the reflog", imported: turns.ByReflog, base: base, want: code},
		{name: "it is known by the reflog, its start", imported: turns.ByReflog, base: base, f: ForkPlan{Before: true}, want: base},
		{name: "it is not known", imported: "head", base: base, want: head},
		{name: "it is not known, its start", imported: "head", base: base, f: ForkPlan{Before: true}, want: head},
		{name: "it is not known, and HEAD has no commit", imported: "head", base: base, unborn: true, want: code},
		{name: "it is not known, its start, and HEAD has no commit", imported: "head", base: base, f: ForkPlan{Before: true}, unborn: true, want: code},
		{name: "it is not known, and a saved state is", imported: "head", f: ForkPlan{From: hash(saved)}, want: saved},
		{name: "HEAD can't be read", imported: "head", err: broken},
	} {
		tt.f.Source = &turns.Turn{Mission: "a1b2c3d4", Turn: 3, Imported: tt.imported, Code: hash(code)}
		if tt.base != 0 {
			tt.f.Source.Base = hash(tt.base)
		}
		got, err := tt.f.begins(func() (git.Head, error) {
			if tt.unborn || tt.err != nil {
				return git.Head{}, tt.err
			}
			return git.Head{Commit: hash(head)}, nil
		})
		if got != hash(tt.want) || !errors.Is(err, tt.err) {
			t.Errorf("%s: %.2s, %v; want %02x", tt.name, got, err, tt.want)
		}
	}
}

// hash is a made-up commit.
func hash(n byte) object.Hash { return object.NewHash(gittest.Hash(fmt.Sprintf("%02x", n))) }
