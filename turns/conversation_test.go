package turns_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/transcript"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// talked records some turns of one client, each with a file of its own.
func talked(t *testing.T, prompts ...string) (*lab.Lab, []*turns.Turn) {
	t.Helper()
	l := lab.New(t)
	c := l.Client()
	for _, prompt := range prompts {
		c.Prompt(prompt)
		l.Write(prompt[:3]+".txt", prompt+"\n")
		c.Stop("reply to " + prompt)
	}
	list, err := turns.List(t.Context(), l.GitRepo(), lab.Own(c))
	if err != nil || len(list) != len(prompts) {
		t.Fatalf("%d turns, %v", len(list), err)
	}
	return l, list
}

func TestWords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a long prompt\n", 200) + "its end"
	l, list := talked(t, long, "short")
	if prompt, reply := turns.Words(t.Context(), l.GitRepo(), list[0]); prompt != long || reply != "reply to "+long {
		t.Errorf("the words are %q, %q", prompt, reply)
	}
	if prompt, reply := turns.Words(t.Context(), l.GitRepo(), list[1]); prompt != "short" || reply != "reply to short" {
		t.Errorf("the words are %q, %q", prompt, reply)
	}
	other := *list[0]
	other.Reply = "…of another event"
	if _, reply := turns.Words(t.Context(), l.GitRepo(), &other); reply != other.Reply {
		t.Errorf("the reply is %q", reply)
	}
	other.Transcript = nil
	if prompt, reply := turns.Words(t.Context(), l.GitRepo(), &other); prompt != other.Prompt || reply != other.Reply {
		t.Errorf("without a segment the words are %q, %q", prompt, reply)
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	l, list := talked(t, "one", "two", "three")
	last := *list[2]
	last.Transcript = &record.Segment{After: 2, Missing: "size"}
	linked, err := turns.Linked(t.Context(), l.GitRepo(), &last)
	if err != nil || !slices.Equal(linked, []int{1, 2, 3}) {
		t.Fatalf("%v: %v", linked, err)
	}
	last.Transcript.After = 3
	if linked, err := turns.Linked(t.Context(), l.GitRepo(), &last); err == nil || !slices.Equal(linked, []int{3}) {
		t.Errorf("a turn that follows itself: %v, %v", linked, err)
	}
	l.Record(replay.Event{Name: "Stop", At: time.Now(), Session: list[0].Session, Cwd: l.Dir, Prompt: "p", Reply: "r"})
	var b bytes.Buffer
	gittest.Must(t, turns.Render(t.Context(), l.GitRepo(), list[0].Mission, []int{1, 3, 4}, transcript.Form{}, nil, &b))
	id := string(list[0].Mission)
	want := "-- turn " + id + "/1 --\n> one\n\n* reply to one\n\n" +
		"-- turn " + id + "/3 --\n> three\n\n* reply to three\n\n" +
		"-- turn " + id + "/4 --\n> p\n\n* r\n\n-- there is no transcript --\n"
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if err := turns.Render(t.Context(), l.GitRepo(), list[0].Mission, []int{7}, transcript.Form{}, nil, &b); !errors.Is(err, git.ErrNotFound) {
		t.Errorf("of a turn that is not there: %v", err)
	}
}

func TestBetween(t *testing.T) {
	t.Parallel()
	l, list := talked(t, "one", "two", "three", "four")
	for name, want := range map[string]string{
		"1..3": "2 3", "1^..3": "1 2 3", "..2": "1 2", "3..": "4", "2^..": "2 3 4", "1..4^": "2 3", "3..3": "", "4..1": "",
	} {
		from, to, ok, err := turns.Range(t.Context(), l.Workspace(l.Dir), list[0].Mission, name)
		if err != nil || !ok {
			t.Fatal(name, err)
		}
		got, err := turns.Between(t.Context(), l.GitRepo(), from, to)
		if err != nil || fmt.Sprint(got) != "["+want+"]" {
			t.Errorf("%s is %v, %v; want %s", name, got, err, want)
		}
	}
	none := &turns.State{In: list[0].Mission, Saved: true} // before the first turn
	if between, err := turns.Between(t.Context(), l.GitRepo(), none, list[3].After()); err != nil || len(between) != 4 {
		t.Errorf("from the beginning there are %d turns, %v", len(between), err)
	}
	gone := &turns.State{In: record.ID("ffffffff"), Turn: list[0]}
	if _, err := turns.Between(t.Context(), l.GitRepo(), gone, gone); !errors.As(err, new(*turns.MissingError)) {
		t.Errorf("of no mission: %v", err)
	}
	for i, turn := range list {
		before, err := turns.Previous(t.Context(), l.GitRepo(), turn)
		if err != nil || i == 0 && before != nil || i > 0 && (before == nil || before.Turn != i) {
			t.Errorf("before %d is %v, %v", i+1, before, err)
		}
	}
}
