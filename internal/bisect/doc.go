// Package bisect finds the first bad state of a mission between two states.
//
// [Halve] decides which state to try next. A [TryTree], linked and detached, is
// where it is tried: exactly the state each time, and unseen by hooks. Then it
// is removed, by [ClearDead] if its process was killed. [Bisection.Chain] is
// for git bisect.
package bisect
