package claude

import (
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// FuzzQuoted compares what is quoted of lines, and what is read of those that are not, with what is read of all.
func FuzzQuoted(f *testing.F) {
	seed(f)
	const (
		result = `{"type":"user","uuid":"a","promptId":"p","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":`
		said   = `{"isSidechain":false,"message":{"id":"m","model":"claude","content":[`
	)
	for _, line := range []string{
		result + `"x\u00e9\n\"y\""}]}}`,
		result + `"\u00a0 \n"}]}}`,
		result + `[{"type":"text","text":"x"}]}]}}`,
		result + `[{"type":"text","text":"x"},{"type":"image","source":{"media_type":"image/png","data":"aGk="}}]}]}}`,
		result + `[{"type":"text","text":"x"},{"type":"text","text":" "}]}]}}`,
		result + `[{"type":"text","text":"x","text":"y"}]}]}}`,
		result + `["x"]}]}}`,
		result + `7}]}}`,
		result + `"x","content":"y"}]}}`,
		result + `"x","type":"text","text":"z"}]}}`,
		result + `"x"}],"content":"y"}}`,
		result + `"x"}]},"isSidechain":true}`,
		result + `"x"}]},"turnOrigin":"task_notification"}`,
		result + `"x"}]},"type":"assistant"}`,
		result + `"x"}]},"t\u0079pe":"assistant"}`,
		result + `"x"},{"type":"text","text":"y"}]}}`,
		result + `"x"}]}}x`,
		said + `{"type":"text","text":"x"},{"type":"thinking","thinking":"y"},{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls","description":"z"}}]},"type":"assistant","uuid":"b"}`,
		said + `{"type":"text","text":7}]},"type":"assistant","uuid":"b"}`,
		said + `"x"]},"type":"assistant","uuid":"b"}`,
		said + `{"type":"tool_result","content":"x"}]},"type":"assistant","uuid":"b"}`,
		said + `{"type":"text","text":"x"}],"model":"<synthetic>"},"type":"assistant","uuid":"b"}`,
		said + `{"type":"text","text":"x"}],"content":[]},"type":"assistant","uuid":"b"}`,
		said + `{"type":"text","text":"` + "\xff" + `"}]},"type":"assistant","uuid":"` + "\xff" + `"}`,
		said + `{"type":"t\u0065xt","text":"x"}]},"type":"assistant","uuid":"b"}`,
		`{"type":"user","uuid":"c","promptId":"q","message":{"content":"<bash-input>ls</bash-input>"}}` + "\n" + result + `"x"}]}}` + "\n" + `{"type":"user","uuid":"d","promptId":"q","message":{"content":"y"}}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, segment []byte) {
		quoter, reader := new(reader), new(reader)
		for _, line := range lines(segment) {
			wantID, want := transcript.Passages(reader, line)
			id, quoted, ok := quoter.quoted(line)
			if !ok {
				transcript.Passages(quoter, line) // and goes on from there
				continue
			}
			var got []transcript.Passage
			for _, q := range quoted {
				if q.JSON != nil {
					q.Text = transcript.Unquote(gjson.Parse(`"` + string(q.JSON) + `"`))
				}
				got = append(got, transcript.Passage{Place: q.Place, Text: q.Text})
			}
			if id != wantID || !slices.Equal(got, want) {
				t.Fatalf("%s\nis quoted as %q %q, and read as %q %q", line, id, got, wantID, want)
			}
		}
		if len(quoter.opener.started) != len(reader.opener.started) || quoter.opener.lead != reader.opener.lead || quoter.opener.running != reader.opener.running {
			t.Fatalf("it is at %+v, and would be at %+v", quoter.opener, reader.opener)
		}
	})
}

// TestQuotes: of real conversations, nearly all that tools answered and the model said is quoted.
func TestQuotes(t *testing.T) {
	t.Parallel()
	quoted, read := 0, 0
	for name := range sessions {
		r := new(reader)
		for _, line := range lines(recorded(t, name)) {
			kind := gjson.GetBytes(line, "type").Str
			if _, _, ok := r.quoted(line); ok {
				quoted++
			} else if e := r.Read(0, line); kind == "assistant" || len(e.Parts) > 0 && e.Parts[0].Kind == transcript.Answer {
				read++
			}
		}
	}
	if quoted < 10*read || quoted < 50 {
		t.Errorf("%d lines are quoted, and %d read", quoted, read)
	}
}
