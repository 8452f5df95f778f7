// Package terminal hands the terminal over to an agent, starts what goes on without one,
// and works with the panes of tmux that agents run in.
package terminal
