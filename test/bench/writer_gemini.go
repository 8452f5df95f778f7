package main

import "fmt"

// geminiPayloads are those of events by other names, and without a turn's id.
func (w *writer) geminiPayloads() (prompt, stop fields) {
	return fields{"hook_event_name": "BeforeAgent", "timestamp": w.at, "prompt": w.prompt},
		fields{"hook_event_name": "AfterAgent", "timestamp": w.at, "prompt": w.prompt, "prompt_response": w.reply, "stop_hook_active": false}
}

// geminiTurn is [writer.turn] as Gemini CLI writes it: a message is written again when its tools have run.
func (w *writer) geminiTurn(size int) []byte {
	w.out.Reset()
	set := func(fields string) { fmt.Fprintf(&w.out, `{"$set":{%s"lastUpdated":%s}}`+"\n", fields, w.time()) }
	message := func(id, kind, fields string) {
		fmt.Fprintf(&w.out, `{"id":"%s","timestamp":%s,"type":"%s",%s}`+"\n", id, w.time(), kind, fields)
	}
	model := func(id, said, more string) {
		message(id, "gemini", `"content":`+quote(said)+`,"thoughts":[],"tokens":{"input":15312,"output":42,"cached":15000,"thoughts":0,"tool":0,"total":15354},"model":"gemini-2.5-pro"`+more)
	}
	if w.number == 1 {
		fmt.Fprintf(&w.out, `{"sessionId":"%s","projectHash":"%s","startTime":%s,"lastUpdated":%s,"kind":"main"}`+"\n", w.session, w.hex(64), w.time(), w.time())
		set(`"messages":[{"id":"` + w.hex(32) + `","timestamp":` + w.time() + `,"type":"user","content":[{"text":` + quote("<session_context>\n"+w.prose(4_000)+"\n</session_context>") + `}]}],`)
	}
	message(w.promptID, "user", `"content":[{"text":`+quote(w.prompt)+`}]`)
	set("")
	output := quote(w.output(3*3, 5000, size))
	for range 3 {
		id, call := w.uuid(), "run_shell_command__"+w.hex(18)
		result := `{"functionResponse":{"id":"` + call + `","name":"run_shell_command","response":{"output":` + output + `}}}`
		model(id, "", "")
		set("")
		model(id, "", `,"toolCalls":[{"id":"`+call+`","name":"run_shell_command","args":{"command":"`+command+`","description":"run the tests"},"result":[`+result+`],"status":"success","timestamp":`+w.time()+`,"resultDisplay":`+output+`,"description":"run the tests","displayName":"Shell","renderOutputAsMarkdown":false}]`)
		message(w.uuid(), "user", `"content":[`+result+`]`)
		set("")
	}
	model(w.uuid(), w.reply, "")
	set("")
	return w.out.Bytes()
}

// qwenPayloads have the client's own id of the prompt, which is not the turn's.
func (w *writer) qwenPayloads() (prompt, stop fields) {
	return fields{"prompt_id": w.request(), "permission_mode": "yolo", "timestamp": w.at, "prompt": w.prompt, "submitted_prompt": w.prompt},
		fields{
			"prompt_id": w.request(), "permission_mode": "yolo", "timestamp": w.at, "stop_hook_active": false,
			"last_assistant_message": w.reply, "input_tokens": 15312, "context_limit": 200000, "context_usage": 0.07656,
			"background_tasks": []any{}, "crons": []any{},
		}
}

func (w *writer) request() string { return fmt.Sprintf("%s########%d", w.session, w.number-1) }

// qwenTurn is [writer.turn] as Qwen Code writes it: records that name the one before, with telemetry between them.
func (w *writer) qwenTurn(size int) []byte {
	w.out.Reset()
	record := func(id, kind, provenance, fields string) {
		fmt.Fprintf(&w.out, `{"uuid":"%s","parentUuid":%s,"sessionId":"%s","timestamp":%s,"type":"%s","provenance":"%s","cwd":%s,"version":"0.24.4",%s}`+"\n",
			id, w.parent, w.session, w.time(), kind, provenance, quote(w.dir), fields)
		w.parent = quote(id)
	}
	telemetry := func(name, fields string) {
		record(w.uuid(), "system", "system", `"subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.`+name+`","event.timestamp":`+w.time()+`,`+fields+`,"prompt_id":"`+w.request()+`"}}`)
	}
	model := func(part string) {
		telemetry("api_response", `"response_id":"chatcmpl-`+w.hex(18)+`","model":"gpt-mock","status_code":200,"input_token_count":15312,"output_token_count":42,"cached_content_token_count":15000,"thoughts_token_count":0,"total_token_count":15354`)
		record(w.uuid(), "assistant", "assistant_output", `"model":"gpt-mock","message":{"role":"model","parts":[`+part+`]},"usageMetadata":{"promptTokenCount":15312,"candidatesTokenCount":42,"thoughtsTokenCount":0,"totalTokenCount":15354,"cachedContentTokenCount":15000}`)
	}
	record(w.promptID, "user", "real_user", `"message":{"role":"user","parts":[{"text":`+quote(w.prompt)+`}]}`)
	output := quote(w.output(2*3, 10_000, size))
	for range 3 {
		call := "call_" + w.hex(18)
		model(`{"functionCall":{"id":"` + call + `","name":"run_shell_command","args":{"command":"` + command + `"}}}`)
		telemetry("tool_call", `"call_id":"`+call+`","function_name":"run_shell_command","status":"success","execution_status":"success","success":true,"decision":"auto_accept","tool_type":"native"`)
		record(w.uuid(), "tool_result", "tool_result", `"message":{"role":"user","parts":[{"functionResponse":{"id":"`+call+`","name":"run_shell_command","response":{"output":`+output+`}}}]},"toolCallResult":{"callId":"`+call+`","status":"success","resultDisplay":{"type":"shell_result","version":1,"directory":`+quote(w.dir)+`,"exitCode":0,"signal":null,"outcome":"completed","output":`+output+`,"error":null,"truncated":false},"executionStatus":"success"}`)
	}
	model(`{"text":` + quote(w.reply) + `}`)
	return w.out.Bytes()
}
