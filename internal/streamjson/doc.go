// Package streamjson shows the output of a client with --output-format stream-json as a person
// would have seen it.
//
// The client prints a JSON object per line: its own actions ("system"), what the model says and the
// tools that it calls ("assistant"), the tools' results ("user"), and last how it ended ("result").
// With --include-partial-messages the same text comes in pieces first ("stream_event").
//
//	{"type":"assistant","message":{"content":[{"type":"text","text":"I run it."}],...},...}
//	{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Bash","input":{"command":"make"}}],...},...}
//	{"type":"user","message":{"content":[{"type":"tool_result","is_error":true,"content":"Exit code 2\n..."}],...},...}
//	{"type":"result","subtype":"success","is_error":false,"result":"...",...}
//
// A [Renderer] writes that as
//
//	I run it.
//	● Bash(make)
//	  ⎿ Exit code 2
//
// Everything is written once: a text that came in pieces is not repeated, nor is an error that the
// result repeats. Lines that are not JSON (a warning, another program's output) are passed on
// unchanged. The texts are a model's: control characters other than newlines and tabs are dropped.
package streamjson
