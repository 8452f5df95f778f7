package purge

import (
	"slices"
	"sync"
	"testing"

	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// asks is what a key asks for of a mission, all of which is to go.
func asks(by ...string) []Held {
	return []Held{{Mission: mission, From: "origin", By: by, Missions: []record.ID{mission}, Gone: true, Here: true, Turns: 2}}
}

// waits is a mission that is held, as a key asks for all of it to go.
func waits(t *testing.T) (*Purge, *Apply) {
	t.Helper()
	_, p := recorded(t)
	a := &Apply{Workspace: p.Workspace}
	if _, err := a.note(t.Context(), asks("b")); err != nil {
		t.Fatal(err)
	}
	return p, a
}

// TestHeldBy: who asks for the same as others is named, and the user is neither told again nor asked what they have
// decided.
func TestHeldBy(t *testing.T) {
	t.Parallel()
	_, p := recorded(t)
	a := &Apply{Workspace: p.Workspace}
	note := func(want int, held []Held) {
		t.Helper()
		if fresh, err := a.note(t.Context(), held); err != nil || len(fresh) != want {
			t.Errorf("told is %+v, %v, want %d", fresh, err, want)
		}
	}
	is := func(kept bool, by ...string) Held {
		t.Helper()
		all, err := AllHeld(p.Store)
		if err != nil || len(all) != 1 || !slices.Equal(all[0].By, by) || all[0].Kept != kept {
			t.Fatalf("held are %+v, %v, want by %q, kept: %t", all, err, by, kept)
		}
		return all[0]
	}
	note(1, asks("b"))
	first := is(false, "b")
	note(0, asks("b", "c"))
	is(false, "b", "c")
	gittest.Must(t, Keep(t.Context(), p.Store, []record.ID{mission}, true))
	note(0, asks("c"))
	if now := is(true, "c"); !now.At.Equal(first.At) {
		t.Errorf("it was seen first at %v, and now at %v", first.At, now.At)
	}
	more := asks("c")
	more[0].Turns++
	note(1, more)
	is(false, "c")
}

// TestHeldAtOnce: fetches from several remotes note what is held, while a person decides and others look.
func TestHeldAtOnce(t *testing.T) {
	t.Parallel()
	p, a := waits(t)
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for range 20 {
				if _, err := a.note(t.Context(), asks([]string{"b", "c", "d", "e"}[n])); err != nil {
					t.Error(err)
				}
			}
		})
		all.Go(func() {
			for range 100 {
				if held, err := AllHeld(p.Store); err != nil || len(held) != 1 || held[0].From != "origin" {
					t.Errorf("held are %+v, %v", held, err)
				}
			}
		})
	}
	gittest.Must(t, Keep(t.Context(), p.Store, []record.ID{mission}, true))
	all.Wait()
	if !IsKept(p.Store, mission) {
		t.Error("what a person has decided is lost")
	}
}

// TestHeldDamaged: of a mission whose note is damaged a person is asked all the same.
func TestHeldDamaged(t *testing.T) {
	t.Parallel()
	p, _ := waits(t)
	for _, text := range []string{"", `{"at":`, "[]", `{"here":true}`} {
		gittest.Must(t, p.Store.Dir().WriteFile(heldFile(mission), []byte(text)))
		all, err := AllHeld(p.Store)
		if err != nil || len(all) != 1 || !all[0].Here || all[0].Kept || !slices.Equal(all[0].Missions, []record.ID{mission}) {
			t.Errorf("%q: held are %+v, %v", text, all, err)
		}
	}
}

// TestHeldUntilCompleted: a mission that a person has let go is held no longer when another process has completed its
// purge, after which nothing is here or fetched in which it would be found.
func TestHeldUntilCompleted(t *testing.T) {
	t.Parallel()
	p, _ := waits(t)
	plan := planned(t, &Purge{Workspace: p.Workspace, Target: purgerewrite.Target{Missions: []record.ID{mission}}})
	gittest.Must(t, plan.objects.Flush())
	gittest.Must(t, plan.worklist().write(p.Store))
	if !IsHeld(p.Store, mission) {
		t.Error("it is held no longer before it has gone")
	}
	if _, err := Complete(t.Context(), p.Workspace); err != nil {
		t.Fatal(err)
	}
	if IsHeld(p.Store, mission) {
		t.Error("a mission that is gone is held")
	}
}
