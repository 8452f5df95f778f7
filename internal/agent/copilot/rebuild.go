package copilot

import (
	"bufio"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Rebuild makes the file of a new session: the client needs nothing else, and
// starts in the directory where it is then resumed.
//
// Lines may be untrusted: only known fields of the conversation's events are
// kept, see [known]. They form a chain of their own. A foreign conversation
// also loses what the client said in its own name, all that only the service
// can have signed, and files.
func Rebuild(c transcript.Cut) (*transcript.Rebuilt, error) {
	return &transcript.Rebuilt{Path: Path(c.Config, c.Session), Write: func(w *bufio.Writer) error { return rebuild(w, c) }}, nil
}

func rebuild(w *bufio.Writer, c transcript.Cut) error {
	head := start(c)
	_, _ = w.Write(head) // its Flush returns the error, too
	parent := gjson.GetBytes(head, "id")
	said := false
	for line, err := range c.Lines {
		if err != nil {
			return err
		}
		kind, kept := keep(line, parent, c.Foreign)
		if kept == nil {
			continue
		}
		parent = gjson.GetBytes(kept, "id")
		_, _ = w.Write(append(kept, '\n'))
		said = said || kind == "user.message" || kind == "assistant.message"
	}
	if !said {
		return fmt.Errorf("rebuild session %s: %w", c.Session, transcript.ErrEmpty)
	}
	return nil
}

// start returns the event that a file begins with.
func start(c transcript.Cut) []byte {
	type context struct {
		Cwd string `json:"cwd"`
	}
	type data struct {
		Session  string  `json:"sessionId"`
		Version  int     `json:"version"`
		Producer string  `json:"producer"`
		Client   string  `json:"copilotVersion"`
		At       string  `json:"startTime"`
		Context  context `json:"context"`
	}
	at := transcript.Stamp(c.At)
	line, _ := json.Marshal(struct { // strings cause no error
		Type   string  `json:"type"`
		Data   data    `json:"data"`
		ID     string  `json:"id"`
		At     string  `json:"timestamp"`
		Parent *string `json:"parentId"`
	}{"session.start", data{c.Session, 1, "copilot-agent", Tested, at, context{c.Dir}}, c.Session, at, nil})
	return append(line, '\n')
}

// known are the kept fields of events' data, and of the objects in it, whose
// names have a dot. They are from files of GitHub Copilot CLI 1.0.102 and its
// schema of events, and tested with it.
//
// Nothing that makes the client act is kept: permissions, modes, schedules, the
// hooks that ran, and what it is to do in the background. It makes its own
// instructions, and counts from 0. Sub-agents' events are left out, as their
// answers are in the conversation, and so are commands of the user's own, which
// are not.
var known = sync.OnceValue(func() transcript.Fields {
	return transcript.Fields{Foreign: onDisk, Known: map[string]string{
		"user.message": "content transformedContent? messageId attachments{.attachment} supportedNativeDocumentMimeTypes nativeDocumentPathFallbackPaths? " +
			"source isAutopilotContinuation delivery interactionId turnId responsesReasoning?",
		".attachment":          "type data path displayName mimeType assetId byteLength omittedReason lineRange taggedFilesEntry",
		"session.binary_asset": "assetId type mimeType byteLength data description",

		"assistant.turn_start": "turnId model interactionId",
		"assistant.turn_end":   "turnId",
		"assistant.message": "messageId originatingMessageId model providerId? content toolRequests{.call} reasoningText? reasoningWireField? reasoningOpaque? " +
			"encryptedContent? reasoningBlocks? serverTools? phase chunkIndex chunkCount interactionId apiCallId turnId",
		".call": "toolCallId name arguments type toolTitle mcpServerName mcpToolName intentionSummary",

		"tool.execution_start":    "toolCallId toolName arguments turnId model toolTitle",
		"tool.execution_complete": "toolCallId success model interactionId turnId shellExecution result{.result} error{.error}",
		".result":                 "content detailedContent contents? binaryResultsForLlm? structuredContent? citableSources?",
		".error":                  "message code",

		"session.compaction_complete": "success outcome compactionAttemptId model preCompactionTokens postCompactionTokens preCompactionMessagesLength " +
			"messagesRemoved tokensRemoved tokenAccountingBasis summaryContent responsesReasoning? behaviorModelId? trigger",
		"session.context_cleared": "initialMessage messagesCleared",
		"system.notification":     "content? kind? responsesReasoning?",
		"session.error":           "errorType message statusCode",
		"abort":                   "reason",
	}}
})

// onDisk reports whether an attachment is a file that the client may read.
func onDisk(attachment gjson.Result) bool { return attachment.Get("path").Exists() }

// keep returns the known part of an event that follows another one, or nil to
// leave it out, and its type.
func keep(line []byte, parent gjson.Result, foreign bool) (kind string, kept []byte) {
	kind = gjson.GetBytes(line, "type").Str
	if known().Known[kind] == "" || kind[0] == '.' || !json.Valid(line) || !utf8.Valid(line) {
		return kind, nil
	}
	event, ok := transcript.Members(gjson.ParseBytes(line))
	if !ok || event["agentId"].Exists() || event["id"].Type != gjson.String || event["data"].Get("isUserRequested").Bool() {
		return kind, nil
	}
	data, ok := known().Keep(kind, event["data"], foreign)
	if !ok || string(data) == "{}" {
		return kind, nil
	}
	at := event["timestamp"].Raw
	if transcript.Moment(event["timestamp"].Str).IsZero() {
		at = `"` + time.Unix(0, 0).UTC().Format(time.RFC3339) + `"`
	}
	return kind, slices.Concat(
		[]byte(`{"type":"`+kind+`","data":`), data,
		[]byte(`,"id":`+event["id"].Raw+`,"timestamp":`+at+`,"parentId":`+parent.Raw+`}`),
	)
}
