// Package transcript reads the session files of the agent's client.
//
// Claude Code keeps a conversation in one file, a JSON object per line, and only ever appends to
// it. A [Cursor] remembers how far the file was read. [ReadSegment] returns the whole lines after
// it, so a turn costs only what it added, whatever the size of the file; [Wait] also waits for the
// turn's last record, because the client writes late. [Turns] finds where the turns of a segment
// begin, and [Summarise] says what happened in one.
//
// The segments of one file, read one after the other, concatenate to a prefix of that file.
//
// # The file
//
// A line is a record; its "type" says which kind. Records with a "uuid" form the conversation;
// "isSidechain" marks those of a sub-agent, the rest is the main chain.
//
//	{"type":"user","promptId":"8154...","turnOrigin":"human","message":{"content":"go on"},...}
//	{"type":"assistant","message":{"id":"msg_1","content":[{"type":"text","text":"I look."}],...},...}
//	{"type":"assistant","message":{"id":"msg_1","content":[{"type":"tool_use","name":"Bash",...}],...},...}
//	{"type":"user","promptId":"8154...","message":{"content":[{"type":"tool_result",...}]},...}
//	{"type":"assistant","message":{"id":"msg_2","content":[{"type":"text","text":"Done."}],...},...}
//
// A message of the model has one content block per line; its lines share "message.id" and the usage
// figures. Everything that the user or the machine says in a turn carries the turn's "promptId". Most
// of the bytes are records of other types, which say nothing about turns and are skipped undecoded.
//
// # What is trusted
//
// Nothing. A line that is not valid JSON is not a record (a crash tears lines, and the client seals
// them with a newline); an unknown type, or a field of the wrong type, counts as absent. Nothing
// here panics, hangs on a file that is not a regular one, or takes more than linear time, and
// memory is bounded by the segment, not by the file. The texts are a stranger's: not redacted, not
// bounded, not fit for a terminal.
package transcript
