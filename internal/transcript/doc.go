// Package transcript reads conversations: the session files of agents' clients.
//
// A client keeps a conversation in one file, a record per line, and only ever appends to it. What its
// lines say, each agent's [Reader] tells in common words, [Entry]; nothing here knows a client's format.
//
// A [Cursor] remembers how far the file was read. [ReadSegment] returns the whole lines after
// it, so a turn costs only what it added, whatever the size of the file; [Wait] also waits for the
// turn's last record, because some clients write late. [Turns] finds where the turns of a segment
// begin, and [Summarise] says what happened in one.
//
// The segments of one file, read one after the other, concatenate to a prefix of that file.
//
// # What is trusted
//
// Nothing. A line that is not what the client writes says nothing (a crash tears lines, and clients
// seal them with a newline). Nothing here panics, hangs on a file that is not a regular one, or takes
// more than linear time, and memory is bounded by the segment, not by the file. The texts are a
// stranger's: not redacted, not bounded, not fit for a terminal.
package transcript
