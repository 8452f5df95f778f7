package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitagent/internal/blame"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/turns"
)

var (
	commit = object.NewHash("1234567890123456789012345678901234567890")
	noon   = time.Date(2026, time.March, 1, 12, 0, 0, 0, time.UTC)
)

// turn is a turn of a mission, an hour after the one before it.
func turn(mission string, n int, agent, model, session string) *turns.Turn {
	at := noon.Add(time.Duration(n) * time.Hour)
	return &turns.Turn{
		Mission: record.ID(mission), Turn: n, Started: at.Add(-time.Minute), At: at, Outcome: record.Done,
		Agent: agent, Model: model, Session: session, Prompt: fmt.Sprintf("do <%d>", n),
	}
}

const session = "5e550000-0000-4000-8000-000000000001"

var writers = map[rune]*turns.Turn{
	'a': turn("a1b2c3d4", 1, "claude-code", "claude-opus-4-8", session),
	'b': turn("a1b2c3d4", 2, "claude-code", "claude-sonnet-4-5", session),
	'c': turn("b1b2c3d4", 1, "codex", "gpt-5.1-codex", "one two"),
	'd': turn("c1b2c3d4", 1, "aider", "somebody's", ""),
	'u': turn("d1b2c3d4", 1, "", "", ""),
}

// file is a file whose lines were written by the turns that letters stand for, several of them behind each
// other in brackets, "." for those by hand.
func file(path, text string) blame.Added {
	f := blame.Added{Path: path}
	number := 0
	for text != "" {
		who := text[:1]
		text = text[1:]
		if who == "[" {
			who, text, _ = strings.Cut(text, "]")
		}
		number++
		if who == "." {
			continue
		}
		line := blame.Line{Blame: gitdiff.Blamed{Number: number, Commit: commit}}
		for i, letter := range who {
			if i == 0 {
				line.Turn = writers[letter]
			} else {
				line.Others = append(line.Others, writers[letter])
			}
		}
		f.Lines = append(f.Lines, line)
	}
	return f
}

