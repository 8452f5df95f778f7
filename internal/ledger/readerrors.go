package ledger

import (
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/record"
)

// maxUnread is how many errors [Unread] keeps.
const maxUnread = 10

// ReadErrors collects why things could not be read: the first errors in full, and how many there were
// besides. A stranger's ledger may have a million of them.
type ReadErrors struct {
	errs []error
	more int
}

// Add adds an error; nil is none.
func (u *ReadErrors) Add(err error) {
	switch {
	case err == nil:
	case len(u.errs) < maxUnread:
		u.errs = append(u.errs, err)
	default:
		u.more++
	}
}

// Unreadable is the error that a mission which is there can't be read. It does not wrap err, which may be
// that something was not found; that something is lost can be told.
func Unreadable(id record.ID, err error) error {
	if git.Lost(err) {
		return fmt.Errorf("mission %s can't be read: %w: %v", id, git.ErrDamaged, err)
	}
	return fmt.Errorf("mission %s can't be read: %v", id, err)
}

// An UnreadError says what could not be read. The rest was.
type UnreadError struct{ err error }

func (e *UnreadError) Error() string { return e.err.Error() }
func (e *UnreadError) Unwrap() error { return e.err }

// Err returns an [UnreadError], nil if there is nothing to say.
func (u *ReadErrors) Err() error {
	errs := u.errs[:len(u.errs):len(u.errs)]
	if u.more > 0 {
		errs = append(errs, fmt.Errorf("%d more can't be read", u.more))
	}
	if len(errs) == 0 {
		return nil
	}
	return &UnreadError{errors.Join(errs...)}
}
