package claude

import (
	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Meter decodes most records no further than their type.
func (r *reader) Meter(line []byte, answered bool) transcript.Entry {
	switch gjson.GetBytes(line, "type").Str {
	case "attachment":
		if gjson.GetBytes(line, "attachment.type").Str != "model" {
			return transcript.Entry{}
		}
	case "system":
	case "assistant":
		if answered {
			return transcript.Entry{}
		}
	default:
		return transcript.Entry{}
	}
	rec, ok := decode(line)
	if !ok {
		return transcript.Entry{}
	}
	e := transcript.Entry{At: transcript.Moment(rec.timestamp), Subagent: rec.sidechain}
	switch rec.kind {
	case "attachment":
		return transcript.Entry{Variant: rec.variant()}
	case "system":
		e.Compacted = rec.compaction()
	case "assistant":
		rec.spent(&e)
	}
	return e
}

func (rec *fileLine) variant() string {
	if rec.attached.Get("type").Str != "model" {
		return ""
	}
	return transcript.Kept(rec.attached.Get("identity.modelId"))
}

func (rec *fileLine) compaction() *transcript.Compacted {
	return &transcript.Compacted{
		Auto:   rec.compacted.Get("trigger").Str == "auto",
		Tokens: transcript.Count(rec.compacted.Get("preTokens")),
		Left:   transcript.Count(rec.compacted.Get("postTokens")),
	}
}
