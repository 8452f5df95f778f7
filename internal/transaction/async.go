package transaction

import (
	"fmt"
	"runtime/debug"
)

// Async runs f in the background; the returned function waits for the result. A panic of f becomes
// an error, since it would end the process with status 2, which tells a client to continue the
// turn.
func Async[T any](f func() (T, error)) func() (T, error) {
	done := make(chan struct{})
	var v T
	var err error
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		v, err = f()
	}()
	return func() (T, error) {
		<-done
		return v, err
	}
}
