package turns_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gitagent/internal/agent"
	"gitagent/internal/ledger"
	"gitagent/internal/transcript"
	"gitagent/turns"
)

// TestRewound plays captures of a client that begins a new file when a person goes back in the
// conversation: what it has in common with the old one is stored once, and the first turn of the new one
// follows the last that they share.
func TestRewound(t *testing.T) {
	t.Parallel()
	const thread = "01a20994-f999-7070-ae09-149962ce9ef3"
	l := newLab(t)
	client := agent.Of("codex")
	capture := func(name string) ([]byte, []transcript.Turn) {
		data, err := os.ReadFile(filepath.Join("..", "internal", "agent", "codex", "testdata", name+".jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		return data, transcript.Turns(client.Reader(), data)
	}
	day := filepath.Join(l.config, "sessions", "2026", "11", "23")
	if err := os.MkdirAll(day, 0o700); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 18, 5, 0, 0, time.UTC)
	var mission ledger.ID
	play := func(name, file string) (numbers map[string]int) {
		data, begun := capture(name)
		path := filepath.Join(day, file)
		numbers = make(map[string]int)
		for i, b := range begun {
			sig := turns.Signal{Event: turns.Prompted, At: at, Agent: client.Name(), Session: thread, PromptID: b.PromptID, Prompt: b.Prompt, Transcript: path}
			for _, sig.Event = range []turns.Event{turns.Prompted, turns.Stopped} {
				end := b.Start
				if sig.Event == turns.Stopped {
					end = b.End
				}
				if err := os.WriteFile(path, data[:end], 0o600); err != nil {
					t.Fatal(err)
				}
				at = at.Add(time.Second)
				done, err := l.recorder(l.Dir).Record(context.Background(), sig)
				if err != nil {
					t.Fatalf("turn %d of %s: %v", i+1, name, err)
				}
				if len(done.Turns) > 0 {
					mission, numbers[b.PromptID] = done.Turns[0].Mission, done.Turns[0].Turn
				}
			}
		}
		return numbers
	}
	old := play("tui", "rollout-2026-11-23T18-04-47-"+thread+".jsonl")
	fresh := play("rewound", "rollout-2026-11-23T18-07-36-"+thread+"_01a20997-8db3-7e80-9295-6f8b14881855.jsonl")
	shared := "01a20995-6f16-7d00-aeca-5ac5249cbff2"
	first := fresh["01a20997-98c1-7c43-b7e2-8b939adfb8c1"]
	if old[shared] == 0 || first == 0 {
		t.Fatalf("recorded %v, then %v", old, fresh)
	}
	for _, turn := range l.list(mission) {
		if turn.Turn == first && (turn.Transcript.After != old[shared] || turn.Transcript.From != 0) {
			t.Errorf("turn %d is %+v; want it after turn %d", first, turn.Transcript, old[shared])
		}
		if turn.Turn == first+1 && turn.Transcript.After != first {
			t.Errorf("turn %d is %+v; want it after turn %d", turn.Turn, turn.Transcript, first)
		}
	}
}
