package recorder

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/redact"
	"gitagent/internal/scrub"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// TestHolds: turn 7 has the second line of the client's file, and it is redacted as it was then.
func TestHolds(t *testing.T) {
	t.Parallel()
	repo, err := git.Find(gittest.New(t).Dir)
	gittest.Must(t, err)
	objects := repo.Objects(t.Context())
	defer objects.Close()
	const before, line, after = `{"n":1}` + "\n", `{"n":2,"text":"the second one"}` + "\n", `{"n":3}` + "\n"
	const from, to = int64(len(before)), int64(len(before + line))
	token := `{"n":2,"text":"ghp_` + strings.Repeat("aB3dE6gH9", 4) + `"}` + "\n"
	redacted, err := (*redact.Rules)(nil).JSONLines([]byte(token), nil)
	if err != nil || string(redacted) == token {
		t.Fatalf("%s is redacted as %s, %v", token, redacted, err)
	}
	purged, err := scrub.Fixed([]byte("the second"))
	gittest.Must(t, err)
	segment := &record.Segment{Path: ledger.TurnPath("transcript", 7, ".jsonl"), From: from, To: to}
	for _, tt := range []struct {
		name    string
		file    string // the client's; "" if there is none
		stored  string // in the ledger
		turn    int    // 0 is 7
		segment *record.Segment
		purged  *scrub.Finder
		rules   *redact.Rules // of the user's own, since
		nowhere bool          // it is not known where the client's file is
		want    bool
	}{
		{name: "the same", file: before + line + after, stored: line, want: true},
		{name: "at the end of the file", file: before + line, stored: line, want: true},
		{name: "it was redacted", file: before + token + after, stored: string(redacted), segment: &record.Segment{Path: segment.Path, From: from, To: from + int64(len(token))}, want: true},
		{name: "it was purged since", file: before + line, stored: string(purged.ReplaceJSON([]byte(line))), purged: purged, want: true},
		{name: "a secret was purged that the ledger still has", file: before + line, stored: line, purged: purged},
		{name: "the user has a rule since", file: before + line, stored: line, rules: redact.New(redact.Own{Names: []string{"second"}}), want: true},
		{name: "the user has a rule since, and the text is another one", file: before + strings.Replace(line, "one", "two", 1), stored: line, rules: redact.New(redact.Own{Names: []string{"second"}})},
		{name: "the user's rules are not valid", file: before + line, stored: line, rules: redact.Invalid(errors.New("pattern 1"))},
		{name: "nothing", file: before, segment: &record.Segment{Path: segment.Path, From: from, To: from}, want: true},
		{name: "another text as long", file: before + strings.Replace(line, "one", "two", 1), stored: line},
		{name: "the ledger has more", file: before + line, stored: line + line},
		{name: "the ledger has less", file: before + line, stored: line[:len(line)-1]},
		{name: "the file is shorter", file: before + line[:5], stored: line},
		{name: "the file is another one", file: after, stored: line},
		{name: "another turn", file: before + line, stored: line, turn: 8},
		{name: "the file is gone", stored: line},
		{name: "no file is known", file: before + line, stored: line, nowhere: true},
		{name: "the turn has no segment", file: before + line, stored: line, segment: &record.Segment{From: from, To: to}},
		{name: "it ends before it begins", file: before + line, segment: &record.Segment{Path: segment.Path, From: to, To: from}},
		{name: "it is too long", file: before + line, stored: line, segment: &record.Segment{Path: segment.Path, From: from, To: from + transcript.MaxSegment + 1}},
	} {
		l := ledger.New(objects, &record.Mission{V: record.Version, ID: "a1b2c3d4"})
		tip, err := l.Append(ledger.Event{Subject: "turn 7", Files: map[string][]byte{segment.Path: []byte(tt.stored)}})
		gittest.Must(t, err)
		l, err = ledger.At(objects, l.ID, tip)
		gittest.Must(t, err)
		path := ""
		if !tt.nowhere {
			path = filepath.Join(t.TempDir(), "session.jsonl")
		}
		if path != "" && tt.file != "" {
			gittest.Must(t, os.WriteFile(path, []byte(tt.file), 0o666))
		}
		of, turn := tt.segment, tt.turn
		if of == nil {
			of = segment
		}
		if turn == 0 {
			turn = 7
		}
		if got := holds(l, tt.rules, tt.purged, path, turn, of); got != tt.want {
			t.Errorf("%s: %t, want %t", tt.name, got, tt.want)
		}
	}
}
