package purge

import (
	"encoding/json"
	"fmt"
	"time"

	"gitagent/internal/purgemap"
	"gitagent/internal/session"
)

// unaskedFile notes what others' purges have taken out here without a question,
// as many small ones are a large one.
const unaskedFile = "unasked"

// together is for how long that counts: nobody has many secrets to purge in one
// week.
const together = 7 * 24 * time.Hour

type unasked struct {
	Since time.Time        `json:"since"`
	Taken purgemap.Unasked `json:"taken"`
}

// readUnasked returns what counts now. What can't be read is nothing.
func readUnasked(s session.Store, now time.Time) unasked {
	var u unasked
	data, err := s.Dir().ReadFile(unaskedFile)
	if err != nil || json.Unmarshal(data, &u) != nil || now.Sub(u.Since) > together || u.Since.After(now) {
		u = unasked{Since: now}
	}
	return u
}

func (u *unasked) write(s session.Store) error {
	data, err := json.Marshal(u)
	if err == nil {
		err = s.Dir().WriteFile(unaskedFile, data)
	}
	if err != nil {
		return fmt.Errorf("note what others have purged: %w", err)
	}
	return nil
}
