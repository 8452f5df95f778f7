// Package transcript reads conversations: the session files of agents' clients.
//
// A client appends each conversation to one file, a record per line. An agent's
// [Reader] translates its lines into common words, [Entry]; this package knows
// no client's format.
//
// A [Cursor] marks how far a file was read. [ReadSegment] returns the whole
// lines after it, so a turn costs what it added, however large the file. [Wait]
// also waits for the turn's last record, as some clients write late. [Turns]
// finds the turns in a segment, and [Summarise] what happened in one.
//
// The segments of one file, read in sequence, concatenate to a prefix of it.
//
// # What is trusted
//
// Nothing. A line that the client would not write says nothing: crashes tear
// lines, and clients end those with a newline. Nothing here panics, hangs on
// other than regular files or takes more than linear time. Memory is bounded by
// the segment, not by the file. Texts are untrusted: not redacted, not bounded,
// not fit for a terminal.
package transcript
