package ledger

import (
	"errors"
	"fmt"
)

// maxUnread is how many errors [Unread] keeps.
const maxUnread = 10

// Unread collects why things could not be read: the first errors in full, and how many there were
// besides. A stranger's ledger may have a million of them.
type Unread struct {
	errs []error
	more int
}

// Add adds an error; nil is none.
func (u *Unread) Add(err error) {
	switch {
	case err == nil:
	case len(u.errs) < maxUnread:
		u.errs = append(u.errs, err)
	default:
		u.more++
	}
}

// Err joins the errors, nil if there are none.
func (u *Unread) Err() error {
	if u.more == 0 {
		return errors.Join(u.errs...)
	}
	return errors.Join(append(u.errs[:len(u.errs):len(u.errs)], fmt.Errorf("%d more can't be read", u.more))...)
}