func TestTrace(t *testing.T) {
	for _, test := range []struct {
		what  string
		files []blame.Added
		want  []string // of each file
	}{
		{"nothing", nil, nil},
		{"by hand alone", []blame.Added{file("a", "...")}, nil},
		{"one turn", []blame.Added{file("dir/a b", "aa.a")}, []string{
			`dir/a b: ai anthropic/claude-opus-4-8 git-agent-turn:a1b2c3d4/1 1-2 4-4 session=urn:uuid:` + session,
		}},
		{"three turns, the first line first", []blame.Added{file("a", ".cacb")}, []string{
			`a: ai openai/gpt-5.1-codex git-agent-turn:b1b2c3d4/1 2-2 4-4; ` +
				`ai anthropic/claude-opus-4-8 git-agent-turn:a1b2c3d4/1 3-3 session=urn:uuid:` + session + `; ` +
				`ai anthropic/claude-sonnet-4-5 git-agent-turn:a1b2c3d4/2 5-5 session=urn:uuid:` + session,
		}},
		{"one of two", []blame.Added{file("a", "a[ac][ac]")}, []string{
			`a: ai anthropic/claude-opus-4-8 git-agent-turn:a1b2c3d4/1 1-1 session=urn:uuid:` + session + `; ` +
				`ai 2-3 turn=git-agent-turn:a1b2c3d4/1 turn=git-agent-turn:b1b2c3d4/1`,
		}},
		{"one of two with a model", []blame.Added{file("a", "[aa]")}, []string{
			`a: ai anthropic/claude-opus-4-8 1-1 turn=git-agent-turn:a1b2c3d4/1 turn=git-agent-turn:a1b2c3d4/1`,
		}},
		{"a model of somebody", []blame.Added{file("a", "d")}, []string{`a: ai git-agent-turn:c1b2c3d4/1 1-1`}},
		{"nobody's name", []blame.Added{file("a", "u[au]")}, []string{
			`a: unknown git-agent-turn:d1b2c3d4/1 1-1; unknown 2-2 turn=git-agent-turn:a1b2c3d4/1 turn=git-agent-turn:d1b2c3d4/1`,
		}},
		{"odd names", []blame.Added{file("new\nline \"", "d"), file("grün", "d"), file("bad\xff", "d")}, []string{
			"new\nline \": ai git-agent-turn:c1b2c3d4/1 1-1", `grün: ai git-agent-turn:c1b2c3d4/1 1-1`,
		}},
	} {
		t.Run(test.what, func(t *testing.T) {
			trace, left, err := NewTrace(CommitShare{commit, noon, test.files}, true)
			gittest.Must(t, err)
			for _, path := range left {
				if path != "bad\xff" {
					t.Errorf("left out %q", path)
				}
			}
			if trace == nil {
				if test.want != nil {
					t.Fatal("no record")
				}
				return
			}
			var got []string
			for _, f := range trace.Files {
				var all []string
				for _, c := range f.Conversations {
					fields := []string{c.Contributor.Type, c.Contributor.Model, c.URL}
					for _, r := range c.Ranges {
						fields = append(fields, fmt.Sprintf("%d-%d", r.Start, r.End))
					}
					for _, r := range c.Related {
						fields = append(fields, r.Type+"="+r.URL)
					}
					all = append(all, strings.Join(slices.DeleteFunc(fields, func(s string) bool { return s == "" }), " "))
				}
				got = append(got, f.Path+": "+strings.Join(all, "; "))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
			text, err := json.Marshal(trace)
			gittest.Must(t, err)
			if err := checkTrace(text); err != nil {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// TestTraceID: the id is the record's, and changes with what it says only.
func TestTraceID(t *testing.T) {
	id := func(c CommitShare, prompts bool) string {
		trace, _, err := NewTrace(c, prompts)
		gittest.Must(t, err)
		return trace.ID
	}
	c := CommitShare{commit, noon, []blame.Added{file("a", "ab")}}
	first := id(c, true)
	if again := id(c, true); again != first {
		t.Errorf("the second time it is %s, not %s", again, first)
	}
	other := c
	other.Hash = object.NewHash("22")
	longer := c
	longer.Files = []blame.Added{file("a", "abb")}
	seen := []string{first}
	for _, another := range []string{id(other, true), id(longer, true), id(c, false)} {
		if slices.Contains(seen, another) {
			t.Errorf("%s is there twice", another)
		}
		seen = append(seen, another)
	}
}

func TestTraceDates(t *testing.T) {
	for _, test := range []struct {
		at   time.Time
		want string
	}{
		{noon.In(time.FixedZone("", 3600)), "2026-03-01T12:00:00Z"},
		{time.Unix(1<<40, 0), "9999-12-31T23:59:59Z"},
		{time.Unix(-1, 0), "1970-01-01T00:00:00Z"},
	} {
		trace, _, err := NewTrace(CommitShare{commit, test.at, []blame.Added{file("a", "a")}}, false)
		if err != nil || trace.At != test.want {
			t.Errorf("%v is %v, %v; want %s", test.at, trace.At, err, test.want)
		}
	}
}

// TestPrompts: they are there, or not there at all.
func TestPrompts(t *testing.T) {
	for _, prompts := range []bool{true, false} {
		trace, _, err := NewTrace(CommitShare{commit, noon, []blame.Added{file("a", "a")}}, prompts)
		gittest.Must(t, err)
		text, err := json.Marshal(trace)
		gittest.Must(t, err)
		if got := bytes.Contains(text, []byte("prompt")); got != prompts {
			t.Errorf("prompts are there: %v, want %v: %s", got, prompts, text)
		}
	}
}

func TestModelID(t *testing.T) {
	for model, want := range map[string]string{
		"": "", "claude-opus-4-8": "anthropic/claude-opus-4-8", "gpt-5.1": "openai/gpt-5.1", "o3-mini": "openai/o3-mini",
		"gemini-2.5-pro": "google/gemini-2.5-pro", "anthropic/claude-opus-4-8": "anthropic/claude-opus-4-8",
		"openrouter/z-ai/glm": "openrouter/z-ai/glm", "<synthetic>": "", "glm-5": "",
		"arn:aws:bedrock:eu:1:inference-profile/claude": "", "/home/dev/model.gguf": "", "../model.gguf": "",
		"claude-" + strings.Repeat("x", 300): "",
	} {
		if got := modelID(model); got != want {
			t.Errorf("modelID(%.40q) = %.40q, want %q", model, got, want)
		}
	}
}

func TestModelName(t *testing.T) {
	for model, want := range map[string]string{
		"": "", "claude-opus-4-8": "claude-opus-4-8", "openrouter/z-ai/glm": "openrouter/z-ai/glm",
		"/home/dev/model.gguf": "model.gguf", "~/model.gguf": "model.gguf", "./model.gguf": "model.gguf", `C:\Users\dev\model.gguf`: "model.gguf",
	} {
		if got := modelName(model); got != want {
			t.Errorf("modelName(%q) = %q, want %q", model, got, want)
		}
	}
}

func TestNote(t *testing.T) {
	for _, test := range []struct {
		what  string
		files []blame.Added
		want  string // with letters for the traces of turns
		left  []string
	}{
		{"nothing", nil, "", nil},
		{"by hand, and by nobody who has a name", []blame.Added{file("a", "..u")}, "", nil},
		{"one turn", []blame.Added{file("a", "aa.a")}, "a\n  A 1-2,4\n", nil},
		{"two turns of a session", []blame.Added{file("a", "bab"), file("b", ".c")}, "a\n  B 1,3\n  A 2\nb\n  C 2\n", nil},
		{"the most likely of several", []blame.Added{file("a", "a[ac][ca]")}, "a\n  A 1-2\n  C 3\n", nil},
		{"odd names", []blame.Added{
			file("---", "d"), file("a b", "d"), file("new\nline", "d"), file("tab\t", "d"), file("grün", "d"), file(`quo"te`, "d"), file("bad\xff", "d"),
		}, "\"---\"\n  D 1\n\"a b\"\n  D 1\n\"tab\t\"\n  D 1\ngrün\n  D 1\n", []string{"new\nline", `quo"te`, "bad\xff"}},
	} {
		t.Run(test.what, func(t *testing.T) {
			note, left, err := Note(CommitShare{commit, noon, test.files})
			gittest.Must(t, err)
			if !slices.Equal(left, test.left) {
				t.Errorf("left %q, want %q", left, test.left)
			}
			if len(note) == 0 {
				if test.want != "" {
					t.Error("no note")
				}
				return
			}
			files, err := readNote(note)
			if err != nil {
				t.Fatalf("%v:\n%s", err, note)
			}
			lines, _, _ := strings.Cut(string(note), "---\n{")
			for letter, w := range writers {
				agent := newNoteAgent(w)
				key := "s_" + digits(agent.Tool+":"+agent.ID) + "::t_" + digits(name(w))
				lines = strings.ReplaceAll(lines, key, strings.ToUpper(string(letter)))
			}
			if lines != test.want {
				t.Errorf("got\n%s\nwant\n%s", lines, test.want)
			}
			for _, f := range test.files {
				if slices.Contains(test.left, f.Path) {
					continue
				}
				var want []int
				for _, l := range f.Lines {
					want = append(want, l.Blame.Number)
				}
				if got := files[f.Path]; !slices.Equal(slices.Sorted(slices.Values(got)), want) {
					t.Errorf("%q: lines %v, want %v", f.Path, got, want)
				}
			}
		})
	}
}

// TestNoteVector is a note from beginning to end. The keys were made with sha256sum.
func TestNoteVector(t *testing.T) {
	note, _, err := Note(CommitShare{commit, noon, []blame.Added{file("src/a.go", "aab")}})
	want := `src/a.go
  s_d4ee53feb66759::t_a73e0740e1f37c 1-2
  s_d4ee53feb66759::t_1b028bac9ffab7 3
---
{
  "schema_version": "authorship/3.0.0",
  "base_commit_sha": "1234567890123456789012345678901234567890",
  "prompts": {},
  "sessions": {
    "s_d4ee53feb66759": {
      "agent_id": {
        "tool": "claude",
        "id": "5e550000-0000-4000-8000-000000000001",
        "model": "claude-sonnet-4-5"
      }
    }
  }
}
`
	if err != nil || string(note) != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, note, want)
	}
}

// TestSpans: whatever the lines, all of them are told of, once, each with its turns, and in ranges that can't
// be joined.
func TestSpans(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var text strings.Builder
		for range random.IntN(30) {
			text.WriteString([]string{".", "a", "b", "c", "[ab]", "[ba]", "[ac]"}[random.IntN(7)])
		}
		f := file("a", text.String())
		got := make(map[int][]*turns.Turn)
		for _, s := range spans(f.Lines) {
			last := -1
			for _, r := range s.ranges {
				if r[0] <= last+1 || r[1] < r[0] {
					t.Fatalf("%s: ranges %v", &text, s.ranges)
				}
				last = r[1]
				for n := r[0]; n <= r[1]; n++ {
					if got[n] != nil {
						t.Fatalf("%s: line %d is there twice", &text, n)
					}
					got[n] = s.turns
				}
			}
		}
		want := make(map[int][]*turns.Turn)
		for _, l := range f.Lines {
			want[l.Blame.Number] = append([]*turns.Turn{l.Turn}, l.Others...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: got %v, want %v", &text, got, want)
		}
	}
}

func TestStream(t *testing.T) {
	by := object.Signature{Name: "Dev", Email: "dev@example.invalid", When: noon}
	if got := Stream(object.Hash{}, by, nil); len(got) > 0 {
		t.Errorf("without notes: %s", got)
	}
	rest := `N inline 1234567890123456789012345678901234567890
data 4
one

done
`
	const head = `feature done
commit refs/notes/ai
committer Dev <dev@example.invalid> 1772366400 +0000
data 40
Notes of the turns that git-agent knows

`
	notes := []Noted{{commit, []byte("one\n")}}
	if got, want := string(Stream(object.Hash{}, by, notes)), head+rest; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	from := "from " + commit.String() + "\n"
	if got, want := string(Stream(commit, by, notes)), head+from+rest; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// checkTrace checks what the schema of Agent Trace 0.1.0 demands of a record.
func checkTrace(text []byte) error {
	var record struct {
		Version, ID, Timestamp string
		VCS                    struct{ Type, Revision string }
		Files                  []struct {
			Path          string
			Conversations []struct {
				URL         string
				Contributor struct {
					Type  string
					Model string `json:"model_id"`
				}
				Ranges []struct {
					Start int `json:"start_line"`
					End   int `json:"end_line"`
				}
				Related []struct{ Type, URL string }
			}
		}
		Metadata map[string]any
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&record); err != nil {
		return err
	}
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	_, err := time.Parse(time.RFC3339, record.Timestamp)
	switch {
	case !regexp.MustCompile(`^[0-9]+\.[0-9]+\.[0-9]+$`).MatchString(record.Version):
		return fmt.Errorf("version %q", record.Version)
	case !uuid.MatchString(record.ID):
		return fmt.Errorf("id %q", record.ID)
	case err != nil || !strings.HasSuffix(record.Timestamp, "Z"):
		return fmt.Errorf("timestamp %q", record.Timestamp)
	case record.VCS.Type != "git" || len(record.VCS.Revision) != len(commit.String()):
		return fmt.Errorf("vcs %v", record.VCS)
	case len(record.Files) == 0:
		return fmt.Errorf("no files")
	}
	for _, f := range record.Files {
		if f.Path == "" || len(f.Conversations) == 0 {
			return fmt.Errorf("file %v", f)
		}
		for _, c := range f.Conversations {
			if c.Contributor.Type != "ai" && c.Contributor.Type != "unknown" || len([]rune(c.Contributor.Model)) > 250 {
				return fmt.Errorf("contributor %v", c.Contributor)
			}
			for _, r := range c.Ranges {
				if r.Start < 1 || r.End < r.Start {
					return fmt.Errorf("range %v", r)
				}
			}
			urls := []string{}
			if c.URL != "" {
				urls = append(urls, c.URL)
			}
			for _, r := range c.Related {
				urls = append(urls, r.URL)
			}
			for _, text := range urls {
				if u, err := url.Parse(text); err != nil || !u.IsAbs() {
					return fmt.Errorf("%q is no URI", text)
				}
			}
		}
	}
	return nil
}

// readNote reads a note line by line, as the standard has it, and returns the lines that it tells of.
func readNote(note []byte) (map[string][]int, error) {
	attested, text, ok := bytes.Cut(note, []byte("\n---\n"))
	if !ok {
		return nil, fmt.Errorf("no line of ---")
	}
	var meta struct {
		Version  string         `json:"schema_version"`
		Base     string         `json:"base_commit_sha"`
		Prompts  map[string]any `json:"prompts"`
		Sessions map[string]struct {
			Agent map[string]string `json:"agent_id"`
		} `json:"sessions"`
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	if err := strict.Decode(&meta); err != nil {
		return nil, err
	}
	if meta.Version != "authorship/3.0.0" || len(meta.Base) != len(commit.String()) || meta.Prompts == nil || len(meta.Prompts) > 0 {
		return nil, fmt.Errorf("metadata %v", meta)
	}
	key := regexp.MustCompile(`^(s_[0-9a-f]{14})::t_[0-9a-f]{14}$`)
	files, path, told := make(map[string][]int), "", make(map[string]bool)
	for line := range strings.SplitSeq(string(attested), "\n") {
		entry, ok := strings.CutPrefix(line, "  ")
		if !ok {
			if path = line; strings.HasPrefix(path, `"`) {
				path = strings.TrimSuffix(path[1:], `"`)
			} else if strings.ContainsAny(path, " \t") {
				return nil, fmt.Errorf("path %q", line)
			}
			if files[path] != nil {
				return nil, fmt.Errorf("%q is there twice", path)
			}
			continue
		}
		fields := strings.Split(entry, " ")
		if len(fields) != 2 || !key.MatchString(fields[0]) {
			return nil, fmt.Errorf("entry %q", line)
		}
		session := key.FindStringSubmatch(fields[0])[1]
		told[session] = true
		if agent := meta.Sessions[session].Agent; agent["tool"] == "" || agent["id"] == "" || agent["model"] == "" {
			return nil, fmt.Errorf("session %q: %v", session, agent)
		}
		last := 0
		for part := range strings.SplitSeq(fields[1], ",") {
			from, to, isRange := strings.Cut(part, "-")
			first, err := strconv.Atoi(from)
			if err != nil || first <= last {
				return nil, fmt.Errorf("lines %q", line)
			}
			last = first
			if isRange {
				if last, err = strconv.Atoi(to); err != nil || last <= first {
					return nil, fmt.Errorf("lines %q", line)
				}
			}
			for n := first; n <= last; n++ {
				files[path] = append(files[path], n)
			}
		}
	}
	if len(told) != len(meta.Sessions) {
		return nil, fmt.Errorf("%d sessions, and %d are told of", len(meta.Sessions), len(told))
	}
	return files, nil
}
