package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// Threads that the client named on 2026-11-29: a parent, its subagents, of which outer started inner, and another one's.
const (
	parent    = "01a228c1-f711-7d11-a4ef-1e5d7eb0c4f5"
	childA    = "01a228c1-fa05-7a93-9555-e2fc4f4f1993"
	childB    = "01a228c1-fab5-7a90-9733-649b9670504e"
	outer     = "01a228c2-02f4-71a2-b61c-960029d57ff2"
	inner     = "01a228c2-0475-7221-a058-95d615d0a116"
	repeating = "01a228c2-0e1e-7a80-a304-5a6238f8e9eb"
	stranger  = "01a228c2-3e18-7183-8c8e-24bfd68a28a9"
)

// spawns, waits and acts are what a rollout says of a subagent.
func spawns(call, thread string) string {
	return fmt.Sprintf(`{"ordinal":11,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CollabAgentToolCall","id":"%s","tool":"spawn_agent","status":"completed","receiver_thread_ids":["%s"],"prompt":"look"}}}`+"\n", call, thread)
}

func waits(threads ...string) string {
	return fmt.Sprintf(`{"ordinal":12,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CollabAgentToolCall","id":"wait","tool":"wait","status":"completed","receiver_thread_ids":["%s"]}}}`+"\n", strings.Join(threads, `","`))
}

func acts(kind, call, thread string) string {
	return fmt.Sprintf(`{"ordinal":13,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"SubAgentActivity","id":"%s","kind":"%s","agent_thread_id":"%s","agent_path":"/lead/one"}}}`+"\n", call, kind, thread)
}

func notes(thread string) string {
	return fmt.Sprintf(`{"ordinal":14,"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<subagent_notification>\n{\"agent_path\":\"%s\",\"status\":\"shutdown\"}\n</subagent_notification>"}]}}`+"\n", thread)
}

// begins is the first record of a subagent's rollout.
func begins(by, role, more string) string {
	return `{"ordinal":0,"type":"session_meta","payload":{"parent_thread_id":"` + by + `","thread_source":"subagent","source":{"subagent":{"thread_spawn":{"depth":1,"agent_role":` + role + `}}}` + more + `}}` + "\n"
}

// threads writes rollouts, by their threads, and returns the parent's path.
func threads(t *testing.T, day string, rollouts map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sessions", filepath.FromSlash(day))
	gittest.Must(t, os.MkdirAll(dir, 0o700))
	for thread, text := range rollouts {
		gittest.Must(t, os.WriteFile(rolloutOf(dir, thread), []byte(text), 0o600))
	}
	return rolloutOf(dir, parent)
}

func rolloutOf(dir, thread string) string {
	return filepath.Join(dir, "rollout-2026-11-29T19-22-09-"+thread+".jsonl")
}

