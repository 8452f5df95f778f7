package transcript

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// committed matches git's line for a new commit: `[main 1a2b3c4] subject`. It
// is compiled when needed: that takes a third of a hook's start.
var committed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\[[^\[\]\n]{1,300} ([0-9a-f]{7,64})\] `)
})

// Commits returns the commits named in results of `git commit` in a turn, in
// order, as git abbreviated them. They may not exist, or be older.
func Commits(r Reader, turn []byte) []string {
	if !bytes.Contains(turn, []byte("commit")) {
		return nil
	}
	calls := make(map[string]bool) // by id: the calls that commit
	var list []string
	for at, line := range lines(turn) {
		e := r.Read(at, line)
		if e.Subagent {
			continue
		}
		for _, p := range e.Parts {
			switch {
			case p.Kind == Call && commits(p.Input):
				calls[p.Call] = true
			case p.Kind == Answer && calls[p.Call]:
				for _, found := range committed().FindAllStringSubmatch(p.Text, maxCommits) {
					if len(list) < maxCommits {
						list = append(list, strings.Clone(found[1]))
					}
				}
			}
		}
	}
	return list
}

// commits reports whether a tool's command, text or list, runs `git commit`.
func commits(input gjson.Result) bool {
	command := cmp.Or(input.Get("command").String(), input.Get("cmd").String())
	return strings.Contains(command, "git") && strings.Contains(command, "commit")
}

const maxCommits = 1000
