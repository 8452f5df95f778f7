package droid

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// Spent returns what the last request of a session sent, and what all of them
// took: the client keeps both in a file beside the conversation, which it writes
// again. A fork begins at nothing.
func Spent(path string) (last transcript.ContextUse, all transcript.Tokens, err error) {
	const most = 1 << 20
	beside := strings.TrimSuffix(path, extension) + ".settings.json"
	data, err := transcript.ReadRange(beside, 0, most)
	if err != nil {
		return last, all, err
	}
	if transcript.Valid(data) {
		settings := gjson.ParseBytes(data)
		last.Tokens, last.Model = tokens(settings.Get("lastCallTokenUsage")).Sent(), text(settings, "model")
		all = tokens(settings.Get("tokenUsage"))
	}
	if last.Tokens == 0 {
		err = fmt.Errorf("read %q: %w", beside, transcript.ErrNoUsage)
	}
	return last, all, err
}

// tokens reads figures of which the input is neither read from a cache nor
// written to one.
func tokens(v gjson.Result) transcript.Tokens {
	return transcript.Tokens{
		Input: transcript.Count(v.Get("inputTokens")), Output: transcript.Count(v.Get("outputTokens")),
		CacheRead: transcript.Count(v.Get("cacheReadTokens")), CacheWrite: transcript.Count(v.Get("cacheCreationTokens")),
	}
}
