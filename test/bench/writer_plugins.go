package main

import "fmt"

// openCodePayloads are what our plugin hands to hooks, for Kilo CLI as well.
func (w *writer) openCodePayloads() (prompt, stop fields) {
	return fields{"prompt_id": w.promptID, "prompt": w.prompt},
		fields{"prompt_id": w.promptID, "model": "gpt-mock", "last_assistant_message": w.reply}
}

// openCodeTurn is [writer.turn] as our plugin keeps it for OpenCode and Kilo CLI: a message with its parts in a line.
func (w *writer) openCodeTurn(size int) []byte {
	w.out.Reset()
	line := func(id, head, info, parts string) {
		fmt.Fprintf(&w.out, `{"id":"%s",%s"info":{"id":"%s","sessionID":"%s",%s},"parts":[%s]}`+"\n", id, head, id, w.session, info, parts)
	}
	part := func(message, fields string) string {
		return `{"id":"prt_` + w.hex(26) + `","sessionID":"` + w.session + `","messageID":"` + message + `",` + fields + `}`
	}
	line(w.promptID, "", fmt.Sprintf(`"role":"user","time":{"created":%d},"agent":"build","model":{"providerID":"mock","modelID":"gpt-mock"}`, w.at.UnixMilli()),
		part(w.promptID, `"type":"text","text":`+quote(w.prompt)))
	message := func(finish, fields string) {
		const tokens = `"cost":0,"tokens":{"total":15354,"input":312,"output":42,"reasoning":0,"cache":{"read":15000,"write":0}}`
		id := "msg_" + w.hex(26)
		began := w.at.UnixMilli()
		w.time()
		line(id, `"window":200000,`, fmt.Sprintf(`"role":"assistant","time":{"created":%d,"completed":%d},"parentID":"%s","modelID":"gpt-mock","providerID":"mock","mode":"build","agent":"build","path":{"cwd":%s,"root":%s},%s,"finish":"%s"`,
			began, w.at.UnixMilli(), w.promptID, quote(w.dir), quote(w.dir), tokens, finish),
			part(id, `"type":"step-start","snapshot":"`+w.hex(40)+`"`)+","+part(id, fields)+","+
				part(id, `"type":"step-finish","reason":"`+finish+`","snapshot":"`+w.hex(40)+`",`+tokens))
	}
	output := quote(w.output(2*3, 6800, size))
	for range 3 {
		message("tool-calls", `"type":"tool","tool":"bash","callID":"call_`+w.hex(18)+`","state":{"status":"completed","input":{"command":"`+command+`","description":"run the tests"},"output":`+
			output+`,"title":"run the tests","metadata":{"output":`+output+`,"exit":0,"truncated":false},"time":{"start":1,"end":2}}`)
	}
	message("stop", `"type":"text","text":`+quote(w.reply))
	return w.out.Bytes()
}

// piPayloads are what our extension hands to hooks: pi gives a prompt its id only in the file.
func (w *writer) piPayloads() (prompt, stop fields) {
	return fields{"prompt": w.prompt}, fields{"prompt_id": w.promptID, "model": "gpt-mock", "last_assistant_message": w.reply}
}

// piTurn is [writer.turn] as pi writes it: entries that name the one before.
func (w *writer) piTurn(size int) []byte {
	w.out.Reset()
	entry := func(id, kind, fields string) {
		fmt.Fprintf(&w.out, `{"type":"%s","id":"%s","parentId":%s,"timestamp":%s,%s}`+"\n", kind, id, w.parent, w.time(), fields)
		w.parent = quote(id)
	}
	message := func(id, role, fields string) {
		entry(id, "message", fmt.Sprintf(`"message":{"role":"%s",%s,"timestamp":%d}`, role, fields, w.at.UnixMilli()))
	}
	assistant := func(part, stop string) {
		message(w.hex(8), "assistant", `"content":[`+part+`],"api":"openai-completions","provider":"mock","model":"gpt-mock","usage":{"input":312,"output":42,"cacheRead":15000,"cacheWrite":0,"reasoning":0,"totalTokens":15354,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0,"totalFromProvider":false}},"stopReason":"`+stop+`","responseId":"chatcmpl-`+w.hex(18)+`","durationMs":703,"thinkingLevel":"off"`)
	}
	text := func(s string) string { return `{"type":"text","text":` + quote(s) + `}` }
	if w.number == 1 {
		fmt.Fprintf(&w.out, `{"type":"session","version":3,"id":"%s","timestamp":%s,"cwd":%s}`+"\n", w.session, w.time(), quote(w.dir))
		entry(w.hex(8), "model_change", `"provider":"mock","modelId":"gpt-mock"`)
		entry(w.hex(8), "thinking_level_change", `"thinkingLevel":"off"`)
		message(w.hex(8), "system", `"content":"","sections":{"preamble":`+quote(w.prose(12_000))+`}`)
	}
	message(w.promptID, "user", `"content":[`+text(w.prompt)+`]`)
	output := text(w.output(3, 5000, size))
	for range 3 {
		call := "call_" + w.hex(18)
		assistant(`{"type":"toolCall","id":"`+call+`","name":"bash","arguments":{"command":"`+command+`"}}`, "toolUse")
		message(w.hex(8), "toolResult", `"toolCallId":"`+call+`","toolName":"bash","content":[`+output+`],"isError":false,"durationMs":708`)
	}
	assistant(text(w.reply), "stop")
	return w.out.Bytes()
}
