// Package wake clears the context of Claude Code in a pane of tmux and tells it
// to go on. It types /clear and a message, as a person would.
//
// Keys go to the program that has the keyboard. A person may be typing; Enter
// may answer a question from the client; text typed into a running turn is lost
// with its conversation. So the client itself, the process table, tmux and the
// screen must agree that the client waits for input with an empty input box
// before anything is typed, and the text is read back before Enter is pressed.
//
// All of this is as seen with version 2.1.329.
package wake
