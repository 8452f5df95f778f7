// Package retry tells an agent's next attempt about the last. A [Ring] keeps
// the output's end; [Failure.Context] goes after the next prompt.
package retry
