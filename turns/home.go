package turns

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
)

// ErrAway reports a turn whose conversation is in a repository that is not known
// here, or not as the record says.
var ErrAway = errors.New("its conversation is in another repository, which is not known on this machine")

// A Home is the turn that has another one's conversation, in its repository.
type Home struct {
	*workspace.Workspace
	Turn *Turn

	known *places.Places
}

// Note notes that the conversation of another session, which goes on from the
// turn's, is at home there, too.
func (h *Home) Note(session string) error { return h.known.Note(session, h.Repo.CommonDir) }

// String says where the conversation is.
func (h *Home) String() string {
	return fmt.Sprintf("mission %s, turn %d, in %s", h.Turn.In(), h.Turn.Turn, Place(h.Repo.CommonDir))
}

// HomeOf finds the turn that has the conversation of one whose record names its
// home. A record may be a stranger's, so what it names counts only if it is the
// same turn of the same session. An error says why it is out of reach, and wraps
// [ErrAway] if nothing more is known.
func HomeOf(ctx context.Context, known *places.Places, t *Turn) (*Home, error) {
	common := ""
	if t.Home != nil && t.Home.Turn != 0 && t.Session != "" && filepath.IsLocal(t.Session) {
		common = known.Home(t.Session)
	}
	if common == "" {
		return nil, ErrAway
	}
	w, err := OpenPlace(ctx, common)
	if errors.Is(err, git.ErrNotFound) {
		return nil, ErrAway // it is gone
	}
	if err != nil {
		return nil, err
	}
	id, err := record.ParseID(t.Home.Mission)
	if err != nil {
		return nil, ErrAway
	}
	at, err := Read(ctx, w.Repo, id, t.Home.Turn)
	switch {
	case errors.Is(err, git.ErrNotFound):
		return nil, ErrAway
	case err != nil:
		return nil, fmt.Errorf("read the conversation's turn: %w", err)
	case at.Home != nil, at.Session != t.Session, at.PromptID != t.PromptID:
		return nil, ErrAway
	}
	return &Home{w, at, known}, nil
}

// OpenPlace opens the repository with a common directory, if git would work
// there. An error about its settings comes with a workspace of the valid ones.
func OpenPlace(ctx context.Context, common string) (*workspace.Workspace, error) {
	repo, err := git.FindCommon(common)
	if err == nil {
		err = repo.Trusted(ctx)
	}
	if err != nil {
		return nil, err
	}
	w, err := workspace.Open(repo)
	if w == nil {
		return nil, err
	}
	return w, nil
}

// Place names the directory of a repository for people: its main worktree.
func Place(common string) string {
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	return common
}

// Away reports that the turn's conversation is in another repository. Also a
// turn that says nothing of its home has none here.
func (t *Turn) Away() bool { return t.Home != nil && t.Transcript == nil }
