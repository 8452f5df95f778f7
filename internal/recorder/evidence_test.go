package recorder

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/agent"
	"gitagent/internal/evidence"
	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/internal/ledgertx"
	"gitagent/internal/record"
	"gitagent/internal/snapshot"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/turns"
)

func TestChangedAfter(t *testing.T) {
	t.Parallel()
	is := func(tool, command string, asked, told int) ranDeed {
		return ranDeed{Deed: transcript.Deed{Call: tool + command, Tool: tool, Command: command, Asked: asked, Told: told}}
	}
	check := is("Bash", "go test ./...", 10, 11)
	stashed := is("Bash", "git stash && go test ./...; git stash pop", 10, 11)
	refused := is("Edit", "", 12, 13)
	refused.Failed = true
	seen := func(tree string) *journal.Span {
		return &journal.Span{Seen: []*journal.Entry{
			{Tree: object.NewHash(gittest.Hash("1"))},
			{Tree: object.NewHash(gittest.Hash(tree)), Calls: []journal.Call{{ID: check.Call, Tool: "Bash"}}},
		}}
	}
	for name, tt := range map[string]struct {
		deeds  []ranDeed
		during *journal.Span
		files  int
		want   string
	}{
		"nothing follows":                    {[]ranDeed{is("Edit", "", 1, 2), check}, nil, 1, "no"},
		"an edit follows":                    {[]ranDeed{check, is("Edit", "", 12, 13)}, nil, 1, "yes"},
		"one that failed":                    {[]ranDeed{check, refused}, nil, 1, "no"},
		"only reading follows":               {[]ranDeed{check, is("Read", "", 12, 13), is("Bash", "ls | head", 14, 15)}, nil, 1, "no"},
		"who knows what follows":             {[]ranDeed{check, is("Bash", "./generate", 12, 13)}, nil, 1, "not known"},
		"but the turn changed nothing":       {[]ranDeed{check, is("Bash", "./generate", 12, 13)}, nil, 0, "no"},
		"an edit called beside it, answered": {[]ranDeed{is("Edit", "", 9, 12), check}, nil, 1, "yes"},
		"one that was answered before":       {[]ranDeed{is("Edit", "", 9, 10), check}, nil, 1, "no"},
		"the journal saw the end's state":    {[]ranDeed{check, is("Bash", "./generate", 12, 13)}, seen("2"), 1, "no"},
		"an edit of another place":           {[]ranDeed{check, is("Edit", "", 12, 13)}, seen("2"), 1, "no"},
		"the journal saw another state":      {[]ranDeed{check}, seen("3"), 1, "yes"},
		"another state was tested":           {[]ranDeed{stashed}, nil, 1, "not known"},
		"then: the command went on":          {[]ranDeed{check}, nil, 1, "not known"},
		"then: and changed a file":           {[]ranDeed{check}, seen("2"), 1, "not known"},
		"then: and changed none":             {[]ranDeed{check}, &journal.Span{Seen: append([]*journal.Entry{{Tree: object.NewHash(gittest.Hash("2"))}}, seen("2").Seen[1])}, 1, "no"},
		"then: the journal saw another":      {[]ranDeed{check}, seen("3"), 1, "yes"},
		"then: the turn changed nothing":     {[]ranDeed{check}, nil, 0, "no"},
		"the journal saw none after it":      {[]ranDeed{check}, &journal.Span{}, 1, "no"},
	} {
		name, then := strings.CutPrefix(name, "then: ")
		r := &recording{inputs: inputs{Signal: Signal{Agent: "claude-code"}}, during: tt.during}
		r.tx = &ledgertx.Tx{Snap: &snapshot.Snapshot{Tree: object.NewHash(gittest.Hash("2"))}}
		last := 0
		for i, d := range tt.deeds {
			if d.Call == check.Call {
				last = i
			}
		}
		got := "not known"
		if after := r.changedAfter(&turns.Turn{Agent: agent.Default().Name, Files: tt.files, Base: object.NewHash(gittest.Hash("4"))}, tt.deeds, last, then); after != nil {
			got = map[bool]string{true: "yes", false: "no"}[*after]
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}

// TestDeedsOfSides: what sub-agents called is among the turn's calls, by time.
func TestDeedsOfSides(t *testing.T) {
	t.Parallel()
	lines := func(id, at, command string, side bool) string {
		more := ""
		if side {
			more = `"isSidechain":true,`
		}
		return `{"type":"assistant",` + more + `"uuid":"a` + id + `","timestamp":"2026-11-30T10:00:` + at + `Z","message":{"id":"m` + id + `","content":[{"type":"tool_use","id":"` + id + `","name":"Bash","input":{"command":"` + command + `"}}]}}` + "\n" +
			`{"type":"user",` + more + `"uuid":"u` + id + `","message":{"content":[{"type":"tool_result","tool_use_id":"` + id + `","content":"ok","is_error":false}]}}` + "\n"
	}
	r := &recording{inputs: inputs{Signal: Signal{Agent: "claude-code"}}}
	sub := sides{list: []sided{{Subagent: record.Subagent{ID: "a11"}, raw: []byte(lines("2", "02", "go vet ./...", true))}}}
	segment := lines("1", "01", "go test ./...", false) + lines("3", "03", "ls", false)
	var got []string
	for _, d := range r.deeds(r.agent().Reader, []byte(segment), sub) {
		got = append(got, d.agent+" "+d.Command+fmt.Sprint(d.Ended == evidence.Exit(0)))
	}
	if want := []string{" go test ./...true", "a11 go vet ./...true", " lstrue"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPlaceOf: where a check ran is told from the worktree's top, also through a link.
func TestPlaceOf(t *testing.T) {
	t.Parallel()
	top, link := t.TempDir(), filepath.Join(t.TempDir(), "link")
	gittest.Must(t, os.Mkdir(filepath.Join(top, "web"), 0o755))
	top, err := filepath.EvalSymlinks(top)
	gittest.Must(t, err)
	gittest.Must(t, os.Symlink(top, link))
	r := &recording{inputs: inputs{top: top}}
	for dir, want := range map[string]string{
		"": "", "web": "web", "box:web": "box:web", top: "", filepath.Join(top, "web"): "web", filepath.Join(link, "web"): "web", link: "",
		filepath.Join(filepath.Dir(top), "other"): filepath.Join(filepath.Dir(top), "other"), filepath.Join(top, ".github"): ".github",
	} {
		if got := r.placeOf(dir); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
}

// TestNewestChecks: a record has room for a check that stands.
func TestNewestChecks(t *testing.T) {
	t.Parallel()
	var checks []record.Check
	for i := range record.MaxChecks + 2 {
		checks = append(checks, record.Check{Command: fmt.Sprint(i)})
	}
	for _, tt := range []struct {
		standing []int
		want     string
	}{{nil, "2 3"}, {[]int{0}, "0 3"}, {[]int{1}, "1 3"}, {[]int{0, 1}, "0 1"}, {[]int{21}, "2 3"}} {
		kept := newest(checks, tt.standing)
		if got := kept[0].Command + " " + kept[1].Command; got != tt.want || len(kept) != record.MaxChecks {
			t.Errorf("%d of them, %v stand: from %s, want %s", len(kept), tt.standing, got, tt.want)
		}
	}
}
