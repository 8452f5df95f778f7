package main

import "fmt"

func (w *writer) codexPayloads() (prompt, stop fields) {
	return fields{"turn_id": w.promptID, "model": "gpt-mock", "permission_mode": "bypassPermissions", "prompt": w.prompt},
		fields{
			"turn_id": w.promptID, "model": "gpt-mock", "permission_mode": "bypassPermissions", "stop_hook_active": false,
			"last_assistant_message": w.reply,
		}
}

// codexTurn is [writer.turn] as Codex writes it: a rollout of records with a payload. The turn's last
// record, task_complete, comes after the Stop hook.
func (w *writer) codexTurn(size int) []byte {
	w.out.Reset()
	record := func(kind, payload string) {
		fmt.Fprintf(&w.out, `{"timestamp":%s,"type":"%s","payload":{%s}}`+"\n", w.time(), kind, payload)
	}
	item := func(kind, fields string) {
		record("response_item", `"type":"`+kind+`",`+fields+`,"internal_chat_message_metadata_passthrough":{"turn_id":"`+w.promptID+`"}`)
	}
	usage := func() {
		const tokens = `{"input_tokens":15312,"cached_input_tokens":15000,"cache_write_input_tokens":0,"output_tokens":42,"reasoning_output_tokens":5,"total_tokens":15354}`
		record("token_usage_record", `"thread_id":"`+w.session+`","turn_id":"`+w.promptID+`","response_id":"resp_`+w.hex(18)+`","usage":`+tokens+`,"turn_token_usage":`+tokens+`,"thread_token_usage":`+tokens)
		record("event_msg", `"type":"token_count","info":{"total_token_usage":`+tokens+`,"last_token_usage":`+tokens+`,"model_context_window":258400},"rate_limits":{"limit_id":"codex"}`)
	}
	if w.number == 1 {
		record("session_meta", `"session_id":"`+w.session+`","id":"`+w.session+`","timestamp":`+w.time()+`,"cwd":`+quote(w.dir)+`,"originator":"codex_exec","cli_version":"0.169.0","source":"exec","model_provider":"mock","base_instructions":{"text":`+quote(w.prose(12_000))+`}`)
	} else {
		record("event_msg", `"type":"task_complete","turn_id":"`+w.before+`","last_agent_message":"done","duration_ms":897`)
	}
	w.before = w.promptID
	record("event_msg", `"type":"task_started","turn_id":"`+w.promptID+`","root_turn_id":"`+w.promptID+`","model_context_window":258400,"collaboration_mode_kind":"default"`)
	record("turn_context", `"turn_id":"`+w.promptID+`","cwd":`+quote(w.dir)+`,"approval_policy":"never","model":"gpt-mock","sandbox_policy":{"type":"danger-full-access"}`)
	item("message", `"id":"msg_`+w.hex(18)+`","role":"user","content":[{"type":"input_text","text":`+quote(w.prompt)+`}]`)
	record("event_msg", `"type":"item_completed","thread_id":"`+w.session+`","turn_id":"`+w.promptID+`","item":{"type":"UserMessage","id":"`+w.uuid()+`","content":[{"type":"text","text":`+quote(w.prompt)+`,"text_elements":[]}]}`)
	item("reasoning", `"summary":[{"type":"summary_text","text":`+quote(w.prose(200))+`}],"encrypted_content":"`+w.base64(1200)+`"`)
	output := w.output(2*3, 9000, size)
	for range 3 {
		id := "call_" + w.hex(18)
		item("function_call", `"id":"fc_`+w.hex(18)+`","name":"exec_command","arguments":`+quote(`{"cmd":"`+command+`"}`)+`,"call_id":"`+id+`"`)
		usage()
		record("event_msg", `"type":"item_completed","thread_id":"`+w.session+`","turn_id":"`+w.promptID+`","item":{"type":"CommandExecution","id":"`+id+`","command":["/bin/bash","-lc","`+command+`"],"cwd":`+quote("file://"+w.dir)+`,"status":"completed","aggregated_output":`+quote(output)+`,"exit_code":0}`)
		item("function_call_output", `"call_id":"`+id+`","output":`+quote(output))
	}
	item("message", `"id":"msg_`+w.hex(18)+`","role":"assistant","content":[{"type":"output_text","text":`+quote(w.reply)+`}]`)
	usage()
	return w.out.Bytes()
}
