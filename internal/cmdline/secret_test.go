package cmdline

import (
	"strings"
	"testing"
)

func TestSecretFrom(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":           "",
		"word":       "word",
		"word\n":     "word",
		"word\n\n":   "word\n",
		" word \r\n": " word \r",
		"two\nlines": "two\nlines",
	} {
		if got, err := secretFrom(strings.NewReader(in)); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v, want %q", in, got, err, want)
		}
	}
	if _, err := secretFrom(strings.NewReader(strings.Repeat("x", maxSecret+1))); err == nil {
		t.Error("a secret of any length is read")
	}
}
