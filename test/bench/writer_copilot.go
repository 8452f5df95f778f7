package main

import "fmt"

// copilotPayloads have no turn's id, and that of a prompt doesn't say where the conversation is.
func (w *writer) copilotPayloads() (prompt, stop fields) {
	return fields{"transcript_path": nil, "timestamp": w.at, "prompt": w.prompt},
		fields{"timestamp": w.at, "stop_reason": "end_turn", "stop_hook_active": false}
}

// copilotTurn is [writer.turn] as GitHub Copilot CLI writes it: events, those of our hooks among them.
func (w *writer) copilotTurn(size int) []byte {
	w.out.Reset()
	event := func(kind, data string) {
		id := quote(w.uuid())
		fmt.Fprintf(&w.out, `{"type":"%s","data":{%s},"id":%s,"timestamp":%s,"parentId":%s}`+"\n", kind, data, id, w.time(), w.parent)
		w.parent = id
	}
	begins := func(hook, input string) {
		w.last = w.uuid()
		event("hook.start", fmt.Sprintf(`"hookInvocationId":"%s","hookType":"%s","input":{"sessionId":"%s",%s,"timestamp":%d,"cwd":%s}`, w.last, hook, w.session, input, w.at.UnixMilli(), quote(w.dir)))
	}
	ended := func(hook string) {
		event("hook.end", `"hookInvocationId":"`+w.last+`","hookType":"`+hook+`","success":true`)
	}
	if w.number == 1 {
		event("session.start", `"sessionId":"`+w.session+`","version":1,"producer":"copilot-agent","copilotVersion":"1.0.102","startTime":`+w.time()+`,"selectedModel":"gpt-mock","contextTier":null,"context":{"cwd":`+quote(w.dir)+`,"gitRoot":`+quote(w.dir)+`,"branch":"main","headCommit":"`+w.hex(40)+`"},"alreadyInUse":false,"remoteSteerable":false`)
	} else {
		ended("agentStop")
	}
	begins("userPromptSubmitted", `"prompt":`+quote(w.prompt))
	ended("userPromptSubmitted")
	asked, interaction := w.uuid(), `"interactionId":"`+w.promptID+`"`
	event("user.message", `"content":`+quote(w.prompt)+`,"transformedContent":`+quote("<current_datetime>2026-11-22T01:22:37.000+00:00</current_datetime>\n\n"+w.prompt)+`,"messageId":"`+asked+`","supportedNativeDocumentMimeTypes":[],"delivery":"idle",`+interaction+`,"turnId":"0","parentAgentTaskId":"`+w.uuid()+`"`)
	if w.number == 1 {
		event("system.message", `"role":"system","content":`+quote(w.prose(12_000))+`,`+interaction)
	}
	request := func(number int, said, calls string, tools func(turn string)) {
		turn, call := fmt.Sprintf(`"turnId":"%d"`, number), "chatcmpl-"+w.hex(18)
		event("assistant.turn_start", turn+`,`+interaction)
		event("session.usage_record", `"usage":{"model":"gpt-mock","modelDisplayName":"gpt-mock","inputTokens":15312,"outputTokens":42,"cacheReadTokens":15000,"cacheWriteTokens":0,"cost":0,"duration":605,"initiator":"agent","interactionType":"conversation-agent","isByok":true,"maxPromptTokens":128000,"transport":"http","apiCallId":"`+call+`","toolTokenCount":7018}`)
		event("assistant.message", `"messageId":"`+w.uuid()+`","originatingMessageId":"`+asked+`","model":"gpt-mock","content":`+quote(said)+`,"toolRequests":[`+calls+`],`+interaction+`,`+turn+`,"rte":false,"apiCallId":"`+call+`"`)
		tools(turn)
		event("assistant.turn_end", turn)
	}
	output := quote(w.output(3*3, 13_000, size))
	for i := range 3 {
		const input = `{"command":"` + command + `","description":"run the tests"}`
		id := "call_" + w.hex(18)
		request(i, "", `{"toolCallId":"`+id+`","name":"bash","arguments":`+input+`,"type":"function","intentionSummary":"run the tests","toolTitle":"Running command"}`, func(turn string) {
			event("tool.execution_start", `"toolCallId":"`+id+`","toolName":"bash","arguments":`+input+`,`+turn+`,"model":"gpt-mock","toolTitle":"Running command","shellToolInfo":{"possiblePaths":[],"hasWriteFileRedirection":false}`)
			begins("postToolUse", `"toolName":"bash","toolArgs":`+input+`,"toolResult":{"textResultForLlm":`+output+`,"resultType":"success","sessionLog":`+output+`,"toolTelemetry":{}}`)
			ended("postToolUse")
			event("tool.execution_complete", `"toolCallId":"`+id+`","model":"gpt-mock",`+interaction+`,`+turn+`,"rte":false,"shellExecution":{"exitCode":0},"success":true,"result":{"content":`+output+`}`)
		})
	}
	request(3, w.reply, "", func(string) {})
	begins("agentStop", `"transcriptPath":`+quote(w.file)+`,"stopReason":"end_turn","stop_hook_active":false`)
	return w.out.Bytes()
}
