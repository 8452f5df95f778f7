package blame

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"gitagent/internal/compact"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/test/gittest"
)

// TestPast: events and what they keep are the same from what was kept of them, and what is newer is read.
func TestPast(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Do("file=1; commit first")
	grow := func(from, n int) {
		var in strings.Builder
		for i := from; i < from+n; i++ {
			message := ledger.CodeMessage("turn", "a1b2c3d4", i+1, "session")
			if i%5 == 4 {
				message = "the user's"
			}
			fmt.Fprintf(&in, "commit refs/made/state\nmark :1\ncommitter Dev <dev@example.invalid> %d +0000\ndata %d\n%s\nfrom refs/heads/main^0\n", 1_700_000_000+i-i%3/2, len(message), message)
			for _, ref := range []string{"refs/made/one", "refs/made/two"} {
				if i%7 != 0 && ref == "refs/made/two" {
					continue
				}
				fmt.Fprintf(&in, "commit %s\ncommitter Dev <dev@example.invalid> %d +0000\ndata 1\nx\n", ref, 1_700_000_000+i)
				if i > 0 && i == from {
					fmt.Fprintf(&in, "from %s^0\n", ref)
				}
				in.WriteString("merge :1\n")
			}
		}
		r.Pipe(in.String(), "fast-import", "--quiet", "--force")
	}
	w := workspaceOf(t, r)
	read := func(p *past) (map[object.Hash]*ledger.CommitEvent, makings) {
		t.Helper()
		h := &History{w: w, objects: w.Repo.Objects(t.Context()), past: p}
		defer h.objects.Close()
		var list []*ledger.Ledger
		for _, ref := range []string{"refs/made/one", "refs/made/two"} {
			list = append(list, &ledger.Ledger{Tip: object.NewHash(r.Git("rev-parse", ref))})
		}
		events, err := h.events(t.Context(), list)
		gittest.Must(t, err)
		made, err := h.made(events)
		gittest.Must(t, err)
		return events, made
	}
	p, next := newPast(), 0
	for _, newer := range []int{29, 15, maxLearned + 1} { // all, as many as are read one by one, more
		grow(next, newer)
		next += newer
		read(p)
		var out compact.Writer
		p.pack(&out)
		p = unpackPast(compact.NewReader(string(out)))
		events, made := read(p)
		wantEvents, wantMade := read(newPast())
		if p.anew > 0 {
			t.Errorf("%d newer: %d were read again", newer, p.anew)
		}
		if len(made) == 0 || !reflect.DeepEqual(made, wantMade) {
			t.Errorf("%d newer: %d states, want %d", newer, len(made), len(wantMade))
		}
		if fmt.Sprint(flat(events)) != fmt.Sprint(flat(wantEvents)) {
			t.Errorf("%d newer: events are\n%v, want\n%v", newer, flat(events), flat(wantEvents))
		}
	}
}

// flat is events without what is not asked of them.
func flat(events map[object.Hash]*ledger.CommitEvent) map[string]string {
	list := make(map[string]string)
	for hash, e := range events {
		list[hash.String()] = fmt.Sprint(e.Hash, e.Before, e.Keeps, e.At.Unix())
	}
	return list
}