// TestSides: which rollouts are those of subagents, and what is said of them.
func TestSides(t *testing.T) {
	t.Parallel()
	nested := begins(parent, `"worker"`, "") + spawns("c3", inner)
	repeats := begins(parent, "null", `,"subagent_history_start_ordinal":2`) + `{"ordinal":1,"type":"event_msg","payload":{"type":"turn_aborted"}}` + "\n"
	rollouts := map[string]string{
		parent:    `{"ordinal":0,"type":"session_meta","payload":{"thread_source":"user","source":"exec"}}` + "\n" + spawns("c1", childA) + spawns("c2", childB) + spawns("c4", outer),
		childA:    begins(parent, "null", ""),
		childB:    begins(parent, "null", ""),
		outer:     nested,
		inner:     begins(outer, "null", ""),
		stranger:  begins("01a228c1-0000-7000-8000-000000000000", "null", ""),
		repeating: repeats + `{"ordinal":2,"type":"event_msg","payload":{"type":"task_started"}}` + "\n",
	}
	for _, day := range []string{"2026/11/29", "2026/11/28", "2026/11/30"} { // the client's time zone is not always ours
		path := threads(t, day, rollouts)
		gittest.Must(t, os.WriteFile(rolloutOf(filepath.Dir(path), childA)+transcript.Zst, []byte("x"), 0o600)) // the client is about to compress it
		file := func(thread, kind, call string, start int) transcript.SubagentFile {
			return transcript.SubagentFile{
				ID: thread, Path: rolloutOf(filepath.Dir(path), thread), Type: kind, Call: call, Start: int64(start), Size: int64(len(rollouts[thread])),
			}
		}
		for _, tt := range []struct {
			name, segment string
			read          map[string]int64
			running       bool
			want          []transcript.SubagentFile
		}{
			{name: "the turn has none", segment: `{"type":"event_msg"}` + "\n"},
			{
				name: "two at once", segment: spawns("c1", childA) + spawns("c2", childB) + waits(childA, childB),
				want: []transcript.SubagentFile{file(childA, "default", "c1", 0), file(childB, "default", "c2", 0)},
			},
			{name: "one was read", segment: waits(childA, childB), read: map[string]int64{childA: int64(len(rollouts[childA]))}, want: []transcript.SubagentFile{file(childB, "default", "", 0)}},
			{name: "one that has one itself", segment: spawns("c4", outer), want: []transcript.SubagentFile{file(outer, "worker", "c4", 0), file(inner, "default", "c3", 0)}},
			{name: "one that repeats the conversation before", segment: spawns("c5", repeating), want: []transcript.SubagentFile{file(repeating, "default", "c5", len(repeats))}},
			{name: "the other kind of tools", segment: acts("started", "c1", childA) + acts("completed", "subagent-completed-1", childA), want: []transcript.SubagentFile{file(childA, "default", "c1", 0)}},
			{name: "one goes on", segment: acts("interacted", "c9", childA), read: map[string]int64{childA: 5}, want: []transcript.SubagentFile{file(childA, "default", "", 0)}},
			{name: "one has ended by itself", segment: notes(childA), want: []transcript.SubagentFile{file(childA, "default", "", 0)}},
			{name: "another session's", segment: notes(stranger)},
			{name: "one still runs", read: map[string]int64{childA: 5, childB: int64(len(rollouts[childB]))}, running: true, want: []transcript.SubagentFile{file(childA, "default", "", 0)}},
			{name: "none runs", read: map[string]int64{childA: 5}},
			{
				name: "all", running: true,
				want: []transcript.SubagentFile{file(childA, "default", "c1", 0), file(childB, "default", "c2", 0), file(outer, "worker", "c4", 0), file(inner, "default", "c3", 0)},
			},
			{name: "a message to the parent", segment: acts("interacted", "c9", parent)},
			{name: "no rollout", segment: spawns("c1", "01a228c1-0000-7000-8000-000000000000")},
			{name: "hostile", segment: spawns("c1", "../x") + spawns("c1", "-x") + spawns("c1", "x") + spawns("c1", "") + `{"CollabAgentToolCall":` + "\n" + `"SubAgentActivity"` + "\n"},
		} {
			got, err := Sides(path, []byte(tt.segment), tt.read, tt.running)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("%s: %+v, %v; want %+v", tt.name, got, err, tt.want)
			}
		}
	}
}

// TestSidesLinked: a symbolic link in the place of a rollout is not followed, and told.
func TestSidesLinked(t *testing.T) {
	t.Parallel()
	path := threads(t, "2026/11/29", map[string]string{"other": begins(parent, "null", ""), childB: begins(parent, "null", "")})
	link := rolloutOf(filepath.Dir(path), childA)
	if err := os.Symlink(rolloutOf(filepath.Dir(path), "other"), link); err != nil {
		t.Skip(err)
	}
	got, err := Sides(path, []byte(spawns("c1", childA)+spawns("c2", childB)), nil, false)
	if len(got) != 1 || got[0].ID != childB || err == nil || !strings.Contains(err.Error(), link) {
		t.Errorf("got %+v, %v", got, err)
	}
}
