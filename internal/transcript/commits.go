package transcript

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// committed is what git prints for a commit that it has made: `[main 1a2b3c4] subject`. It is compiled
// when it is needed: that would take a third of a hook's start.
var committed = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^\[[^\[\]\n]{1,300} ([0-9a-f]{7,40})\] `)
})

// Commits returns the commits of which a result of `git commit` tells in the lines of a turn, in
// order, as git abbreviated them. They are what the transcript says: whether there are such
// commits, and since when, only the repository knows.
func Commits(turn []byte) []string {
	if !bytes.Contains(turn, []byte("commit")) {
		return nil
	}
	calls := make(map[string]bool) // of tools, by id: those that commit
	var list []string
	for _, line := range lines(turn) {
		r, ok := decode(line)
		if !ok || r.sidechain || len(r.message.tools) == 0 && !r.message.result {
			continue
		}
		gjson.GetBytes(line, "message.content").ForEach(func(_, block gjson.Result) bool {
			switch block.Get("type").Str {
			case "tool_use":
				command := block.Get("input.command").Str
				if strings.Contains(command, "git") && strings.Contains(command, "commit") {
					calls[block.Get("id").Str] = true
				}
			case "tool_result":
				if !calls[block.Get("tool_use_id").Str] {
					break
				}
				var m message
				m.decodeContent(block.Get("content"))
				for _, found := range committed().FindAllStringSubmatch(m.text(), maxCommits) {
					if len(list) < maxCommits {
						list = append(list, found[1])
					}
				}
			}
			return true
		})
	}
	return list
}

// maxCommits is how many commits of a turn are named.
const maxCommits = 1000
