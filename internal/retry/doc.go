// Package retry makes what the next attempt of an agent is told about the last one.
//
// A [Ring] keeps the end of an attempt's output, and [Ring.Tail] returns it as text. A [Failure] is
// what went wrong, and its [Failure.Context] is appended to the prompt of the next attempt.
package retry
