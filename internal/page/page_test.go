package page

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/recorder"
	"gitagent/internal/review"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// TestWrite: what a page has of a mission with two turns.
func TestWrite(t *testing.T) {
	repo := gittest.New(t)
	repo.Write("file", "one\ntwo\n")
	repo.Commit("base")
	g, err := git.Find(repo.Dir)
	gittest.Must(t, err)
	w := workspace.New(g, config.Default())
	c := replay.New(gittest.TempDir(t), repo.Dir, func(e replay.Event) {
		event, known := map[string]recorder.SignalKind{"UserPromptSubmit": recorder.Prompted, "Stop": recorder.Stopped}[e.Name]
		if !known {
			return
		}
		if _, err := recorder.Record(t.Context(), w, recorder.Signal{
			Event: event, At: e.At, Agent: "claude-code", Session: e.Session, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.Reply,
			Transcript: e.Transcript, Client: session.Client{PID: e.PID},
		}); err != nil {
			t.Fatal(e.Name, err)
		}
	})
	c.Context = 50_000
	c.Prompt("change\nthe file")
	c.Use("Edit", map[string]any{"file_path": "file"}, "it is edited", false)
	repo.Write("file", "one\n2\nthree\n")
	c.Stop("I **changed** it.")
	repo.Write("between", "by hand\n")
	c.Prompt("nothing else")
	c.Stop("Nothing.")
	missions, err := turns.Missions(t.Context(), g)
	gittest.Must(t, err)
	id := string(missions[0].ID)

	written := func(w *workspace.Workspace, without ...Part) (*shown, map[string]json.RawMessage) {
		var b bytes.Buffer
		p := &Page{Workspace: w, Missions: missions, Without: without, Made: time.Unix(1_780_000_000, 0)}
		done, err := p.Write(t.Context(), &b)
		if err != nil || done.Unread != nil || done.Missions != 1 || done.Turns != 2 {
			t.Fatalf("%+v, %v", done, err)
		}
		packets := unpack(t, b.Bytes())
		var s shown
		decode(t, packets["index"], &s)
		var first packet
		decode(t, packets["packet-0"], &first)
		return &s, first.Turns
	}

	all, details := written(w)
	m := &all.Missions[0]
	if m.ID != id || m.Title != "change" || m.By != "this clone" || m.Foreign || len(m.Handoffs) != 0 || !strings.HasPrefix(m.Agent, "claude-code ") {
		t.Errorf("mission %+v", m)
	}
	if l := m.Limits; len(l) != 3 || l[0].Tokens >= l[1].Tokens || l[1].Tokens >= l[2].Tokens {
		t.Errorf("limits %+v", l)
	}
	for i, want := range []shownTurn{
		{Number: 1, Outcome: "done", Prompt: "change the file", Checked: "untested", Files: 1, Insertions: 2, Deletions: 1, Context: 50_000},
		{Number: 2, Outcome: "done", Prompt: "nothing else", Context: 50_000},
	} {
		if got := m.Turns[i]; got != want {
			t.Errorf("turn %+v, want %+v", got, want)
		}
	}
	for _, test := range []struct {
		turn      string
		has, lack []string
	}{
		{id + "/1", []string{`"prompt":"change\nthe file"`, `it is edited`, `changed`, `"path":"file"`}, []string{`between`}},
		{id + "/2", []string{`"prompt":"nothing else"`, `"between":[`, `by hand`}, []string{`it is edited`, `"files"`}},
	} {
		for _, text := range test.has {
			if !bytes.Contains(details[test.turn], []byte(text)) {
				t.Errorf("turn %s lacks %s:\n%s", test.turn, text, details[test.turn])
			}
		}
		for _, text := range test.lack {
			if bytes.Contains(details[test.turn], []byte(text)) {
				t.Errorf("turn %s has %s:\n%s", test.turn, text, details[test.turn])
			}
		}
	}

	// What somebody has reviewed, is said.
	if m.Reviewed != nil {
		t.Errorf("reviewed: %+v", m.Reviewed)
	}
	first, err := turns.Read(t.Context(), g, missions[0].ID, 1)
	gittest.Must(t, err)
	mark, err := review.Add(t.Context(), w, first, time.Unix(1_790_000_000, 0))
	gittest.Must(t, err)
	all, _ = written(w)
	if r := all.Missions[0].Reviewed; r == nil || r.Turn != 1 || r.At != 1_790_000_000_000 || r.By != mark.Name() || strings.Contains(r.By, "@") {
		t.Errorf("reviewed: %+v, the mark is %+v", r, mark)
	}

	// What is left out is not in it.
	for _, test := range []struct {
		without  []Part
		lack     string
		contains string
	}{
		{[]Part{Results}, "it is edited", "It has prompts and replies, conversations, changes of files, without results of tools, redacted as they are stored. It loads nothing."},
		{[]Part{Transcript}, `"steps"`, "It has prompts and replies, changes of files, without conversations, redacted as they are stored. It loads nothing."},
		{[]Part{Code}, "by hand", "It has prompts and replies, conversations, results of tools, without changes of files, redacted as they are stored. It loads nothing."},
	} {
		i, details := written(w, test.without...)
		if i.Contains != test.contains {
			t.Errorf("without %v: %s", test.without, i.Contains)
		}
		for name, d := range details {
			if bytes.Contains(d, []byte(test.lack)) {
				t.Errorf("without %v, turn %s has %s:\n%s", test.without, name, test.lack, d)
			}
		}
	}

	// A tree that is lost takes the files of its own turn only.
	gittest.Must(t, first.CodeKnown())
	lost := gittest.New(t)
	lost.Git("-c", "fetch.unpackLimit=1000", "fetch", "-q", repo.Dir, "refs/agent/*:refs/agent/*")
	tree := lost.Git("rev-parse", first.Code.String()+"^{tree}")
	gittest.Must(t, os.Remove(filepath.Join(lost.Dir, ".git/objects", tree[:2], tree[2:])))
	damaged, err := git.Find(lost.Dir)
	gittest.Must(t, err)
	var b bytes.Buffer
	done, err := (&Page{Workspace: workspace.New(damaged, config.Default()), Missions: missions}).Write(t.Context(), &b)
	gittest.Must(t, err)
	var packed packet
	decode(t, unpack(t, b.Bytes())["packet-0"], &packed)
	if done.Unread == nil || done.Turns != 2 || bytes.Contains(packed.Turns[id+"/1"], []byte(`"files"`)) || !bytes.Contains(packed.Turns[id+"/1"], []byte("changed")) {
		t.Errorf("without a tree: %+v\n%s", done, packed.Turns[id+"/1"])
	}

	// In a clone that knows nobody it is a stranger's.
	clone := repo.In(gittest.TempDir(t))
	clone.Git("init", "-q", "-b", "other")
	clone.Git("fetch", "-q", repo.Dir, "refs/*:refs/*")
	if g, err = git.Find(clone.Dir); err != nil {
		t.Fatal(err)
	}
	settings := config.Default()
	settings.Trust.Key = filepath.Join(clone.Dir, "none")
	foreign, _ := written(workspace.New(g, settings))
	if m := foreign.Missions[0]; m.Reviewed != nil || !m.Foreign || m.By != "unknown" || !m.Turns[0].Foreign || !m.Turns[1].Foreign {
		t.Errorf("a stranger's mission: %+v", m)
	}
}

// shown is what the scripts find in the index.
type shown struct {
	Contains string
	Missions []struct {
		ID, Title, Agent, By string
		Foreign              bool
		Reviewed             *struct {
			Turn int
			At   int64
			By   string
		}
		Limits   []limit
		Handoffs []handoffPacket
		Turns    []shownTurn
	}
}

type shownTurn struct {
	Number, Files, Insertions, Deletions, Context, Packet int
	Outcome, Prompt, Checked                              string
	Foreign                                               bool
}

func decode(t *testing.T, data []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
}
