package handoffstore

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
)

// ErrNotShown reports an attempt to accept a handoff that nobody has looked at.
var ErrNotShown = errors.New("nobody has looked at it here")

// Notes about handoffs. Each names the hash of the handoff's tree, with the record, the document
// and the other files, so that it holds for exactly this content.
const (
	noteShown    = "shown"
	noteAccepted = "accepted" // or made here
)

// strangersFile holds the notes, each a line with the note and the hash. The file is local; if it
// is lost, handoffs have to be accepted again.
func (s *Store) strangersFile() string { return filepath.Join(s.Workspace.Store.Dir(), "handoffs") }

func (s *Store) noted(note string, tree plumbing.Hash) bool {
	data, _ := os.ReadFile(s.strangersFile())
	return bytes.Contains(append([]byte("\n"), data...), fmt.Appendf(nil, "\n%s %s\n", note, tree))
}

func (s *Store) note(note string, tree plumbing.Hash) error {
	if s.noted(note, tree) {
		return nil
	}
	path := s.strangersFile()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "%s %s\n", note, tree)
	return cmp.Or(err, f.Close())
}

// Trusted reports whether a handoff may be told to an agent: it was made here, or by the same
// committer, or a person has accepted it. A committer's name is no proof; whoever can write the
// ledger's ref can forge it.
func (s *Store) Trusted(ctx context.Context, f *Found) (bool, error) {
	tree, err := f.tree()
	if err != nil || s.noted(noteAccepted, tree) {
		return err == nil, err
	}
	return s.own(ctx, f.Ledger.Tip, f.path(""))
}

// own reports whether the last commit that changed a path of the ledger has our committer. Where
// git knows no identity there is nothing to compare: all such machines have the same one.
func (s *Store) own(ctx context.Context, tip plumbing.Hash, path string) (bool, error) {
	config, err := s.Repo.Config(ctx)
	if err != nil {
		return false, err
	}
	me := config.Committer(time.Time{})
	if me.Email == "git-agent@localhost" {
		return false, nil
	}
	out, err := s.Repo.Output(ctx, nil, "log", "-z", "--no-show-signature", "--no-mailmap", "--first-parent", "--max-count=1", "--format=%cn%n%ce", tip.String(), "--", path)
	if err != nil {
		return false, err
	}
	return strings.TrimSuffix(string(out), "\x00") == me.Name+"\n"+me.Email, nil
}

// Shown notes that a person has looked at a handoff.
func (s *Store) Shown(f *Found) error {
	tree, err := f.tree()
	if err == nil {
		err = s.note(noteShown, tree)
	}
	return err
}

// Accept lets a handoff be told to agents. It must have been shown before; otherwise the error is
// [ErrNotShown].
func (s *Store) Accept(f *Found) error {
	tree, err := f.tree()
	if err != nil {
		return err
	}
	if !s.noted(noteShown, tree) {
		return fmt.Errorf("accept handoff %s: %w", f.ID(), ErrNotShown)
	}
	return s.note(noteAccepted, tree)
}
