package record_test

import (
	"strings"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/test/gittest"
)

func TestFinish(t *testing.T) {
	t.Parallel()
	commit := gittest.Hash("0123456789abcdef0123456789abcdef01234567")
	parse := func(finished string) (*record.Mission, error) {
		return record.ParseMission(`{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z","finished":` + finished + `}`)
	}
	for _, bad := range []string{`7`, `{}`, `{"turn":1}`, `{"commit":"0123","turn":1}`, `{"commit":"` + commit + `","turn":-1}`, `{"commit":"` + commit + `","turn":1000000}`} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	m, err := parse(`{"commit":"` + commit + `","turn":3,"at":"2026-11-20T12:30:00Z"}`)
	if err != nil {
		t.Fatal(err)
	}
	line, err := m.Encode()
	if want := `"finished":{"commit":"` + commit + `","turn":3,"at":"2026-11-20T12:30:00Z"}`; err != nil || !strings.Contains(string(line), want) {
		t.Errorf("encoded as %s, %v, want %s", line, err, want)
	}
	at := time.Date(2026, 11, 20, 12, 30, 0, 0, time.UTC)
	for _, tt := range []struct {
		last int
		at   time.Time
		want bool
	}{
		{3, at, true},
		{3, at.Add(-time.Hour), true},
		{3, at.Add(time.Millisecond), false}, // recorded again
		{4, at.Add(-time.Hour), false},       // imported
	} {
		if got := m.Finished.Holds(tt.last, tt.at); got != tt.want {
			t.Errorf("with turn %d at %s: %t, want %t", tt.last, tt.at, got, tt.want)
		}
	}
	if m.Finished = nil; m.Finished.Holds(0, at) {
		t.Error("a mission that was never finished is")
	}
}

func TestAdopted(t *testing.T) {
	t.Parallel()
	commit := gittest.Hash("0123456789abcdef0123456789abcdef01234567")
	parse := func(adopted string) (*record.Mission, error) {
		return record.ParseMission(`{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z","adopted":` + adopted + `}`)
	}
	for _, bad := range []string{
		`7`, `{}`, `{"turn":0}`, `{"turn":-1}`, `{"turn":1000000}`, `{"turn":1,"commit":"0123"}`, `{"turn":1,"commit":"HEAD"}`, `{"turn":1,"undone":"yes"}`,
		`{"turn":1,"at":"soon"}`,
	} {
		if _, err := parse(bad); err == nil {
			t.Errorf("%s is accepted", bad)
		}
	}
	for _, good := range []string{
		`{"turn":3,"at":"2026-11-20T12:30:00Z"}`,
		`{"turn":3,"at":"2026-11-20T12:30:00Z","undone":true}`,
		`{"turn":3,"at":"2026-11-20T12:30:00Z","commit":"` + commit + `"}`,
	} {
		m, err := parse(good)
		if err != nil {
			t.Errorf("%s: %v", good, err)
			continue
		}
		if line, err := m.Encode(); err != nil || !strings.Contains(string(line), `"adopted":`+good+`}`) {
			t.Errorf("%s is encoded as %s, %v", good, line, err)
		}
	}
}
