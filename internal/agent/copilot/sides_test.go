package copilot

import (
	"bytes"
	"strings"
	"testing"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

// TestSides: what a sub-agent did is all that has its id, and a conversation of its own.
func TestSides(t *testing.T) {
	t.Parallel()
	data := agenttest.Capture(t, "sub-agent")
	const id = "e9bd8977-5175-4050-9730-5bfe3c097c5a"
	got, err := Sides("", data, nil, false)
	gittest.Must(t, err)
	if len(got) != 1 || got[0].ID != id || got[0].Type != "general-purpose" || got[0].Call != "call_mock_9" || !got[0].Over {
		t.Fatalf("sub-agents: %+v", got)
	}
	if n := strings.Count(got[0].Lines, "\n"); n != 14 {
		t.Errorf("it has %d lines", n)
	}
	s := transcript.Summarise(transcript.Own(Reader()), []byte(got[0].Lines))
	if s.Reply != "sub answer" || !s.Answered || s.Tokens["mock-model"] != (transcript.Tokens{Input: 610, CacheRead: 400, Output: 20}) {
		t.Errorf("it did %+v", s)
	}
	half, err := Sides("", data[:bytes.Index(data, []byte(`{"type":"subagent.completed"`))], nil, false)
	gittest.Must(t, err)
	if len(half) != 1 || half[0].Over {
		t.Errorf("before its end: %+v", half)
	}
	for _, none := range []string{string(agenttest.Capture(t, "three-turns")), `{"agentId":"../x"}` + "\n" + `{"agentId":"` + "\n", strings.Repeat(`{"data":{"agentId":"a"}}`+"\n", 3), ""} {
		if got, err := Sides("", []byte(none), nil, true); err != nil || len(got) != 0 {
			t.Errorf("%.60s: %+v, %v", none, got, err)
		}
	}
}
