// Package wake clears the context of Claude Code in a pane of tmux and tells it to go on. It types
// /clear and a message, as a person would.
//
// Keys go to whatever has the keyboard. A person may be typing; Enter may answer a question from
// the client; text sent into a running turn reaches the conversation that is about to be forgotten.
// So nothing is typed unless the client itself, the process table, tmux and the screen agree that
// the client waits for input and its input box is empty, and what was typed is read back before
// Enter is pressed.
//
// All of this is as seen with version 2.1.329.
package wake
