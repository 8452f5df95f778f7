package qwen

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Rebuild makes the file of a new session: the conversation's records, in a
// chain.
//
// Lines may be untrusted: only known fields of records that the client's
// next request is made from are kept, see [fields]. That leaves out telemetry,
// goals, models, worktrees, checkpoints and other things that the client goes
// on with. A foreign conversation also loses the model's thoughts, all that
// only the service can have signed, and hooks' words.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	cwd, err := json.Marshal(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("rebuild session %s: %w", c.Session, err)
	}
	b := builder{foreign: c.Foreign, session: gjson.AppendJSONString(nil, c.Session), cwd: cwd, parent: []byte("null"), seen: make(map[string]bool)}
	return &transcript.Rebuilt{Path: path(c.Config, c.Dir, c.Session), Write: func(w *bufio.Writer) error {
		b.file = w
		for line, err := range c.Lines {
			if err != nil {
				return err
			}
			b.add(line)
		}
		if !b.said {
			return fmt.Errorf("rebuild session %s: %w", c.Session, transcript.ErrEmpty)
		}
		return nil
	}}, nil
}

// fields are the kept fields of records, by their types, and of the objects in
// them. They are from files of Qwen Code 0.24.4, and tested with it. Names of
// files and places that it would read (fileData) are left out.
var fields = sync.OnceValue(func() transcript.Fields {
	return transcript.Fields{Foreign: ofClient, Refused: ofOthers, Known: map[string]string{
		"user":        "timestamp type provenance subtype version message{message} systemPayload?{shown}",
		"assistant":   "timestamp type provenance version model message{message} usageMetadata?{usage} contextWindowSize?",
		"tool_result": "timestamp type provenance version message{message} toolCallResult?{call}",

		"system chat_compression": "timestamp type provenance subtype version systemPayload{compression}",
		"system slash_command":    "timestamp type provenance subtype version systemPayload{command}",

		"message":          "role parts{part}",
		"part":             "text thought thoughtSignature? functionCall{functionCall} functionResponse{functionResponse} inlineData{inlineData}",
		"functionCall":     "id name args",
		"functionResponse": "id name response parts{part}",
		"inlineData":       "mimeType data",

		"shown":       "displayText hookContext",
		"usage":       "promptTokenCount candidatesTokenCount thoughtsTokenCount totalTokenCount cachedContentTokenCount",
		"call":        "callId status",
		"compression": "info{info} compressedHistory{message}",
		"info":        "originalTokenCount newTokenCount newTokenCountIsEstimated compressionStatus triggerReason",
		"command":     "phase rawCommand sentToModel outputHistoryItems{item}",
		"item":        "type text",
	}}
})

// records are the types of those that are kept.
var records = []string{"user", "assistant", "tool_result", "system chat_compression", "system slash_command"}

// ofClient reports whether a part of a message is a thought of the model's, or
// of hooks or the client.
func ofClient(part gjson.Result) bool {
	return part.Get("thought").Type == gjson.True || told(part.Get("text").Str)
}

// ofOthers reports whether an object is a message of anybody but the user and
// the model.
func ofOthers(name string, object gjson.Result) bool {
	role := object.Get("role")
	return name == "message" && role.Exists() && role.Str != "user" && role.Str != "model"
}

// subtypes are those of a user's records that are in requests.
const subtypes = " notification cron mid_turn_user_message goal_runtime "

// A builder makes a file, record by record.
type builder struct {
	foreign              bool
	session, cwd, parent []byte // in JSON
	seen                 map[string]bool
	file                 *bufio.Writer
	said                 bool // something was said
}

func (b *builder) add(line []byte) {
	if !bytes.HasPrefix(line, []byte{'{'}) || !json.Valid(line) || !utf8.Valid(line) {
		return
	}
	record := gjson.ParseBytes(line)
	kind, subtype, id := record.Get("type").Str, record.Get("subtype").Str, record.Get("uuid").Str
	switch {
	case kind == "system":
		kind += " " + subtype
	case subtype != "" && (kind != "user" || !strings.Contains(subtypes, " "+subtype+" ")):
		return
	}
	if !slices.Contains(records, kind) || id == "" || b.seen[id] || record.Get("isSidechain").Type == gjson.True {
		return
	}
	kept, ok := fields().Keep(kind, record, b.foreign)
	if !ok || string(kept) == "{}" {
		return
	}
	b.seen[id] = true
	uuid := gjson.AppendJSONString(nil, id)
	head := slices.Concat([]byte(`{"uuid":`), uuid, []byte(`,"parentUuid":`), b.parent, []byte(`,"sessionId":`), b.session, []byte(`,"cwd":`), b.cwd, []byte{','})
	_, _ = b.file.Write(head) // its Flush returns the error, too
	_, _ = b.file.Write(append(kept[1:], '\n'))
	b.parent = uuid
	b.said = b.said || !strings.HasPrefix(kind, "system")
}
