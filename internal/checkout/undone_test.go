package checkout

import (
	"fmt"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/internal/snapshot"
)

// TestUndone: an undo, or the undo of that, changes what a mission says of its adoption, if it is of the same one.
func TestUndone(t *testing.T) {
	t.Parallel()
	then, now := time.Unix(100, 0), time.Unix(200, 0)
	for _, tt := range []struct {
		name   string
		a      *record.Adoption
		step   snapshot.Change
		news   bool
		undone bool
		at     time.Time
	}{
		{"it was never adopted", nil, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then}, false, false, time.Time{}},
		{"it is undone", &record.Adoption{Turn: 3, At: then}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then}, true, true, then},
		{"it is undone in another time zone", &record.Adoption{Turn: 3, At: then}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then.UTC()}, true, true, then},
		{"and done again", &record.Adoption{Turn: 3, At: then, Undone: true}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then, Undo: true}, true, false, now},
		{"a restore is undone", &record.Adoption{Turn: 3, At: then}, snapshot.Change{What: "restore of turn 1e1e1e1e/3", At: then}, false, false, time.Time{}},
		{"an adoption of another turn is undone", &record.Adoption{Turn: 4, At: then}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then}, false, false, time.Time{}},
		{"another mission's is undone", &record.Adoption{Turn: 3, At: then}, snapshot.Change{What: adoption("2f2f2f2f", 3), At: then}, false, false, time.Time{}},
		{"one in another worktree was later", &record.Adoption{Turn: 3, At: now}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then}, false, false, time.Time{}},
		{"it is undone already", &record.Adoption{Turn: 3, At: then, Undone: true}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then}, false, false, time.Time{}},
		{"it is done again already", &record.Adoption{Turn: 3, At: now}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then, Undo: true}, false, false, time.Time{}},
		{"its commits were taken since", &record.Adoption{Turn: 3, At: then, Commit: hash('a')}, snapshot.Change{What: adoption("1e1e1e1e", 3), At: then}, false, false, time.Time{}},
	} {
		m := &record.Mission{ID: "1e1e1e1e", Adopted: tt.a}
		was := fmt.Sprintf("%+v", tt.a)
		a, news := undone(m, &tt.step, now)
		if news != tt.news || news && (a.Undone != tt.undone || !a.At.Equal(tt.at) || a.Turn != 3) {
			t.Errorf("%s: %+v, %t", tt.name, a, news)
		}
		if is := fmt.Sprintf("%+v", m.Adopted); is != was {
			t.Errorf("%s: it was %s, and is %s", tt.name, was, is)
		}
	}
}
