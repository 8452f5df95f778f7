package transcript

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// plain reads lines like {"id":"a","at":"2026-11-29T10:00:00Z"}, each of which is a turn.
type plain struct{}

func (plain) Read(at int, line []byte) (e Entry) {
	var rec struct {
		ID string
		At time.Time
	}
	if json.Unmarshal(line, &rec) == nil {
		e.ID, e.At, e.Opens = rec.ID, rec.At, &FileTurn{Start: at, UUID: rec.ID}
	}
	return e
}

// said returns a line for each word: "a9" is the record a of nine o'clock, "-9" has no id, "a" no time, "x" says nothing.
func said(words string) []byte {
	var b bytes.Buffer
	for word := range strings.FieldsSeq(words) {
		id, hour := word[:1], word[1:]
		rec := map[string]string{"id": id}
		if id == "-" {
			delete(rec, "id")
		}
		if hour != "" {
			rec["at"] = "2026-11-29T0" + hour + ":00:00Z"
		}
		if word == "x" {
			rec = nil
		}
		line, _ := json.Marshal(rec)
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

func TestUnrepeat(t *testing.T) {
	t.Parallel()
	nine := func(hour int) time.Time { return time.Date(2026, 11, 29, hour, 0, 0, 0, time.UTC) }
	for _, tt := range []struct{ name, before, segment, want string }{
		{"nothing", "", "", ""},
		{"each once", "a1 b2", "c3 d4", "c3 d4"},
		{"in the segment", "", "a1 b2 a1 c3 b2", "a1 b2 c3"},
		{"three times", "", "a1 a1 a1", "a1"},
		{"by id, with another time", "", "a1 a2", "a1"},
		{"without an id, the same to the letter", "", "-1 -2 -1", "-1 -2"},
		{"what says nothing", "", "x x", "x x"},
		{"without id and time", "", "- -", "- -"},
		{"in the file", "a1 b2 c3", "a1 b2 d4", "d4"},
		{"in the file, without ids", "-1 -2", "-1 -3", "-3"},
		{"of the last turn", "a1 b2 c3", "c3 d4", "d4"},
		{"of the last turn, looked for in it alone", "a3 b2 c3", "a3 d4", "a3 d4"},
		{"in both", "a1 b2", "a1 a1 e4 a1", "e4"},
		{"old and not in the file", "a1 b2", "z1 d4", "z1 d4"},
		{"newer than the file: not looked for", "a5 b2", "a5", "a5"},
		{"all", "a1 b2", "a1 b2", ""},
	} {
		before, segment := said(tt.before), said(tt.segment)
		path := filepath.Join(t.TempDir(), "s.jsonl")
		gittest.Must(t, os.WriteFile(path, append(bytes.Clone(before), segment...), 0o600))
		last := int64(len(said("a1 b2"))) // where the last turn begins
		begun, err := Unrepeat(func() Reader { return plain{} }, segment, path, int64(len(before)), Past{Last: nine(2)}, Past{From: last, Last: nine(3)})
		if got := Unblank(segment); err != nil || string(got) != string(said(tt.want)) {
			t.Errorf("%s: %v, left is\n%s", tt.name, err, got)
		}
		if want := Turns(plain{}, segment); !slices.Equal(begun, want) {
			t.Errorf("%s: the turns are %v, want %v", tt.name, begun, want)
		}
		if len(segment) != len(said(tt.segment)) || bytes.Count(segment, []byte("\n")) != len(strings.Fields(tt.segment)) {
			t.Errorf("%s: the lines are not in their places any more:\n%q", tt.name, segment)
		}
	}
	segment := said("a1")
	if _, err := Unrepeat(func() Reader { return plain{} }, segment, filepath.Join(t.TempDir(), "none"), 100, Past{Last: nine(2)}); err == nil {
		t.Error("a missing file is no error")
	}
}

// TestWithhold: a turn goes as a whole, the rest of one from a line on, and what was before and after stays.
func TestWithhold(t *testing.T) {
	t.Parallel()
	segment := []byte("0 said\n1 >one\n2 said\n3 >two\n4 said\n5 said\n6 >three\n7 said\n")
	Withhold(func() Reader { return timed{} }, segment,
		func(id string, at time.Time) bool { return id == "one" },
		func(at time.Time) bool { return at.Equal(time.Unix(5, 0)) })
	if got, want := string(Unblank(segment)), "0 said\n3 >two\n4 said\n6 >three\n7 said\n"; got != want {
		t.Errorf("what is left is %q, want %q", got, want)
	}
}

// timed reads lines of a second, and of >id for a prompt.
type timed struct{}

func (timed) Read(at int, line []byte) (e Entry) {
	if second, said, ok := strings.Cut(string(line), " "); ok {
		s, _ := strconv.Atoi(second)
		e.At = time.Unix(int64(s), 0)
		if id, opens := strings.CutPrefix(said, ">"); opens {
			e.Opens = &FileTurn{Start: at, PromptID: id, At: e.At}
		}
	}
	return e
}
