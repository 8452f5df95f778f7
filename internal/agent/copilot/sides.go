package copilot

import (
	"bytes"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Sides lists the sub-agents that a part of the conversation tells of. All that
// they do is in it, between the session's own events.
func Sides(_ string, segment []byte, _ map[string]int64, _ bool) ([]transcript.SubagentFile, error) {
	if !bytes.Contains(segment, mark) {
		return nil, nil
	}
	var list []transcript.SubagentFile
	at, did := make(map[string]int), make(map[string][]byte)
	for line := range bytes.Lines(segment) {
		if !bytes.Contains(line, mark) || !transcript.Valid(line) {
			continue
		}
		event := gjson.ParseBytes(line)
		id := text(event, "agentId")
		if !hooks.ValidID(id) { // a hook that has one in its input
			continue
		}
		if _, is := at[id]; !is {
			at[id] = len(list)
			list = append(list, transcript.SubagentFile{ID: id})
		}
		did[id] = append(did[id], line...)
		switch s := &list[at[id]]; event.Get("type").Str {
		case "subagent.started":
			s.Type, s.Call = text(event, "data.agentName"), text(event, "data.toolCallId")
		case "subagent.completed", "subagent.failed":
			s.Over = true
		}
	}
	for i, s := range list {
		list[i].Lines, list[i].Size = string(did[s.ID]), int64(len(did[s.ID]))
	}
	return list, nil
}

// mark is in every line of a sub-agent's, and in few others.
var mark = []byte(`"agentId":"`)
