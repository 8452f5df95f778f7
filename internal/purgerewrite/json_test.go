package purgerewrite

import (
	"encoding/json"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/scrub"
	"gitagent/test/gittest"
)

const slip = "tangerine-horse"

func finder(t testing.TB, text string) *scrub.Finder {
	t.Helper()
	f, err := scrub.Fixed([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestCleanLines(t *testing.T) {
	const m = scrub.Mark
	for _, test := range []struct{ name, text, in, want string }{
		{"nothing", slip, `{"a":1}` + "\n", `{"a":1}` + "\n"},
		{"a string", slip, `{"a":"x tangerine-horse y"}` + "\n", `{"a":"x ` + m + ` y"}` + "\n"},
		{"escaped", "tangerine/horse\"", `{"a":"tangerine\/horse\" y"}`, `{"a":"` + m + ` y"}`},
		{"a name", slip, `{"tangerine-horse":1}`, `{"` + m + `":1}`},
		{"a number", "12345678", `{"a":[12345678,1]}`, `{"a":[0,1]}`},
		{"two strings", `one","horse`, `{"a":["one","horse"],"b":"one"}`, `{"a":["` + m + `","` + m + `"],"b":"one"}`},
		{"torn", slip, "{\"a\":\"tangerine-horse\n{}\n", "{\"a\":\"" + m + "\n{}\n"},
		{"no line end", slip, `"tangerine-horse"`, `"` + m + `"`},
		{
			"what the service signed", slip, `{"uuid":"u","cwd":"/x","message":{"content":[{"type":"thinking","thinking":"a tangerine-horse","signature":"c2ln"}]}}`,
			`{"uuid":"u","cwd":"` + m + `","message":{"content":[{"type":"text","text":"` + m + `"}]}}`,
		},
		{
			"an image", slip, `{"uuid":"u","message":{"content":[{"type":"image","source":{"type":"base64","data":"AAAAdGFuZ2VyaW5lLWhvcnNlAAAA"}}]}}`,
			`{"uuid":"u","message":{"content":[{"type":"text","text":"` + m + `"}]}}`,
		},
		{
			"beside an image", slip, `{"cwd":"tangerine-horse","message":{"content":[{"type":"image","source":{"type":"base64","data":"aGk="}}]}}`,
			`{"cwd":"` + m + `","message":{"content":[{"type":"image","source":{"type":"base64","data":"aGk="}}]}}`,
		},
		{
			"what was signed, and an id", slip, `{"uuid":"tangerine-horse","cwd":"/x","message":{"content":[{"type":"thinking","thinking":"tangerine-horse","signature":"c2ln"}]}}`,
			`{"uuid":"` + m + `","cwd":"` + m + `","message":{"content":[{"type":"text","text":"` + m + `"}]}}`,
		},
		{"blanks stay", slip, " { \"a\" :\t\"tangerine-horse\" }\r\n", " { \"a\" :\t\"" + m + "\" }\r\n"},
	} {
		got, _ := cleanLines(finder(t, test.text), []byte(test.in))
		if string(got) != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
		if err := NewProver(nil, nil).segment([]byte(test.in), got, true); err != nil {
			t.Errorf("%s: it does not prove itself: %v", test.name, err)
		}
	}
}

// Whatever is purged, what was valid stays valid, and nothing is found any more.
func FuzzCleanLines(f *testing.F) {
	f.Add(slip, `{"a":"tangerine-horse","b":["tangerine-horse",{"tangerine-horse":1.5}]}`)
	f.Add("\\\\\\\\\\\\", `{"a":"\\\\\\\\\\\\\\"}`)
	f.Add("redacted:purged", `{"a":"redacted:purged"}`)
	f.Add("\",\"a\":\"", `{"x":"1","a":"2","a":"3"}`)
	f.Fuzz(func(t *testing.T, text, segment string) {
		find, err := scrub.Fixed([]byte(text))
		if err != nil || len(segment) > 10000 {
			t.Skip()
		}
		out, n := cleanLines(find, []byte(segment))
		if n == 0 && string(out) != segment {
			t.Errorf("changed without a reason: %q", out)
		}
		before, after := strings.Split(segment, "\n"), strings.Split(string(out), "\n")
		if len(before) != len(after) {
			t.Fatalf("%d lines, want %d: %q", len(after), len(before), out)
		}
		for i := range before {
			if json.Valid([]byte(before[i])) && !json.Valid([]byte(after[i])) {
				t.Errorf("not valid any more: %q", after[i])
			}
		}
		if strings.Contains(scrub.Mark, text) {
			return
		}
		blanked := string(blankLines([]byte(segment)))
		for i, line := range strings.Split(blanked, "\n") {
			if line != "" && !json.Valid([]byte(line)) || (line == "") != !json.Valid([]byte(before[i])) {
				t.Errorf("line %q is purged to %q", before[i], line)
			}
		}
	})
}

func TestBlankLines(t *testing.T) {
	const m = `"` + scrub.Mark + `"`
	for _, test := range [][2]string{
		{
			`{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"log in"},"cwd":"/home/dev/x"}`,
			`{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":` + m + `},"cwd":` + m + `}`,
		},
		{
			`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls","n":[1,"a"]}}]}}`,
			`{"type":"assistant","message":{"content":[{"type":"text","text":` + m + `},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":` + m + `,"n":[1,` + m + `]}}]}}`,
		},
		{
			`{"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"image","source":{"type":"base64","data":"aGk="}},{"type":"text","text":"x"}]}]}}`,
			`{"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":` + m + `},{"type":"text","text":` + m + `}]}]}}`,
		},
		{`{"type":"response_item","payload":{"type":"reasoning","encrypted_content":"x"}}`, `{}`},
		{`{"type":"image","a":"b"}`, `{"type":"image","a":` + m + `}`},
		{`torn {`, ``},
		{`""`, `""`},
	} {
		if got := string(blankLines([]byte(test[0] + "\n" + test[0]))); got != test[1]+"\n"+test[1] {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", test[0], got, test[1])
		}
	}
}

func TestRecord(t *testing.T) {
	old, next := object.NewHash(gittest.Hash("ab")), object.NewHash(gittest.Hash("cd"))
	kept := gittest.Hash("12")
	const m = scrub.Mark
	turn := `{"v":1,"kind":"turn","mission":"a1b2c3d4","turn":1,`
	for _, test := range []struct {
		name     string
		in, want string
		left     []string
		with     evidence
		found    []Find
	}{
		{name: "nothing", in: turn + `"code":"` + kept + `"}`, want: turn + `"code":"` + kept + `"}`, with: asItWas},
		{
			name: "texts and hashes", with: asItWas,
			in:    turn + `"prompt":"x tangerine-horse","code":"` + old.String() + `", "later" : {"tangerine-horse":["` + old.String() + `"]}}` + "\n",
			want:  turn + `"prompt":"x ` + m + `","code":"` + next.String() + `", "later" : {"` + m + `":["` + next.String() + `"]}}` + "\n",
			found: []Find{{Place{"a1b2c3d4", 1, 0, Prompt, ""}, Redacted}, {Place{"a1b2c3d4", 1, 0, Record, ""}, Redacted}},
		},
		{
			name: "what is formal stays", with: asItWas,
			in:    turn + `"session":"tangerine-horse","code":"` + kept + `"}`,
			want:  turn + `"session":"tangerine-horse","code":"` + kept + `"}`,
			found: []Find{{Place{"a1b2c3d4", 1, 0, Record, ""}, Kept}},
		},
		{
			name: "sizes", with: evidence{segment: 7, agents: map[string]int64{"a2": 9}},
			in:   turn + `"agents":[{"id":"a1","bytes":1},{"id":"a2","bytes":2}],"code":"` + kept + `","transcript":{"after":0,"bytes":3}}`,
			want: turn + `"agents":[{"id":"a1","bytes":1},{"id":"a2","bytes":9}],"code":"` + kept + `","transcript":{"after":0,"bytes":7}}`,
		},
		{
			name: "left out, the first ones", with: asItWas, left: []string{"a\"b", "c/"},
			in:   turn + `"code":"` + old.String() + `","deletions":0,"tools":{"skipped":1},"context":0}`,
			want: turn + `"code":"` + next.String() + `","deletions":0,"skipped":[{"path":"a\"b","why":"purged"},{"path":"c/","why":"purged"}],"tools":{"skipped":1},"context":0}`,
		},
		{
			name: "left out, and others are", with: asItWas, left: []string{"a", "b"},
			in:   turn + `"code":"` + old.String() + `","skipped":[{"path":"a","why":"purged"},{"path":"b","why":"size"}],"context":0}`,
			want: turn + `"code":"` + next.String() + `","skipped":[{"path":"a","why":"purged"},{"path":"b","why":"size"},{"path":"b","why":"purged"}],"context":0}`,
		},
		{
			name: "left out, and the list is empty", with: asItWas, left: []string{"a"},
			in:   turn + `"code":"` + old.String() + `","skipped":[ ]}`,
			want: turn + `"code":"` + next.String() + `","skipped":[ {"path":"a","why":"purged"}]}`,
		},
		{
			name: "left out, and there is null", with: asItWas, left: []string{"a"},
			in:   turn + `"code":"` + old.String() + `","skipped":null}`,
			want: turn + `"code":"` + next.String() + `","skipped":[{"path":"a","why":"purged"}]}`,
		},
		{
			name: "a mission", with: asItWas,
			in:    `{"v":1,"id":"a1b2c3d4","title":"tangerine-horse","predecessor":"` + kept[:12] + `","branch":"refs/heads/agent/mission/abababababab"}`,
			want:  `{"v":1,"id":"a1b2c3d4","title":"` + m + `","predecessor":"` + kept[:12] + `","branch":"refs/heads/agent/mission/cdcdcdcdcdcd"}`,
			found: []Find{{Place{"a1b2c3d4", 0, 0, Title, ""}, Redacted}},
		},
		{
			name: "a stranger's", with: asItWas, in: `{tangerine-horse`, want: `{` + m,
			found: []Find{{Place{Kind: Note}, Redacted}},
		},
	} {
		r := New(nil, nil, Target{Finder: finder(t, slip)}, nil, map[object.Hash]object.Hash{old: next})
		r.states[old] = &codeState{left: test.left}
		r.naming["abababababab"] = old
		got := string(r.record(Place{Kind: Note}, []byte(test.in), test.with))
		if got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
		if len(r.found) != len(test.found) {
			t.Errorf("%s: found %v, want %v", test.name, r.found, test.found)
		}
		for _, f := range test.found {
			if r.found[f] == 0 {
				t.Errorf("%s: found %v, want %v", test.name, r.found, f)
			}
		}
	}
}

// TestRecordOfMarks: a pattern that finds what stands in place of texts leaves nothing of them.
func TestRecordOfMarks(t *testing.T) {
	f, err := scrub.Match(`\w{4,}`)
	if err != nil {
		t.Fatal(err)
	}
	const turn = `{"v":1,"kind":"turn","mission":"a1b2c3d4","turn":1,`
	for in, want := range map[string]string{
		`"prompt":"a tangerine horse","reply":"u\\x"}`: `"prompt":"` + scrub.Mark + `","reply":"u\\x"}`,
		`"prompt":"a b c"}`:                            `"prompt":"a b c"}`,
		`"later":{"a tangerine horse":"x"}}`:           `"later":{"` + scrub.Mark + `":"x"}}`,
	} {
		r := New(nil, nil, Target{Finder: f}, nil, nil)
		if got := string(r.record(Place{Kind: Note}, []byte(turn+in), asItWas)); got != turn+want {
			t.Errorf("%s\nbecomes\n%s\nwant\n%s", turn+in, got, turn+want)
		}
	}
}
