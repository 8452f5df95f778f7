package ledger

import (
	"errors"
	"fmt"

	"gitagent/internal/git"
	"gitagent/internal/record"
)

// maxUnread is how many errors [ReadErrors] keeps.
const maxUnread = 10

// ReadErrors collects errors: the first ones and a count, as an untrusted
// ledger may cause a million.
type ReadErrors struct {
	errs []error
	more int
}

// Add adds an error, if it is not nil.
func (u *ReadErrors) Add(err error) {
	switch {
	case err == nil:
	case len(u.errs) < maxUnread:
		u.errs = append(u.errs, err)
	default:
		u.more++
	}
}

// Unreadable returns the error for an existing mission. It wraps
// [git.ErrDamaged] if that is the cause, but not err, which may be "not found".
func Unreadable(id record.ID, err error) error {
	if git.Lost(err) {
		return fmt.Errorf("mission %s can't be read: %w: %v", id, git.ErrDamaged, err)
	}
	return fmt.Errorf("mission %s can't be read: %v", id, err)
}

// An UnreadError reports what could not be read. The rest was.
type UnreadError struct{ err error }

func (e *UnreadError) Error() string { return e.err.Error() }
func (e *UnreadError) Unwrap() error { return e.err }

// Err returns an [UnreadError], or nil.
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
