package purge

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"

	"gitagent/internal/git/object"
	"gitagent/internal/session"
)

// removedFile names the commits of missions that the user has purged as a whole:
// a line each, the hash of a commit's hash, the last ones. A remote may have only
// the beginning of such a mission, where its last turns were never sent.
const removedFile = "removed"

const maxRemoved = 4 << 20 // bytes: 60,000 commits

func removedLine(commit object.Hash) []byte {
	return fmt.Appendf(nil, "%x\n", sha256.Sum256([]byte("git-agent removed 1\x00"+commit.String())))
}

// noteRemoved notes what the user has go, before it goes.
func (p *Plan) noteRemoved() error {
	gone := p.rewrite.Gone()
	if p.Map != nil || len(gone) == 0 { // what others have removed is theirs to name
		return nil
	}
	data, err := p.Store.Dir().ReadFile(removedFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("note which missions go: %w", err)
	}
	for _, h := range gone {
		data = append(data, removedLine(h)...)
	}
	const size = 2*sha256.Size + 1
	if n := len(data) - maxRemoved; n > 0 {
		data = data[(n+size-1)/size*size:]
	}
	err = p.Store.Dir().WriteFile(removedFile+".new", data)
	if err == nil {
		err = p.Store.Dir().Rename(removedFile+".new", removedFile)
	}
	if err != nil {
		return fmt.Errorf("note which missions go: %w", err)
	}
	return nil
}

// WasRemoved returns those of some commits that a mission had which the user has
// purged as a whole.
func WasRemoved(s session.Store, commits []object.Hash) (list []object.Hash, err error) {
	data, err := s.Dir().ReadFile(removedFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read which missions went: %w", err)
	}
	lines := make(map[string]bool)
	for line := range bytes.Lines(data) {
		lines[string(line)] = true
	}
	for _, h := range commits {
		if lines[string(removedLine(h))] {
			list = append(list, h)
		}
	}
	return list, nil
}
