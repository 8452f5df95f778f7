package transcript

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// committed is what git prints for a commit that it has made: `[main 1a2b3c4] subject`. It is compiled
// when it is needed: that would take a third of a hook's start.
var committed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\[[^\[\]\n]{1,300} ([0-9a-f]{7,64})\] `)
})

// Commits returns the commits of which a result of `git commit` tells in the lines of a turn, in
// order, as git abbreviated them. They are what the transcript says: whether there are such
// commits, and since when, only the repository knows.
func Commits(r Reader, turn []byte) []string {
	if !bytes.Contains(turn, []byte("commit")) {
		return nil
	}
	calls := make(map[string]bool) // of tools, by id: those that commit
	var list []string
	for at, line := range lines(turn) {
		e := r.Read(at, line)
		if e.Aside {
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

// commits reports whether a tool is told to run `git commit`: its command is a text, or a list of words.
func commits(input gjson.Result) bool {
	command := cmp.Or(input.Get("command").String(), input.Get("cmd").String())
	return strings.Contains(command, "git") && strings.Contains(command, "commit")
}

// maxCommits is how many commits of a turn are named.
const maxCommits = 1000
