// Package streamjson shows the output of a client with --output-format
// stream-json as a person would have seen it.
//
// The client prints JSON lines: its own actions ("system"), the model's texts
// and tool calls ("assistant"), their results ("user"), and how it ended
// ("result"). With --include-partial-messages texts come in pieces first
// ("stream_event"). A [Renderer] writes messages with the content
//
//	{"type":"text","text":"I run it."}
//	{"type":"tool_use","name":"Bash","input":{"command":"make"}}
//	{"type":"tool_result","is_error":true,"content":"Exit code 2\n..."}
//
// as
//
//	I run it.
//	● Bash(make)
//	  ⎿ Error: Exit code 2
//
// It writes everything once, though a text comes in pieces and the result may
// repeat an error. Lines that are not JSON pass unchanged. Texts are untrusted:
// control characters other than newlines and tabs are dropped.
package streamjson
