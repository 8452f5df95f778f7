package owners

import (
	"fmt"
	"slices"
	"testing"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/internal/git/object"
)

// TestExplain has a change of the file d/f that was seen 10 s after the state
// before, in a turn of session a that lasts 100 s, with a person's change at 90 s.
func TestExplain(t *testing.T) {
	edit := func(who string, from, to int64) Claim {
		return Claim{Who: who, From: from, To: to, Paths: []string{"d/f"}}
	}
	command := func(who string, from, to int64, named ...string) Claim {
		return Claim{Who: who, From: from, To: to, Named: named}
	}
	git := func(who string, from, to int64) Claim { return Claim{Who: who, From: from, To: to, Git: true} }
	tests := []struct {
		name   string
		claims []Claim
		ctime  int64 // from 20,000 to 30,000; 0 if the file is gone, -1 if unknown
		want   string
	}{
		{"no claim", nil, 25_000, "1 "},
		{"no claim, gone", nil, 0, "1 "},
		{"an editing tool", []Claim{edit("a", 24_000, 26_000)}, 25_000, "3 "},
		{"another's editing tool", []Claim{edit("b", 24_000, 26_000)}, 25_000, "1 b"},
		{"editing tools of two", []Claim{edit("a", 24_000, 24_500), edit("b", 25_500, 26_000)}, 25_700, "2 b"},
		{"an editing tool before the state before", []Claim{edit("b", 10_000, 19_000)}, 25_000, "1 "},
		{"an editing tool that came too late", []Claim{edit("a", 26_000, 27_000)}, 25_000, "1 "},
		{"an editing tool, and then a person", []Claim{edit("a", 24_000, 24_500)}, 26_000, "2 "},
		{"an editing tool in another's long command", []Claim{edit("a", 24_000, 26_000), command("b", 5000, 60_000)}, 25_000, "3 "},
		{"and the command names the file", []Claim{edit("a", 24_500, 25_500), command("b", 24_500, 25_500, "d/f")}, 25_000, "2 b"},
		{"an editing tool of another file", []Claim{{Who: "a", From: 24_000, To: 26_000, Paths: []string{"g"}}}, 25_000, "1 "},
		{"a command", []Claim{command("a", 24_800, 25_800)}, 25_000, "3 "},
		{"a command a little before", []Claim{command("a", 24_000, 24_960)}, 25_000, "3 "},
		{"a command well before", []Claim{command("a", 24_000, 24_940)}, 25_000, "1 "},
		{"a command whose end was looked at, a little before", []Claim{command("a", 19_000, 20_000)}, 20_030, "1 "},
		{"a long command", []Claim{command("a", 5000, 60_000)}, 25_000, "1 "},
		{"a short one in another's long one", []Claim{command("a", 24_800, 25_200), command("b", 5000, 60_000)}, 25_000, "3 "},
		{"as long as another's", []Claim{command("a", 24_000, 26_000), command("b", 24_000, 26_000)}, 25_000, "2 b"},
		{"as another's that names the file", []Claim{command("a", 24_000, 26_000), command("b", 24_000, 26_000, "x", "d/f")}, 25_000, "1 b"},
		{"as another's, and names its directory", []Claim{command("a", 24_000, 26_000, "d"), command("b", 24_000, 26_000, "d/fx")}, 25_000, "3 "},
		{"as another's, and is git", []Claim{git("a", 24_000, 26_000), command("b", 24_000, 26_000)}, 25_000, "3 "},
		{"ends then", []Claim{command("a", 15_000, 25_500), command("b", 5000, 60_000)}, 25_000, "2 "},
		{"gone while a command ran", []Claim{command("a", 24_000, 25_000, "d/f")}, 0, "3 "},
		{"gone before a command ran", []Claim{command("a", 31_000, 32_000, "d/f")}, 0, "1 "},
		{"at an unknown time", []Claim{command("a", 24_000, 25_000, "d/f")}, -1, "3 "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := Change{object.Entry{Mode: filemode.Regular}, max(0, tt.ctime)}
			if tt.ctime == 0 {
				change.Entry.Mode = 0
			}
			r := newRule(&Turn{
				Who: "a", From: 1, To: 100_000, Claims: tt.claims,
				States: []State{{At: 20_000}, {At: 30_000, Changed: map[string]Change{"d/f": change}}, {At: 99_000, Changed: map[string]Change{"g": {change.Entry, 90_000}}}},
			})
			by, who := r.explain(sighting{change, "d/f", 20_000, 30_000, false})
			if got := fmt.Sprintf("%d %s", by, who); got != tt.want {
				t.Errorf("explain = %s, want %s", got, tt.want)
			}
		})
	}
}

