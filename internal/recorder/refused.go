package recorder

import (
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"

	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/turns"
)

// refused returns what the service has said to the last of the turns that ended,
// and to those before it; nil if it has answered.
func (f *inputs) refused(ended []*turns.Turn) (was *session.Refusal) {
	number := 0
	if last := f.state.Last; last != nil && last.Mission == f.id {
		was, number = last.Refused, last.Turn
	}
	for _, t := range ended {
		was, number = refusal(was, t, t.Turn == number), t.Turn
	}
	return was
}

// refusal returns what the service has said to a turn, after what it said to the
// one before or, if the turn is recorded again, to this one. What says nothing of
// the conversation, a lost network or an interrupt, changes nothing.
func refusal(was *session.Refusal, t *turns.Turn, again bool) *session.Refusal {
	cause, whole := "", false
	switch t.Outcome {
	case record.Done:
		return nil
	case record.Failed:
		cause, whole = causeOf(t.Reply)
	}
	if cause == "" {
		return was
	}
	is := &session.Refusal{Cause: cause, Whole: whole, Times: 1}
	if t.Transcript != nil {
		is.After = t.Transcript.After
	}
	if was != nil {
		is.After = was.After
		if was.Cause == cause {
			is.Times = was.Times
			if !again {
				is.Times++
			}
		}
	}
	return is
}

// causeOf returns a digest of why a service refuses a request that would be
// refused again, from the words of its error; "" for every other failure. whole
// says that it is the conversation as a whole that it refuses.
func causeOf(text string) (cause string, whole bool) {
	const (
		status  = `(^|error|http|status|code)\W{0,5}`
		passing = status + `(401|402|403|408|409|429|5\d\d)\b|rate.?limit|overloaded|capacity|timed? ?out|connect|network|socket|fetch failed|` +
			`log ?in|logged|authenticat|api.?key|credential|credit|billing|quota|usage|subscription|organi[sz]ation|permission|was removed`
		conversation = `\b(prompt|input|request|conversation|context|payload)( length| token count)?( is| was)? (too (long|large)|exceed)|` +
			`context.(length|window|limit)|maximum (context|number of tokens)|request_too_large|` +
			`(not|unable to|cannot|can't|failed to) process .{0,20}\b(image|document|pdf|file)\b|(image|document|pdf|file) .{0,60}not be processed|` +
			`\b(image|pdf|document)\b.{0,60}\b(exceeds?|too (large|big|long)|invalid|not valid|not represent a valid)\b|invalid (image|pdf)|` +
			`tool_(use|result|call)|tool (use concurrency|output)|thinking. blocks`
		refused = status + `400\b|invalid.request`
	)
	text = strings.ToLower(text)
	has := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	if has(passing) {
		return "", false
	}
	if whole = has(conversation); !whole && !has(refused) {
		return "", false
	}
	words := regexp.MustCompile(`req_\w+|\d+`).ReplaceAllString(text, "0")
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte(words))), whole
}
