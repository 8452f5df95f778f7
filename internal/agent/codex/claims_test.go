package codex

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/agenttest"
)

// TestClaims: patches with their files, commands from when they were asked for, and one that nobody waited for.
func TestClaims(t *testing.T) {
	t.Parallel()
	const asked, repo = 1795904838000, "/home/dev/cx"
	for name, want := range map[string][]string{
		"patches": {
			"674 684 edits a.txt new.txt z.txt",
			"762 763 edits sub/x.txt sub/y.txt",
			"783 2901 . sleep 2; echo x >> a.txt",
			"3147 3313 . echo y >> new.txt; sed -i 's/one/1/' a.txt",
			"3439 4530 ./sub sleep 1; echo w >> w.txt",
			"5382 5470 . ls",
			"4725 8867 . sleep 4; echo late >> late.txt",
			"5839 11907 . sleep 6",
		},
		"image": nil,
	} {
		var got []string
		for _, c := range Claims(agenttest.Capture(t, name)) {
			line := fmt.Sprint(c.From-asked, " ", c.To-asked, " ")
			if c.Effect == hooks.Edits {
				slices.Sort(c.Paths)
				line += "edits " + strings.ReplaceAll(strings.Join(c.Paths, " "), repo+"/", "")
			} else {
				line += "." + strings.TrimPrefix(c.Cwd, repo) + " " + c.Command
			}
			got = append(got, line)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, c := range Claims(agenttest.Capture(t, "tui")) {
		if c.Command == "echo shell" {
			t.Errorf("a person's own command is among them: %+v", c)
		}
	}
}

// TestClaimsHostile: what the client would not write is no claim.
func TestClaimsHostile(t *testing.T) {
	t.Parallel()
	const head, times = `{"type":"event_msg","payload":{"type":"item_completed","item":`, `,"started_at_ms":1,"completed_at_ms":2}}`
	for line, want := range map[string]int{
		head + `{"type":"FileChange","changes":{"/a":{"move_path":7}}}` + times:             1,
		head + `{"type":"CommandExecution","command":["ls"],"cwd":"file://%zz"}` + times:    1,
		head + `{"type":"CommandExecution","command":[],"cwd":7}` + times:                   0,
		head + `{"type":"CommandExecution","command":"ls"}}}`:                               0,
		head + `{"type":"FileChange"},"started_at_ms":2,"completed_at_ms":1}}`:              0,
		head + `{"type":"AgentMessage"}` + times:                                            0,
		head + `{"type":"FileChange"`:                                                       0,
		`{"type":"response_item","payload":{"type":"x_call","call_id":["item_completed"]}}`: 0,
	} {
		if got := Claims([]byte(line + "\n")); len(got) != want {
			t.Errorf("%s: got %+v", line, got)
		}
	}
}
