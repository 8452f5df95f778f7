package codex

import (
	"slices"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
)

// vacate returns a file of hooks in which those groups of ours that have others behind them are empty.
// To take them out would move the others, and the client skips, without a word, a hook that is not in
// the place in which the user has trusted it. What is last is left to [hooks.Remove].
func vacate(settings []byte, entries []hooks.Entry) []byte {
	var vacant []gjson.Result
	gjson.ParseBytes(settings).Get("hooks").ForEach(func(_, groups gjson.Result) bool {
		var last []gjson.Result // of ours, with nothing behind them so far
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

// ours reports whether a group's hooks are entries of ours, and nothing else.
func ours(list gjson.Result, entries []hooks.Entry) bool {
	all := list.Array()
	return len(all) > 0 && !slices.ContainsFunc(all, func(h gjson.Result) bool {
		return !slices.ContainsFunc(entries, func(e hooks.Entry) bool { return e.Command == h.Get("command").String() })
	})
}
