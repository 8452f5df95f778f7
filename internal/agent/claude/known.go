package claude

import "strings"

// acts lists what a fork of one's own conversation is without: what makes the
// client do something by itself, and what is the source session's alone. All
// else stays, known or not: any of it may reach a request. It is from the
// program of Claude Code 2.1.332, which leaves out much the same of a fork that
// it makes itself.
//
// A name is that of [known], or that of an attachment, without fields for what
// is left out altogether.
// "record", ".attachment" and ".toolUseResult" have the fields that are cut
// from any of them.
var acts = []struct{ name, fields string }{
	// Where it works and which branch it shows, the name of the plan's file (the
	// fork would write the source's plan), what it may do; what it is to others:
	// an agent in a team, a session that another one started or continues. (That
	// it keeps off a model is said anew, see [rebuilder.take].)
	{"record", "cwd gitBranch slug permissionMode agentId agentName teamName sessionKind forkedFrom requestSessionId neutralizedByFork"},
	{"worktree-state", ""}, // it changes to that directory
	{"relocated", ""},
	{"permission-mode", ""},
	{"mode", ""},
	{"isolation-latch", ""},
	{".attachment command_permissions", ""},

	// What it goes on with by itself: a tool call, prompts at times, a goal, an
	// answer that it owes, the plan's file written anew; files that it reads
	// again.
	{".attachment hook_deferred_tool", ""},
	{".attachment session_cron_carry", ""},
	{".attachment goal_status", ""},
	{".attachment projects_thread_ask", ""},
	{"system file_snapshot", ""},
	{".attachment", "rereadEntry"},

	// Work in the background, of which it reports the end, in a turn of its own:
	// the source's. An id may be that of a prompt at times.
	{".toolUseResult", "id taskId task_id backgroundTaskId agentId resumedAgentId revivedAgentId outputFile scheduledFor"},

	// What it watches, and who is connected to it.
	{"queue-operation", ""},
	{"bridge-session", ""},
	{"session-owner", ""},
	{"dev-mods", ""},
	{"observer-ref", ""},
	{"artifact-comment-monitor", ""},
	{"artifact-autoreact-ledger", ""},
	{"pr-link", ""},
	{"frame-link", ""},

	// Where the source ends and where it goes on, what it is called.
	{"last-prompt", ""},
	{"continued-in", ""},
	{"resume-head-vouch", ""},
	{"ended-by-model", ""},
	{"summary", ""},
	{"custom-title", ""},
	{"ai-title", ""},
	{"agent-name", ""},
	{"agent-color", ""},
	{"tag", ""},

	// Copies of the source's files, what it cost, the log of its requests.
	{"file-history-snapshot", ""},
	{"file-history-delta", ""},
	{"attribution-snapshot", ""},
	{"cost-state", ""},
	{"api-request", ""},
	{"api-request-shape", ""},
	{"api-request-blob", ""},
	{"api-request-resumed", ""},
}

// known lists what a stranger's conversation may have: the records that say who
// spoke when, in which order, and what, and their fields for that. They are from
// files of Claude Code 2.1.329 to 2.1.332, and tested with these.
//
// Nothing that makes the client act is known, and no attachment: see [acts].
//
// A name is the record's type, or a dot and a field if that is an object; then
// the subtype of a system record.
var known = []struct{ name, fields string }{
	{"user", chain + "message promptId promptSource turnOrigin turnPosition turnCompanion origin isMeta rowSource hookText hookTextLead isCompactSummary isVisibleInTranscriptOnly repeatsCompactSummary summarizedTurnPromptUuids queueSkipAttachments interruptedMessageId toolDenialKind toolUseResult sourceToolAssistantUUID"},
	{"assistant", chain + "message apiBlockIndex requestId thinkingDisplay thinkingDurationMs isMeta isAbortedMidStream isApiErrorMessage error apiErrorStatus apiErrorType failedResponseHadNoToolCall"},
	{".message", "id type role model content stop_reason stop_sequence stop_details usage"},
	{".block", "type source content"}, // all are kept, these are checked
	{".toolUseResult", "type file filePath content stdout stderr interrupted isImage noOutputExpected oldString newString replaceAll originalFile structuredPatch userModified mode filenames numFiles numLines numMatches durationMs truncated oldTodos newTodos"},

	{"system compact_boundary", chain + "subtype content level isMeta compactMetadata"},
	{"system informational", chain + "subtype content level isMeta"},
	{"system local_command", chain + "subtype content level isMeta commandRun"},
	{"system stop_hook_summary", chain + "subtype level hookCount hookInfos hookErrors failedHookErrorIndexes hookAdditionalContext preventedContinuation stopReason hasOutput toolUseID"},
	{"system turn_duration", chain + "subtype isMeta durationMs messageCount"},

	{"content-replacement", "type sessionId replacements"},
}

// chain are the fields of all records of the conversation.
const chain = "type uuid parentUuid logicalParentUuid sessionId timestamp isSidechain version "

// A fields has a bit for each field that is listed.
type fields map[string]uint64

// byName returns a table by name. It is built on use, because most processes
// that read transcripts rebuild none.
func byName(list []struct{ name, fields string }) map[string]fields {
	table := make(map[string]fields, len(list))
	for _, k := range list {
		f := fields{}
		for name := range strings.FieldsSeq(k.fields) {
			f[name] = 1 << len(f)
		}
		table[k.name] = f
	}
	return table
}

// blocks are the kinds of content of a stranger's message, and sources those of
// an image's or document's data: in the conversation itself.
var (
	blocks = []string{
		"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document",
		"search_result", "tool_reference", "server_tool_use", "web_search_tool_result",
		"web_search_result", "web_fetch_tool_result",
	}
	sources = []string{"base64", "text", "content"}
)
