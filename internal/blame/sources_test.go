package blame

import (
	"fmt"
	"strings"
	"testing"
)

// text adds a version with a line for each letter.
func (c *contents) text(letters string) (version int) {
	last := int32(len(c.in.lines) - 1)
	var added, gone []int32
	for line := range int32(128) {
		is, was := strings.ContainsRune(letters, line), last >= 0 && c.in.has(last, line)
		if is && !was {
			added = append(added, line)
		} else if was && !is {
			gone = append(gone, line)
		}
	}
	c.texts = append(c.texts, []int32{c.in.next(added, gone)})
	return len(c.texts) - 1
}

// TestTips reads commits as "parents:lines", in order; a parent is a place, a line a letter, * a state. "-"
// is a commit where the graph ends.
func TestTips(t *testing.T) {
	for _, test := range []struct{ what, commits, want string }{
		{"the very same as a state", "-:a 0:ab* 1:abc* 2:abd 0:abc", "[] [] [] [] [2]"},
		{"the same as a state that came from elsewhere", "-:ab 0:b* 0:a 2:b", "[] [] [] [1]"},
		{"a squash of two states", "-:a 0:ab 1:abc 0:abc", "[] [] [] [2]"},
		{"the newest that has one of them", "-:a 0:ab 1:ab 0:ab", "[] [] [] [2]"},
		{"what that has not is looked for again", "-:a 0:ab 0:ac 0:abc", "[] [] [] [2 1]"},
		{"what a parent has comes from there", "-:a 0:ab 0:ab 2:ab", "[] [] [1] []"},
		{"nothing before it", "-:a 0:ab 0:ac", "[] [] []"},
		{"nothing from after it", "-:a 0:ab 0:abc 0:ac", "[] [] [1] [2]"},
		{"the same as one of two parents", "-:a 0:ab 0:ac 1,2:ab", "[] [] [] []"},
		{"a merge", "-:a 0:ab 0:ac 0:ad 1,2:abcd", "[] [] [] [] [3]"},
		{"a line comes back", "-:ab 0:a 1:ab", "[] [] [0]"},
		{"a line comes back from where the graph ends", "-:a -:b 0:ab", "[] [] [1]"},
		{"the first commit", ":ab :abc", "[] [0]"},
	} {
		t.Run(test.what, func(t *testing.T) {
			var parents [][]int
			var states []bool
			c := &contents{in: new(presence)}
			known := make(map[string]int)
			for field := range strings.FieldsSeq(test.commits) {
				of, text, _ := strings.Cut(field, ":")
				text, state := strings.CutSuffix(text, "*")
				states = append(states, state)
				list := []int{}
				for p := range strings.SplitSeq(of, ",") {
					if n := 0; p != "" && p != "-" {
						fmt.Sscan(p, &n)
						list = append(list, n)
					}
				}
				if of == "-" {
					list = nil
				}
				parents = append(parents, list)
				version, ok := known[text]
				if !ok {
					version = c.text(text)
					known[text] = version
				}
				c.of = append(c.of, version)
			}
			var got []string
			for _, list := range tips(parents, states, func(int, int) bool { return false }, c) {
				got = append(got, fmt.Sprint(list))
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("tips %v, want %s", got, test.want)
			}
		})
	}
}
