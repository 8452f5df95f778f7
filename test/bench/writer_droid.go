package main

import (
	"fmt"
	"os"
	"strings"
)

// droidPayloads have no turn's id, and nothing of the answer. droid exec runs no hook for a prompt: this is a terminal's.
func (w *writer) droidPayloads() (prompt, stop fields) {
	return fields{"permission_mode": "auto-low", "prompt": w.prompt},
		fields{"permission_mode": "auto-low", "message_id": w.last, "elapsed_time": 2229, "tool_execution_count": 3, "stop_hook_active": false}
}

// droidTurn is [writer.turn] as Factory's droid writes it: messages that name the one before, and runs of our hooks.
// Tokens are in a file beside it, which is written again.
func (w *writer) droidTurn(size int) []byte {
	w.out.Reset()
	write := func(id, fields string) {
		fmt.Fprintf(&w.out, `{"type":"message","id":"%s","parentId":%s,"timestamp":%s,"message":{%s}}`+"\n", id, w.parent, w.time(), fields)
	}
	message := func(id, role, content, more string) {
		write(id, `"role":"`+role+`","content":[`+content+`]`+more)
		w.parent, w.last = quote(id), id
	}
	ran := func(hook, more string) {
		at := w.at.UnixMilli()
		write(w.uuid(), fmt.Sprintf(`"role":"user","content":[],"visibility":"user_only","hookEventName":"%s","hookCommands":[{"type":"command","command":"git-agent-turn hook --agent droid || true","timeout":60}],"hookStatus":"completed","hookResults":[{"exitCode":0,"stdout":"","stderr":""}],%s"hookOrder":%d000,"hookStartTime":%d,"hookEndTime":%d`, hook, more, at, at, at+12))
	}
	text := func(s string) string { return `{"type":"text","text":` + quote(s) + `}` }
	model := func(part string) {
		message(w.uuid(), "assistant", part, `,"openaiMessageId":"chatcmpl-`+w.hex(18)+`","modelId":"custom:Mock-0","reasoningEffort":"none"`)
	}
	if w.number == 1 {
		fmt.Fprintf(&w.out, `{"type":"session_start","id":"%s","title":%s,"owner":"unknown","version":2,"cwd":%s,"hostId":"%s","isSessionTitleManuallySet":false}`+"\n", w.session, quote(w.prompt), quote(w.dir), w.uuid())
		message("context-"+w.promptID, "user", text("<system-reminder>"+w.prose(4_000)+"</system-reminder>"), `,"visibility":"llm_only"`)
	} else { // what the client appends after the Stop hook
		ran("Stop", "")
		fmt.Fprintf(&w.out, `{"type":"agent_turn_outcome","turnId":"%s","reason":"completed","resultKind":"text"}`+"\n", w.before)
	}
	w.before = w.promptID
	message(w.promptID, "user", text(w.prompt), `,"interactionMode":"auto"`)
	output := quote(w.output(3, 6000, size))
	for range 3 {
		call := "call_" + w.hex(18)
		model(`{"type":"tool_use","id":"` + call + `","name":"Execute","input":{"summary":"run the tests","command":"` + command + `"}}`)
		ran("PostToolUse", `"hookToolCallId":"`+call+`",`)
		message(w.uuid(), "user", `{"type":"tool_result","tool_use_id":"`+call+`","is_error":false,"content":`+output+`}`, "")
	}
	model(text(w.reply))
	const used = `{"inputTokens":%d,"outputTokens":%d,"cacheCreationTokens":0,"cacheReadTokens":%d,"thinkingTokens":0,"factoryCredits":0}`
	sum := fmt.Sprintf(used, 4*312*w.number, 4*42*w.number, 4*15000*w.number)
	check(os.WriteFile(strings.TrimSuffix(w.file, ".jsonl")+".settings.json", fmt.Appendf(nil, `{"model":"custom:Mock-0","inclusiveTokenUsage":%s,"tokenUsage":%s,"lastCallTokenUsage":`+used+`}`, sum, sum, 312, 42, 15000), 0o600))
	return w.out.Bytes()
}
