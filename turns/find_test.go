package turns_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/turns"
)

func TestFind(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Begin(missionstore.Beginning{ID: "12345678", At: time.Now()})
	c := l.Client()
	for i := range 3 {
		l.Turn(c, fmt.Sprint(i+1), l.Writes("file", fmt.Sprint(i)))
	}
	l.Turn(c, "4", nil)
	l.Git("checkout", "-q", "main")
	l.Begin(missionstore.Beginning{ID: "a1b2c3d4", At: time.Now()})
	l.Turn(l.Client(), "other", l.Writes("other", "x"))
	first := l.List("12345678")[0].Code.String()
	for _, tt := range []struct {
		current record.ID
		name    string
		want    string // "" if there is none
	}{
		{"12345678", "", "12345678/4"},
		{"12345678", "latest", "12345678/4"},
		{"12345678", "2", "12345678/2"},
		{"12345678", "a1b2c3d4/1", "a1b2c3d4/1"},
		{"12345678", "a1b2c3d4", "a1b2c3d4/1"},
		{"12345678", "a1b2c3d4/latest", "a1b2c3d4/1"},
		{"a1b2c3d4", "12345678", "12345678/4"}, // a number, but also a mission
		{"", "12345678/3", "12345678/3"},
		{"", first, "12345678/1"},
		{"", first[:12], "12345678/1"},
		{"a1b2c3d4", "HEAD", "a1b2c3d4/1"},
		{"", "agent/mission/12345678", "12345678/4"}, // of several on one commit the newest
		{"12345678", "5", ""},
		{"12345678", "0", ""},
		{"12345678", "-1", ""},
		{"12345678", "99999999999999999999", ""},
		{"12345678", "a1b2c3d4/2", ""},
		{"12345678", "a1b2c3d4/x", ""},
		{"12345678", "a1b2c3d4/-1", ""},
		{"12345678", "ffffffff", ""},
		{"12345678", "ffffffff/1", ""},
		{"12345678", "main", "12345678/1^"}, // where it began
		{"", "a1b2", "a1b2c3d4/1"},
		{"", "A1B2C/1", "a1b2c3d4/1"},
		{"", "1234/2^", "12345678/2^"},
		{"12345678", "3^", "12345678/3^"},
		{"12345678", "^", ""},
		{"12345678", "latest^", "12345678/4^"},
		{"12345678", "a1b", ""},
		{"12345678", "5^", ""},
		{"12345678", "3^^", ""},
		{"12345678", "3~", ""},
		{"12345678", "a1b2/", ""},
		{"12345678", "a1b2c3d4ffff", ""},
		{"12345678", "--all", ""},
		{"12345678", "no such thing", ""},
		{"12345678", "../../HEAD", ""},
		{"12345678", "A1B2C3D4/1", "a1b2c3d4/1"},
		{"", "2", ""},
		{"", "", ""},
	} {
		got, err := turns.Find(t.Context(), l.Workspace(l.Dir), tt.current, tt.name)
		switch {
		case tt.want == "" && !errors.Is(err, git.ErrNotFound):
			t.Errorf("Find(%q, %q) = %v, %v; want an error wrapping ErrNotFound", tt.current, tt.name, got, err)
		case tt.want != "" && (err != nil || got.String() != tt.want):
			t.Errorf("Find(%q, %q) = %v, %v; want %s", tt.current, tt.name, got, err, tt.want)
		}
	}
}

func TestMissions(t *testing.T) {
	t.Parallel()
	l := lab.New(t)
	if list, err := turns.Missions(t.Context(), l.GitRepo()); err != nil || len(list) != 0 {
		t.Errorf("in a fresh repository: %v, %v", list, err)
	}
	one, two := l.Client(), l.Client()
	l.Turn(one, "first of one", nil)
	l.Turn(two, "first of two", nil)
	l.Turn(one, "second of one", nil)
	l.Begin(missionstore.Beginning{ID: "a1b2c3d4", Title: "empty", At: time.Now().Add(-time.Hour)})
	l.Git("update-ref", "refs/agent/missions/not-a-mission", "HEAD")
	l.Git("update-ref", "refs/agent/missions/bad0bad0", "HEAD") // it has no mission.json
	list, err := turns.Missions(t.Context(), l.GitRepo())
	if err == nil {
		t.Error("a broken mission is no error")
	}
	var got []string
	for _, m := range list {
		got = append(got, fmt.Sprintf("%s %q %d", m.ID, m.Title, m.Turns))
	}
	want := []string{
		fmt.Sprintf("%s %q 2", lab.Own(one), "first of one"),
		fmt.Sprintf("%s %q 1", lab.Own(two), "first of two"),
		`a1b2c3d4 "empty" 0`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("missions are\n%q\nwant\n%q", got, want)
	}
	if _, err := turns.List(t.Context(), l.GitRepo(), "ffffffff"); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("turns of a mission that does not exist: %v", err)
	}
}

