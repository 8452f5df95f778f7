package command

import (
	"fmt"

	"gitagent/internal/record"
)

// Adopted says for a list how far the work of a mission was adopted, of which last is the last turn; nothing
// if it was not, or if that was taken back.
func Adopted(a *record.Adoption, last int) string {
	switch {
	case a.Holds(last):
		return "adopted"
	case a == nil || a.Undone:
		return ""
	}
	return fmt.Sprintf("adopted up to turn %d", a.Turn)
}
