package recorder

import (
	"testing"

	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/turns"
)

func TestCauseOf(t *testing.T) {
	t.Parallel()
	const no, again, whole = "", "again", "whole"
	for text, want := range map[string]string{
		"":                   no,
		"Prompt is too long": whole,
		"Prompt is too long · automatic compaction failed: API Error: 529 Overloaded":                                                                                  no,
		`API Error: 400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"},"request_id":"req_1"}`: whole,
		"API Error: 400 input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000":                                                                   whole,
		`API Error: 400 {"error":{"message":"Could not process image"}}`:                                                                                               whole,
		"API Error: 400 messages.529.content.31.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 2000 pixels":                   whole,
		"An image in the conversation exceeds the dimension limit for many-image requests (2000px)":                                                                    whole,
		"API Error: 400 due to tool use concurrency issues.":                                                                                                           whole,
		"API Error: 400 orphaned tool_result in conversation history.":                                                                                                 whole,
		"messages.3: `tool_use` ids were found without `tool_result` blocks immediately after":                                                                         whole,
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.":                                                      whole,
		"Your input exceeds the context window of this model. Please adjust your input and try again.":                                                                 whole,
		"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).":                                                                      whole,
		"Unable to process input image. Please retry or report":                                                                                                        whole,
		"No tool output found for function call call_1.":                                                                                                               whole,

		"API Error: 400 mock: scripted failure": again,
		"[API Error: 400 mock failure 400]":     again,
		"BYOK Error: 400 mock failure":          again,
		"400 mock failure 400":                  again,

		"API Error: 429 rate limited":                                           no,
		"API Error: 529 Overloaded":                                             no,
		"API Error: 500 Internal server error":                                  no,
		"API Error: 401 invalid x-api-key":                                      no,
		"503 Service unavailable":                                               no,
		"stream error: unexpected status 502: prompt is too long for the proxy": no,
		"API Error: Connection error.":                                          no,
		"Request timed out":                                                     no,
		"fetch failed":                                                          no,
		"Please run /login":                                                     no,
		"API Error: 400 Your credit balance is too low":                         no,
		"API Error: 400 You have reached your specified API usage limits":       no,
		"API Error: 400 This organization has been disabled.":                   no,
		"You've hit your limit · resets 3pm":                                    no,
		"API Error: Claude's response exceeded the 32000 output token maximum":  no,
		"API Error: an image in the conversation could not be processed and was removed. Double press esc to edit": no,
		"API Error: an image in the conversation could not be processed.":                                          whole,
		"mock: scripted failure": no,
	} {
		got := no
		cause, all := causeOf(text)
		switch {
		case all:
			got = whole
		case cause != "":
			got = again
		}
		if got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	one, _ := causeOf("API Error: 400 messages.41.content.3: bad (req_011CacH)")
	if two, _ := causeOf("API Error: 400 messages.43.content.3: bad (req_022XYZ)"); one != two {
		t.Errorf("what differs from request to request makes another cause: %q, %q", one, two)
	}
	if two, _ := causeOf("API Error: 400 worse"); one == two {
		t.Errorf("other words are the same cause")
	}
}

func TestRefusal(t *testing.T) {
	t.Parallel()
	type step struct {
		outcome record.Outcome
		reply   string
		after   int
		again   bool
		lasts   bool
		from    int
	}
	const bad, long, busy = "API Error: 400 bad", "Prompt is too long", "API Error: 529 Overloaded"
	for name, steps := range map[string][]step{
		"an answer":          {{outcome: record.Done, reply: bad, after: 2}},
		"too long":           {{outcome: record.Failed, reply: long, after: 2, lasts: true, from: 2}},
		"too long at once":   {{outcome: record.Failed, reply: long}},
		"once":               {{outcome: record.Failed, reply: bad, after: 2, from: 2}},
		"twice":              {{outcome: record.Failed, reply: bad, after: 2, from: 2}, {outcome: record.Failed, reply: bad, after: 3, lasts: true, from: 2}},
		"the same turn":      {{outcome: record.Failed, reply: bad, after: 2, from: 2}, {outcome: record.Failed, reply: bad, after: 2, again: true, from: 2}},
		"two causes":         {{outcome: record.Failed, reply: bad, after: 2, from: 2}, {outcome: record.Failed, reply: "API Error: 400 worse", after: 3, from: 2}},
		"an answer between":  {{outcome: record.Failed, reply: bad, after: 2, from: 2}, {outcome: record.Done, after: 3}, {outcome: record.Failed, reply: bad, after: 4, from: 4}},
		"overloaded":         {{outcome: record.Failed, reply: busy, after: 2}, {outcome: record.Failed, reply: busy, after: 3}},
		"overloaded between": {{outcome: record.Failed, reply: bad, after: 2, from: 2}, {outcome: record.Failed, reply: busy, after: 3, from: 2}, {outcome: record.Failed, reply: bad, after: 4, lasts: true, from: 2}},
		"stopped between":    {{outcome: record.Failed, reply: bad, after: 2, from: 2}, {outcome: record.Interrupted, after: 3, from: 2}, {outcome: record.Failed, reply: bad, after: 4, lasts: true, from: 2}},
		"no conversation":    {{outcome: record.Failed, reply: long, after: -1}},
	} {
		var is *session.Refusal
		for i, s := range steps {
			turn := &turns.Turn{Outcome: s.outcome, Reply: s.reply}
			if s.after >= 0 {
				turn.Transcript = &record.Segment{After: s.after}
			}
			is = refusal(is, turn, s.again)
			from := 0
			if is != nil {
				from = is.After
			}
			if is.Lasts() != s.lasts || from != s.from {
				t.Errorf("%s, turn %d: lasts = %v, after turn %d; want %v, %d", name, i+1, is.Lasts(), from, s.lasts, s.from)
			}
		}
	}
}