// TestMissionsKeepLittle: of a last turn a list has the beginning of its prompt, however long its record is.
func TestMissionsKeepLittle(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	c := l.Client()
	l.Turn(c, "first", nil)
	long := *l.List(lab.Own(c))[0]
	long.Prompt, long.Reply, long.Session = strings.Repeat("word ", 500_000), strings.Repeat("x", 500_000), strings.Repeat("x", 500_000)
	l.PutTurn(long)
	list, err := turns.Missions(t.Context(), l.GitRepo())
	if err != nil || len(list) != 1 || list[0].Last == nil {
		t.Fatalf("%v, %v", list, err)
	}
	if last := list[0].Last; !strings.HasPrefix(last.Prompt, "word word") || len(last.Prompt) > 1000 || last.Session != "" || !last.At.Equal(long.At) {
		t.Errorf("of the last turn there are a prompt of %d bytes, a session of %d, %s", len(last.Prompt), len(last.Session), last.At)
	}
}

// TestHostileLedger: a ledger may come from a stranger. Reading it ends in an error, not in a panic
// or an endless loop.
func TestHostileLedger(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const mission = `{"v":1,"id":"a1b2c3d4","created":"2026-11-20T12:00:00Z"}`
	record := func(n int, rest string) string {
		return fmt.Sprintf(`{"v":1,"kind":"turn","mission":"a1b2c3d4","turn":%d,"at":"2026-11-20T12:00:00Z","outcome":"done","code":"`+gittest.Hash("035889dde589b207bdc928f32292daf5f0ad0bad")+`"%s}`, n, rest)
	}
	for name, files := range map[string]map[string]string{
		"record is binary":              {"mission.json": mission, "turns/0000/000001.json": "\x00\xff"},
		"record is empty":               {"mission.json": mission, "turns/0000/000001.json": ""},
		"record of a later version":     {"mission.json": mission, "turns/0000/000001.json": `{"v":2}`},
		"record is huge and nested":     {"mission.json": mission, "turns/0000/000001.json": `{"v":1,"x":` + nested(20000) + `}`},
		"conversation follows itself":   {"mission.json": mission, "turns/0000/000001.json": record(1, `,"transcript":{"path":"x","after":1}`), "transcript/0000/000001.jsonl": "{}\n"},
		"conversation goes forward":     {"mission.json": mission, "turns/0000/000001.json": record(1, `,"transcript":{"path":"x","after":7}`), "transcript/0000/000001.jsonl": "{}\n"},
		"conversation goes below zero":  {"mission.json": mission, "turns/0000/000001.json": record(1, `,"transcript":{"path":"x","after":-1}`), "transcript/0000/000001.jsonl": "{}\n"},
		"segment is missing":            {"mission.json": mission, "turns/0000/000001.json": record(1, `,"transcript":{"path":"../../../mission.json","after":0}`)},
		"turns is a file":               {"mission.json": mission, "turns": "x"},
		"record is a directory":         {"mission.json": mission, "turns/0000/000001.json/x": "x"},
		"mission.json is a directory":   {"mission.json/x": mission},
		"mission.json of another one":   {"mission.json": `{"v":1,"id":"ffffffff","created":"2026-11-20T12:00:00Z"}`, "turns/0000/000001.json": "{"},
		"record of another mission":     {"mission.json": mission, "turns/0000/000001.json": `{"v":1,"kind":"turn","mission":"../../x","turn":1}`},
		"a number that is not a number": {"mission.json": mission, "turns/zzzz/x.json": "x", "turns/0000/-00001.json": "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			side := l.At(l.Dir)
			side.Repo = l.In(l.Dir)
			side.Env = append(side.Env[:len(side.Env):len(side.Env)], "GIT_INDEX_FILE="+t.TempDir()+"/index")
			for file, content := range files {
				hash, err := side.Feed(content, "hash-object", "-w", "--stdin")
				gittest.Must(t, err)
				side.Git("update-index", "--add", "--cacheinfo", "100644,"+hash+","+file)
			}
			l.Git("update-ref", "refs/agent/missions/a1b2c3d4", side.Git("commit-tree", "-m", "x", side.Git("write-tree")))
			s, err := turns.Find(t.Context(), l.Workspace(l.Dir), "", "a1b2c3d4/1")
			if err == nil {
				_, err = lab.ForkConversation(l.GitRepo(), s.Turn)
			}
			if err == nil {
				t.Errorf("no error")
			}
			_, _ = turns.List(t.Context(), l.GitRepo(), "a1b2c3d4")
			_, _ = turns.Missions(t.Context(), l.GitRepo())
			// And it keeps no other mission from being recorded.
			c := l.Client()
			l.Check(lab.Own(c), l.Turn(c, "one", l.Writes("one.txt", "1\n")))
		})
	}
}

func nested(n int) string {
	b := make([]byte, 2*n)
	for i := range n {
		b[i], b[n+i] = '[', ']'
	}
	return string(b)
}
