// Package terminal hands the terminal over to an agent.
package terminal
