// Package evidence tells what is known of a change from the checks that ran:
// which commands are checks, how each ended, and in one word what that comes to.
//
// It never guesses. A check whose end is hidden, by a pipe or in the background,
// has ended as [Unknown], unless the runner's own last words say more.
package evidence
