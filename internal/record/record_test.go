package record

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		ok   bool
	}{
		"a long text":      {`{"a":"` + strings.Repeat(`,[{\"\\`, 50_000) + `"}`, true},
		"many values":      {`{"a":[` + strings.Repeat(`0,`, 30_000) + `0]}`, true},
		"too many values":  {`{"a":[` + strings.Repeat(`0,`, 40_000) + `0]}`, false},
		"too many objects": {`[` + strings.Repeat(`{},`, 20_000) + `0]`, false},
		"behind a quote":   {`{"a\"":"\\","b":[` + strings.Repeat(`0,`, 40_000) + `0]}`, false},
	} {
		var v any
		if err := Decode(tt.text, &v); (err == nil) != tt.ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestIDs(t *testing.T) {
	t.Parallel()
	for s, ok := range map[string]bool{
		"a1b2c3d4": true, "00000000": true, "a1b2c3d4e5f6": true,
		"": false, "a1b2c3d": false, "a1b2c3d45": false, "A1B2C3D4": false, "a1b2c3dg": false, "../../..": false, "a1b2c3d4\n": false, "-1b2c3d4": false, "a1b2/3d4": false,
	} {
		if id, err := ParseID(s); (err == nil) != ok || ok && string(id) != s {
			t.Errorf("ParseID(%q) = %q, %v", s, id, err)
		}
	}
	seen := make(map[ID]bool)
	for range 100 {
		id, err := NewID()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseID(id); err != nil || len(id) != 8 || seen[id] {
			t.Errorf("NewID = %q: %v", id, err)
		}
		seen[id] = true
	}
	for _, tt := range []struct {
		session string
		digits  int
		want    ID
	}{
		{"5b603d06-8528-4d54-8275-dcebec74b87e", 8, "ec74b87e"},
		{"5b603d06-8528-4d54-8275-dcebec74b87e", 12, "dcebec74b87e"},
		{"5B603D06-8528-4D54-8275-DCEBEC74B87E", 8, "ec74b87e"},
		{"1234567-8", 8, "12345678"},
		{"ses_df66c3548ffebYgP3dFv5wDzLh", 8, "8f40da54"},
		{"ses_df66c3548ffebYgP3dFv5wDzLh", 12, "3ce58f40da54"},
		{"ffffffff", 12, ""},
		{"", 8, ""},
	} {
		got, err := OfSession(tt.session, tt.digits)
		if got != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("OfSession(%q, %d) = %q, %v; want %q", tt.session, tt.digits, got, err, tt.want)
		}
	}
	for branch, want := range map[string]ID{
		"refs/heads/agent/mission/a1b2c3d4": "a1b2c3d4", "refs/heads/agent/mission/a1b2c3d4e5f6": "a1b2c3d4e5f6",
		"refs/heads/agent/mission/": "", "refs/heads/agent/mission/main": "", "refs/heads/main": "", "agent/mission/a1b2c3d4": "",
		"refs/heads/agent/mission/a1b2c3d4/x": "", "refs/tags/agent/mission/a1b2c3d4": "", "": "",
	} {
		if got, ok := OfBranch(branch, "agent/mission/"); got != want && ok || ok != (want != "") {
			t.Errorf("OfBranch(%q) = %q, %t; want %q", branch, got, ok, want)
		}
	}
	id := ID("a1b2c3d4")
	for _, ref := range []string{id.Ref(), id.NotesRef(), id.Branch("agent/mission/")} {
		if ref != "refs/agent/missions/a1b2c3d4" && ref != "refs/notes/agent/a1b2c3d4" && ref != "refs/heads/agent/mission/a1b2c3d4" {
			t.Errorf("ref %s", ref)
		}
	}
}

