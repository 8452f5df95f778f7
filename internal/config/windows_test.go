package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

func TestLearn(t *testing.T) {
	t.Parallel()
	user := filepath.Join(t.TempDir(), "dir", "config.toml")
	check := func(want map[string]int) {
		t.Helper()
		c, err := Load(user, "")
		if err != nil || !maps.Equal(c.Context.Learned, want) {
			t.Errorf("learned %v, %v, want %v", c.Context.Learned, err, want)
		}
	}
	check(nil)
	for model, tokens := range map[string]int{"claude-sonnet-4-5": 164_000, "a.b [1m]\"": 5000} {
		gittest.Must(t, Learn(user, model, tokens))
	}
	gittest.Must(t, Learn(user, "claude-sonnet-4-5", 166_000))
	check(map[string]int{"claude-sonnet-4-5": 166_000, "a.b [1m]\"": 5000})
	c, _ := Load(user, "")
	shown := false
	for _, v := range c.Values() {
		shown = shown || v == Value{"context.windows.claude-sonnet-4-5", "166000", learnedPath(user)}
	}
	if !shown {
		t.Errorf("it is not among the values: %v", c.Values())
	}

	// The user knows better, with a pattern that counts.
	for pattern, want := range map[string]map[string]int{
		"claude-*":           {"claude-sonnet-4-5": 166_000, "a.b [1m]\"": 5000},
		"claude-sonnet-4-5*": {"a.b [1m]\"": 5000},
	} {
		gittest.Must(t, os.WriteFile(user, fmt.Appendf(nil, "[context.windows]\n%q = 100000\n", pattern), 0o600))
		check(want)
	}

	// What is damaged counts as not there, and is written again.
	gittest.Must(t, os.WriteFile(learnedPath(user), []byte("[context"), 0o600))
	check(nil)
	gittest.Must(t, Learn(user, "m", 7000))
	check(map[string]int{"m": 7000})
	if left, err := os.ReadDir(filepath.Dir(user)); err != nil || len(left) != 2 {
		t.Errorf("there are %v, %v", left, err)
	}

	for i := range 2 * maxLearned {
		gittest.Must(t, Learn(user, fmt.Sprint("model-", i), 1000))
	}
	if c, _ := Load(user, ""); len(c.Context.Learned) > maxLearned {
		t.Errorf("%d windows were learned", len(c.Context.Learned))
	}
	if err := Learn("", "m", 7000); err != nil {
		t.Errorf("without a home directory: %v", err)
	}
}
