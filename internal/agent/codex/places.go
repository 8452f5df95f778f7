package codex

import (
	"slices"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
)

// vacate empties those groups of ours that others follow. Removing them would
// move the others, and the client silently skips a hook that is not in the
// place where the user has trusted it. [hooks.Remove] removes groups at the
// end.
func vacate(settings []byte, entries []hooks.Entry) []byte {
	var vacant []gjson.Result
	gjson.ParseBytes(settings).Get("hooks").ForEach(func(_, groups gjson.Result) bool {
		var last []gjson.Result // of ours, so far at the end
		groups.ForEach(func(_, group gjson.Result) bool {
			if list := group.Get("hooks"); ours(list, entries) {
				last = append(last, list)
			} else {
				vacant, last = append(vacant, last...), nil
			}
			return true
		})
		return true
	})
	for _, list := range slices.Backward(vacant) {
		settings = slices.Concat(settings[:list.Index], []byte("[]"), settings[list.Index+len(list.Raw):])
	}
	return settings
}

// ours reports whether all of a group's hooks are entries of ours.
func ours(list gjson.Result, entries []hooks.Entry) bool {
	all := list.Array()
	return len(all) > 0 && !slices.ContainsFunc(all, func(h gjson.Result) bool {
		return !slices.ContainsFunc(entries, func(e hooks.Entry) bool { return e.Command == h.Get("command").String() })
	})
}
