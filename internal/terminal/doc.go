// Package terminal runs agents in the terminal, starts processes that outlive
// it, and works with tmux panes.
package terminal
