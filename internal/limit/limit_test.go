package limit

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestWithin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		ctx, cancel := Within(t.Context(), Default().Lock)
		defer cancel()
		<-ctx.Done()
		if took := time.Since(began); took != 30*time.Second || ctx.Err() != context.DeadlineExceeded {
			t.Errorf("it ended after %v: %v", took, ctx.Err())
		}
	})
	ctx, cancel := Within(t.Context(), Of(t.Context()).Lock)
	if end, ok := ctx.Deadline(); ok {
		t.Errorf("without limits it ends at %v", end)
	}
	cancel()
	if ctx.Err() != context.Canceled {
		t.Errorf("cancelled, its error is %v", ctx.Err())
	}
}

// TestOf: limits are handed down, also where the end of a context is not.
func TestOf(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(With(t.Context(), Default()))
	cancel()
	if got := Of(context.WithoutCancel(ctx)); got != Default() {
		t.Errorf("Of = %+v, want %+v", got, Default())
	}
	if got := Of(t.Context()); got != (Limits{}) {
		t.Errorf("Of a context without = %+v", got)
	}
}
