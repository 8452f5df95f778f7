// Package terminal hands the terminal over to an agent, and starts what goes on without one.
package terminal