func TestParseMission(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		data string
		want string // how it is rewritten, "" if it is refused
		err  error
	}{
		{"minimal", `{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z"}`, `{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z"}`, nil},
		{
			"full",
			`{"v":1,"id":"a1b2c3d4","title":"<fix> & \u001b","created":"2026-11-20T12:00:00Z","agent":"claude-code","base":"x","branch":"refs/heads/b","forked_from":{"mission":"ffffffff","turn":3},"predecessor":"eeeeeeee","sessions":["a","b"]}`,
			`{"v":1,"id":"a1b2c3d4","title":"<fix> & \u001b","created":"2026-11-20T12:00:00Z","agent":"claude-code","base":"x","branch":"refs/heads/b","forked_from":{"mission":"ffffffff","turn":3},"predecessor":"eeeeeeee","sessions":["a","b"]}`,
			nil,
		},
		{"unknown fields", `{"z":[1, 2],"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z","a":null}`, `{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z","a":null,"z":[1,2]}`, nil},
		{"a newline after it", "{\"v\":1,\"id\":\"a1b2c3d4\",\"created\":\"2026-11-20T12:00:00Z\"}\n\n", `{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z"}`, nil},
		{"newer version", `{"v":2}`, "", ErrVersion},
		{"no version", `{}`, "", ErrVersion},
		{"no id", `{"v":1}`, "", nil},
		{"bad id", `{"v":1,"id":"../../../x"}`, "", nil},
		{"wrong type", `{"v":1,"id":7}`, "", nil},
		{"forked from itself at no turn", `{"v":1,"id":"a1b2c3d4","forked_from":{"mission":"a1b2c3d4","turn":0}}`, `{"v":1,"id":"a1b2c3d4","created":"0001-01-01T00:00:00Z","forked_from":{"mission":"a1b2c3d4","turn":0}}`, nil},
		{"forked from turn -1", `{"v":1,"id":"a1b2c3d4","forked_from":{"mission":"ffffffff","turn":-1}}`, "", nil},
		{"forked from too large a turn", `{"v":1,"id":"a1b2c3d4","forked_from":{"mission":"ffffffff","turn":1000000}}`, "", nil},
		{"forked from no mission", `{"v":1,"id":"a1b2c3d4","forked_from":{"mission":"../x","turn":1}}`, "", nil},
		{"predecessor", `{"v":1,"id":"a1b2c3d4","predecessor":"x"}`, "", nil},
		{"not an object", `[]`, "", nil},
		{"empty", ``, "", nil},
		{"binary", "\x00", "", nil},
		{"two", `{"v":1,"id":"a1b2c3d4"}{}`, "", nil},
	} {
		m, err := ParseMission(tt.data)
		if tt.want == "" {
			if err == nil || tt.err != nil && !errors.Is(err, tt.err) {
				t.Errorf("%s: ParseMission = %+v, %v; want an error", tt.name, m, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got, err := m.Encode(); err != nil || string(got) != tt.want+"\n" {
			t.Errorf("%s: Encode = %v\n%s\nwant\n%s", tt.name, err, got, tt.want)
		}
	}
}

func FuzzParseMission(f *testing.F) {
	f.Add([]byte(`{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z","sessions":["a"],"x":{"y":[1]}}`))
	f.Add([]byte(`{"v":1,"id":"a1b2c3d4e5f6","Title":"a","title":"b","forked_from":{"mission":"x","turn":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMission(string(data))
		if err != nil {
			return
		}
		first, err := m.Encode()
		if err != nil {
			t.Fatalf("Encode(ParseMission(%q)): %v", data, err)
		}
		if bytes.IndexByte(first, '\n') != len(first)-1 {
			t.Errorf("not one line: %q", first)
		}
		again, err := ParseMission(string(first))
		if err != nil {
			t.Fatalf("ParseMission(%q), from %q: %v", first, data, err)
		}
		if second, err := again.Encode(); err != nil || !bytes.Equal(first, second) {
			t.Errorf("Encode is not canonical: %q, then %q (%v)", first, second, err)
		}
	})
}
