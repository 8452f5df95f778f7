package gittest

import "testing"

func TestForwardOnly(t *testing.T) {
	t.Parallel()
	bare, r := New(t, "--bare"), New(t)
	bare.ForwardOnly()
	r.Commit("first")
	r.Git("push", "-q", bare.Dir, "HEAD:refs/agent/x")
	r.Commit("second")
	r.Git("push", "-q", bare.Dir, "HEAD:refs/agent/x")
	for _, spec := range []string{"+HEAD~1:refs/agent/x", ":refs/agent/x"} {
		if _, err := r.Try("push", "-q", bare.Dir, spec); err == nil {
			t.Errorf("pushed %s", spec)
		}
	}
}
