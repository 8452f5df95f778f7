// Package terminal hands the terminal over to an agent, runs one beside it, starts processes that
// keep running without one, and works with the panes of tmux that agents run in.
package terminal
