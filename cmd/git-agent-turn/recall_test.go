package main

import (
	"fmt"
	"maps"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/recall"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/planted"
)

// TestRecallPlanted asks for each decision and each attempt of a long history where it was made: what is told has it, in the
// tokens that there are, and next to nothing else; nor a word of a stranger's, in any form.
func TestRecallPlanted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	n, plants := gittest.Size(10_000, 300), gittest.Size(200, 12)
	repo := gittest.New(t)
	at, err := git.Find(repo.Dir)
	gittest.Must(t, err)
	history, err := planted.Make(t.Context(), at, n, plants)
	gittest.Must(t, err)
	w := workspace.New(at, config.Default())
	var refs strings.Builder
	tips := maps.Clone(history.Tips)
	maps.Copy(tips, history.Strangers)
	for id, tip := range tips {
		fmt.Fprintf(&refs, "create %s %s\n", id.Ref(), tip)
	}
	for id, tip := range history.Tips {
		gittest.Must(t, w.Trust.Own(id, tip, object.Hash{}))
	}
	_, err = at.Output(t.Context(), strings.NewReader(refs.String()), "update-ref", "--stdin")
	gittest.Must(t, err)
	repo.Git("reset", "-q", "--hard", history.Head.String())

	began := time.Now()
	r, err := newRecalling(t.Context(), w, nil)
	gittest.Must(t, err)
	defer r.close()
	gittest.Must(t, r.unread())
	took := time.Since(began)
	ask := func(p planted.Plant) []recall.Entry {
		entries, err := r.entries(spotted{path: p.Path, lines: recall.Lines{First: p.Line, Last: p.Line}})
		gittest.Must(t, err)
		chosen, _ := recall.Choose(entries, recallTokens)
		tokens := 0
		for _, e := range chosen {
			if tokens += e.Tokens(); strings.Contains(e.String(), "Stranger") {
				t.Errorf("a stranger is told: %s", e)
			}
		}
		if tokens > recallTokens {
			t.Errorf("%d tokens for %s", tokens, p.Mark)
		}
		return chosen
	}
	elsewhere := 0 // what was given up near to lines of which nothing was
	count := func(list []planted.Plant, kind recall.Kind) (found, told int) {
		for _, p := range list {
			has := false
			for _, e := range ask(p) {
				switch e.Kind {
				case kind:
					told++
					has = has || strings.Contains(e.Asked, p.Mark)
				case recall.Tried:
					elsewhere++
				}
			}
			if has {
				found++
			} else {
				t.Logf("not found: %+v", p)
			}
		}
		return found, told
	}
	began = time.Now()
	decisions, whys := count(history.Decisions, recall.Why)
	attempts, tried := count(history.Attempts, recall.Tried)
	asked := time.Since(began) / time.Duration(2*plants)
	t.Logf("%d turns, %d of decisions and %d of attempts: decisions recall %d %%, precision %d %%; attempts recall %d %%, precision %d %%; "+
		"%d told of lines without one; all read in %v, a question %v, %d MB held", history.Turns, plants, plants,
		100*decisions/plants, 100*decisions/max(1, whys), 100*attempts/plants, 100*attempts/max(1, tried), elsewhere, took.Round(time.Millisecond), asked.Round(time.Microsecond), heap())
	if decisions < plants || attempts < plants || whys > plants || tried > plants || elsewhere > 0 {
		t.Errorf("found %d and %d of %d; told %d and %d, and %d that are about other lines", decisions, attempts, plants, whys, tried, elsewhere)
	}

	// A hook is told where to look.
	began = time.Now()
	gittest.Must(t, os.MkdirAll(w.Store.Dir().Path("."), 0o700))
	gittest.Must(t, recall.Note(t.Context(), w))
	noted := time.Since(began)
	data, err := w.Store.ReadRecall()
	gittest.Must(t, err)
	paths := make(map[string]bool)
	for _, p := range history.Attempts {
		paths[p.Path] = true
	}
	began = time.Now()
	for path := range paths {
		text := recall.Hints(data).Tell(t.Context(), w, "another", []string{path})
		if strings.Contains(text, "Stranger") || strings.Count(text, "\n"+path+": ") != 2 || !strings.Contains(text, "tried: turn") || !strings.Contains(text, "Attempt") {
			t.Errorf("of %s is told\n%s", path, text)
		}
	}
	told := time.Since(began) / time.Duration(len(paths))
	began = time.Now()
	given, err := recall.GivenUp(t.Context(), w, []string{history.Attempts[0].Path})
	gittest.Must(t, err)
	t.Logf("noted in %v, %d KB, told in %v; at a start in %v", noted.Round(time.Millisecond), len(data)>>10, told.Round(time.Microsecond), time.Since(began).Round(time.Millisecond))
	if !strings.Contains(given, "Attempt") || strings.Contains(given, "Stranger") || recall.Tokens(given) > recall.MaxGivenUp+20 {
		t.Errorf("at a start is told\n%s", given)
	}
}

// heap is how many megabytes are in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc >> 20
}
