// Package retry tells an agent's next attempt about the last one. A [Ring]
// keeps the end of the output, [Failure.Context] goes after the next prompt.
package retry
