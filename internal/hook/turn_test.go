package hook

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/turns"
)

// Each event is handled by one of the programs.
func TestEvents(t *testing.T) {
	t.Parallel()
	both := map[string]int{}
	for _, p := range []*Program{Turn, Handoff} {
		for name := range p.events {
			both[name]++
		}
	}
	for _, name := range []string{
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolBatch", "PostToolUse", "Stop", "StopFailure", "Interrupt", "PreCompact", "SessionEnd", "SubagentStop",
	} {
		if both[name] != 1 {
			t.Errorf("%s is handled %d times", name, both[name])
		}
		delete(both, name)
	}
	if len(both) > 0 {
		t.Errorf("these events are handled, too: %v", both)
	}
}

func TestSignal(t *testing.T) {
	t.Parallel()
	e := &hooks.Payload{SessionID: "s", PromptID: "p", Prompt: "do", LastAssistantMessage: "done", StopHookActive: true, TranscriptPath: "/home/dev/s"}
	want := recorder.Signal{Event: recorder.Erred, Session: "s", PromptID: "p", Prompt: "do", Reply: "done", Again: true, Transcript: "/home/dev/s", FlushWait: recorder.FlushWait}
	if got := signalOf(recorder.Erred, e); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		r       recorder.Result
		purging bool
		want    []string // kind, + if it is logged, and the missions that are named
	}{
		{"nothing", recorder.Result{Mission: "aaaaaaaa"}, false, nil},
		{"turns of others", recorder.Result{Mission: "aaaaaaaa", Quarantined: "bbbbbbbb"}, false, []string{"aside+ aaaaaaaa bbbbbbbb"}},
		{"a purge", recorder.Result{Mission: "aaaaaaaa"}, true, []string{"purge"}},
		{"damage", recorder.Result{Mission: "aaaaaaaa", Damaged: "cccccccc"}, false, []string{"damaged+ aaaaaaaa cccccccc"}},
		{"a lock", recorder.Result{Mission: "aaaaaaaa", Stayed: errors.New("locked")}, false, []string{"branch aaaaaaaa"}},
		{
			"all",
			recorder.Result{Mission: "aaaaaaaa", Quarantined: "bbbbbbbb", Damaged: "cccccccc", Stayed: errors.New("locked")},
			true,
			[]string{"aside+ aaaaaaaa bbbbbbbb", "purge", "damaged+ aaaaaaaa cccccccc", "branch aaaaaaaa"},
		},
	} {
		var got []string
		for _, n := range notices(&tt.r, tt.purging) {
			line := n.kind
			if n.logged {
				line += "+"
			}
			for _, id := range []string{"aaaaaaaa", "bbbbbbbb", "cccccccc"} {
				if strings.Contains(n.text, id) {
					line += " " + id
				}
			}
			got = append(got, line)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestNoticesGone: the newest steps are told one by one, the others together.
func TestNoticesGone(t *testing.T) {
	t.Parallel()
	turn := &turns.Turn{Mission: "aaaaaaaa", Turn: 1}
	var gone []recorder.Gone
	for n := 1; n <= maxTold+2; n++ {
		gone = append(gone, recorder.Gone{Step: &turns.State{In: "aaaaaaaa", Turn: turn, Step: n}, Paths: []string{"f"}})
	}
	for _, tt := range []struct {
		gone []recorder.Gone
		want []string // ends of the commands
	}{
		{nil, nil},
		{gone[:maxTold], []string{"/1.1 -- :/f", "/1.2 -- :/f", "/1.3 -- :/f"}},
		{gone, []string{"show --steps aaaaaaaa/1", "/1.3 -- :/f", "/1.4 -- :/f", "/1.5 -- :/f"}},
	} {
		list := notices(&recorder.Result{Gone: tt.gone}, false)
		ok := len(list) == len(tt.want)
		for i := 0; ok && i < len(list); i++ {
			ok = strings.HasSuffix(list[i].command, tt.want[i])
		}
		if !ok {
			t.Errorf("%d steps: %+v, want commands that end in %q", len(tt.gone), list, tt.want)
		}
	}
}

func TestPushWait(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		setting string
		want    string
	}{
		{"", "3s true"},
		{"10s", "10s true"},
		{"0s", "0s false"},
		{"-1s", "-1s false"},
		{"soon", "3s true, invalid"},
	} {
		wait, waits, err := pushWait(tt.setting, 3*time.Second)
		got := fmt.Sprintf("%v %t", wait, waits)
		if err != nil {
			got += ", invalid"
		}
		if got != tt.want {
			t.Errorf("%q: %s, want %s", tt.setting, got, tt.want)
		}
	}
}

func TestAlsoGone(t *testing.T) {
	t.Parallel()
	var gone []*handoffstore.Gathered
	for _, id := range []record.ID{"aaaaaaaa", "bbbbbbbb", "cccccccc"} {
		gone = append(gone, &handoffstore.Gathered{Handoff: &handoffstore.Handoff{Mission: id, Number: 2, ExitType: record.Crash}})
	}
	for _, tt := range []struct {
		gone []*handoffstore.Gathered
		want string // the missions that are named
	}{
		{nil, ""},
		{gone[1:2], ""}, // it is told already
		{gone, "aaaaaaaa/2 cccccccc/2"},
		{slices.Repeat(gone[:1], 9), "aaaaaaaa/2 aaaaaaaa/2"},
	} {
		var got []string
		for line := range strings.Lines(alsoGone(tt.gone, handoffstore.ID{Mission: "bbbbbbbb", Number: 2})) {
			if _, rest, ok := strings.Cut(line, "prime "); ok {
				got = append(got, strings.TrimRight(rest, "`\n"))
			}
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%d sessions: %q, want %q", len(tt.gone), got, tt.want)
		}
	}
}
