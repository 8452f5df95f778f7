package git

import (
	"fmt"
	"slices"
	"strings"

	"gitagent/internal/git/object"
)

// An InWayError names refs below the name of one of ours or above it, beside
// which no git makes that. We delete none of them: they are somebody else's.
type InWayError struct {
	Ref    string   // ours
	By     []string // sorted
	Remote string   // that has them, "" for this repository
}

func (e *InWayError) Error() string {
	const most = 3
	by, at := e.By, ""
	if more := len(by) - most; more > 0 {
		by = append(slices.Clone(by[:most]), fmt.Sprintf("%d more", more))
	}
	if e.Remote != "" {
		at = " at " + e.Remote
	}
	verb := "is"
	if len(e.By) > 1 {
		verb = "are"
	}
	return fmt.Sprintf("%s%s %s in the way of %s, which can't be made beside it", strings.Join(by, ", "), at, verb, e.Ref)
}

// InWay returns an [*InWayError] if any of refs is below or above one of the
// names.
func InWay(refs map[string]object.Hash, names ...string) error {
	for _, name := range names {
		var by []string
		for ref := range refs {
			if strings.HasPrefix(ref, name+"/") || strings.HasPrefix(name, ref+"/") {
				by = append(by, ref)
			}
		}
		if len(by) > 0 {
			slices.Sort(by)
			return &InWayError{Ref: name, By: by}
		}
	}
	return nil
}
