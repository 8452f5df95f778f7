package claude

import "strings"

// known lists what Rebuild keeps: the client's records that its next request is
// made from, and their fields that say who spoke when, in which order, and
// what. They are from files of Claude Code 2.1.329, and tested with it and
// 2.1.330; those of the editor, plan mode and such are from its program.
//
// Nothing that makes the client act is kept: where it works (cwd,
// worktree-state), what it may do (permissionMode, command_permissions), what
// it continues by itself (hook_deferred_tool, session_cron_carry, goal_status),
// which files it watches (slug, rereadEntry, outputFile).
//
// A name is the record's type, or a dot and a field if that is an object; then
// the subtype of a system record, or the type of an attachment.
var known = []struct{ name, fields string }{
	{"user", chain + "message promptId promptSource turnOrigin turnPosition turnCompanion origin isMeta isCompactSummary isVisibleInTranscriptOnly repeatsCompactSummary summarizedTurnPromptUuids queueSkipAttachments interruptedMessageId toolDenialKind toolUseResult sourceToolAssistantUUID"},
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

	{"attachment", chain + "attachment rendered renderedRole renderedBesideToolResult isMeta"},
	{".attachment agent_listing_delta", "type addedTypes addedLines builtInTypes builtInPluginTypes removedTypes isInitial showConcurrencyNote"},
	{".attachment already_read_file", "type filename content displayPath"},
	{".attachment async_hook_response", "type processId hookName hookEvent toolName response stdout stderr exitCode"},
	{".attachment auto_mode", "type autoModeConsentFlow finishExposedWork bashFirst steerOnly bypass bashFirstSteer"},
	{".attachment auto_mode_exit", "type finishExposedWork bashFirst steerOnly"},
	{".attachment compact_file_reference", "type filename displayPath"},
	{".attachment critical_system_reminder", "type content onlyAsSystemMessage"},
	{".attachment date", "type date changed"},
	{".attachment deferred_tools_delta", "type addedNames addedLines removedNames wireHiddenNames readdedNames pendingMcpServers needsAuthMcpServers failedMcpServers textAfterToolBlocks"},
	{".attachment deferred_tools_record", "type entries nameOnlyAnnouncements strippedReferences toolInputCopies"},
	{".attachment diagnostics", "type files isNew"},
	{".attachment directory", "type path content displayPath"},
	{".attachment edited_text_file", "type filename snippet"},
	{".attachment environment", "type snapshot changes"},
	{".attachment file", "type filename content displayPath savedCopyFraming truncated"},
	{".attachment hook_additional_context", hook + "content"},
	{".attachment hook_blocking_error", hook + "blockingError"},
	{".attachment hook_cancelled", hook + "command timedOut timeoutMs durationMs"},
	{".attachment hook_error_during_execution", hook + "content command durationMs"},
	{".attachment hook_non_blocking_error", hook + "stderr stdout exitCode command durationMs"},
	{".attachment hook_stopped_continuation", hook + "message"},
	{".attachment hook_success", hook + "content stdout stderr exitCode command durationMs"},
	{".attachment hook_system_message", hook + "content"},
	{".attachment instructions", "type files changed reason"},
	{".attachment language", "type language"},
	{".attachment model", "type identity text"},
	{".attachment nested_memory", "type path content displayPath"},
	{".attachment opened_file_in_ide", "type filename"},
	{".attachment output_style", "type style turnReminder"},
	{".attachment output_style_instructions", "type style"},
	{".attachment pdf_reference", "type filename pageCount fileSize displayPath"},
	{".attachment plan_mode", "type reminderType isSubAgent planFilePath planExists"},
	{".attachment plan_mode_exit", "type planFilePath planExists"},
	{".attachment plan_mode_reentry", "type planFilePath"},
	{".attachment prompt_snapshot", "type systemPrompt tools cliPrefix elided reminderFold echoWireToolInputs contextRendering systemTurns toolChangeHeader inlineTools keptReminders"},
	{".attachment queued_command", "type prompt source_uuid delivery_id commandMode origin timestamp isMeta imagePasteIds humanTurn"},
	{".attachment remote_session_change", "type url commit pr sendUserFileHint managedCommit managedPr"},
	{".attachment selected_lines_in_ide", "type ideName lineStart lineEnd filename content displayPath"},
	{".attachment session_context", "type context changed reason"},
	{".attachment skill_listing", "type content skillCount isInitial names digests"},
	{".attachment task_reminder", "type content itemCount"},
	{".attachment todo_reminder", "type content itemCount"},
	{".attachment token_usage", "type used total remaining"},
	{".attachment total_tokens_reminder", "type text"},
	{".attachment ultrathink_effort", "type"},
}

const (
	// chain are the fields of all records of the conversation.
	chain = "type uuid parentUuid logicalParentUuid sessionId timestamp isSidechain version "

	hook = "type hookName hookEvent toolUseID "
)

// A fields has a bit for each field that is kept.
type fields map[string]uint64

// knownFields returns the table by name. It is built on use, because most
// processes that read transcripts rebuild none.
func knownFields() map[string]fields {
	table := make(map[string]fields, len(known))
	for _, k := range known {
		f := fields{}
		for name := range strings.FieldsSeq(k.fields) {
			f[name] = 1 << len(f)
		}
		table[k.name] = f
	}
	return table
}

// blocks are the kinds of content of a message, and sources those of an image's
// or document's data: in the conversation itself.
var (
	blocks = []string{
		"text", "thinking", "redacted_thinking", "tool_use", "tool_result", "image", "document",
		"search_result", "tool_reference", "server_tool_use", "web_search_tool_result",
		"web_search_result", "web_fetch_tool_result",
	}
	sources = []string{"base64", "text", "content"}
)