// TestProgram has a command and a person compete.
func TestProgram(t *testing.T) {
	r := newRule(&Turn{
		Who: "a", From: 1, To: 100_000, Claims: []Claim{{Who: "a", From: 10_000, To: 40_000}},
		States: []State{{At: 99_000, Changed: map[string]Change{"g": {object.Entry{Mode: filemode.Regular}, 90_000}}}},
	})
	change := Change{object.Entry{Mode: filemode.Regular}, 25_000}
	for program, want := range map[bool]label{true: own, false: others} {
		if by, _ := r.explain(sighting{change, "f", 1, 41_000, program}); by != want {
			t.Errorf("program %v: explain = %d, want %d", program, by, want)
		}
	}
	several := atOnce(State{Changed: map[string]Change{"a": {Ctime: 1000}, "b": {Ctime: 1050}, "c": {Ctime: 2000}, "d": {}, "e": {}}})
	for at, want := range map[int64]bool{1000: true, 1050: true, 2000: false, 0: false} {
		if several(at) != want {
			t.Errorf("several files changed at %d: %v", at, !want)
		}
	}
}

func statesOf(list []Loss) (states []int) {
	for _, l := range list {
		states = append(states, l.State)
	}
	return states
}

// TestLostPaths: of the files that differ in the next state, those that lost something.
func TestLostPaths(t *testing.T) {
	w := newWorld(map[string]string{"f": "a\n", "g": "a\n"})
	w.who("a", 2000, map[string]string{"f": "a\nx\ny\nz\n", "g": "a\nb\n"})
	w.who("b", 3000, map[string]string{"f": "a\n", "g": "a\nb\nc\n"})
	if r, err := Of(w.turn); err != nil || len(r.Lost) != 1 || !slices.Equal(r.Lost[0].Paths, []string{"f"}) {
		t.Errorf("Of = %+v, %v", r, err)
	}
}

// TestLost keeps a state whose work is gone after it and at the end.
func TestLost(t *testing.T) {
	tests := []struct {
		name   string
		states []map[string]string // after "a\nb\n" in f
		want   []int
	}{
		{"nothing", []map[string]string{{"f": "a\nx\ny\nz\n"}, {"f": "a\nx\ny\nz\nw\n"}}, nil},
		{"three lines", []map[string]string{{"f": "a\nx\ny\nz\n"}, {"f": "a\nb\n"}}, []int{0}},
		{"two lines, and some that don't count", []map[string]string{{"f": "a\nx\ny\n}\n\n"}, {"f": "a\nb\n"}}, nil},
		{"lines that come back", []map[string]string{{"f": "a\nx\ny\nz\n"}, {"f": "a\nb\n"}, {"f": "a\nx\ny\nz\n"}}, nil},
		{"lines that went elsewhere", []map[string]string{{"f": "a\nx\ny\nz\n"}, {"f": "a\nb\n", "g": "x\ny\nz\n"}}, nil},
		{"lines of the start", []map[string]string{{"f": gone}, {"g": "x\n"}}, nil},
		{"a file", []map[string]string{{"g": "x\n"}, {"f": "c\n"}, {"g": gone}}, []int{1}},
		{"a file that is moved", []map[string]string{{"g": "x\n"}, {"g": gone, "h": "x\n"}}, nil},
		{"a binary file", []map[string]string{{"g": "\x00\x01"}, {"g": "\x00\x02"}}, []int{0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(map[string]string{"f": "a\nb\n"})
			for i, files := range tt.states {
				w.who("a", int64(2000+1000*i), files)
			}
			alone, err := Lost(w.turn)
			w.who("b", 50_000, map[string]string{"z": "b's\n"})
			r, err2 := Of(w.turn)
			if err != nil || err2 != nil || !slices.Equal(statesOf(alone), tt.want) || !slices.Equal(statesOf(r.Lost), tt.want) {
				t.Errorf("Lost = %v, %v; with others %v, %v; want %v", alone, err, r, err2, tt.want)
			}
		})
	}
}
