package hooks

import (
	"bytes"
	"encoding/json"
	"testing"

	"gitagent/test/gittest"
)

func TestAnswer(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		say  Answer
		want string
	}{
		{"nothing", Answer{Event: "SessionStart"}, ""},
		{"to the user", Answer{User: "lost: <a> & b"}, `{"systemMessage":"lost: <a> & b"}` + "\n"},
		{
			"to the model",
			Answer{Event: "SessionStart", Model: "## Handoff\n\tgo on"},
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"## Handoff\n\tgo on"}}` + "\n",
		},
		{
			"to both",
			Answer{Event: "PostToolBatch", Model: "m", User: "u"},
			`{"hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":"m"},"systemMessage":"u"}` + "\n",
		},
		{"to both, flat", Answer{Event: "Stop", Model: "m\x00", User: "u", Flat: true}, `{"additionalContext":"m` + "\ufffd" + `","systemMessage":"u"}` + "\n"},
		{"control characters", Answer{User: "a\x1b[2Jb\rc\u009b\x00"}, "{\"systemMessage\":\"a\ufffd[2Jb\ufffdc\ufffd\ufffd\"}\n"},
	} {
		var out bytes.Buffer
		if err := tt.say.Write(&out); err != nil || out.String() != tt.want {
			t.Errorf("%s: %v, %s, want %s", tt.name, err, &out, tt.want)
		}
	}
}

func TestAnswerIsOneLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"not recorded: \"x\"\nsee the log": "not recorded: \"x\"\nsee the log",
		"\x1b]0;title\a\x7fé日\u009b":       "\ufffd]0;title\ufffd\ufffdé日\ufffd",
		"\xff<&>\u2028\t":                  "\ufffd<&>\u2028\t",
	} {
		var b bytes.Buffer
		gittest.Must(t, (Answer{User: text}).Write(&b))
		if i := bytes.IndexByte(b.Bytes(), '\n'); i != b.Len()-1 {
			t.Errorf("%q: not one line: %q", text, b.String())
		}
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || len(got) != 1 || got["systemMessage"] != want {
			t.Errorf("%q: got %q, %v", text, b.String(), err)
		}
	}
}
