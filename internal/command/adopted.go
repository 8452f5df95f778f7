package command

import (
	"fmt"

	"gitagent/internal/record"
)

// Adopted says for a list how far a mission's work, up to the turn last, was
// adopted. It returns "" if it was not, or if that was undone.
func Adopted(a *record.Adoption, last int) string {
	switch {
	case a.Holds(last):
		return "adopted"
	case a == nil || a.Undone:
		return ""
	}
	return fmt.Sprintf("adopted up to turn %d", a.Turn)
}
