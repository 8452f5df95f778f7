package recall

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// stepsOf reads changes of a file: "a/1 A B" is a turn's from version A to B, "a/0 B A" one between turns, a slash behind
// it is a branch; "-" is no file. Then come lines of a patch.
func stepsOf(t *testing.T, texts ...string) (list []step) {
	t.Helper()
	version := func(name string) object.Hash {
		if name == "-" {
			return object.Hash{}
		}
		return object.NewHash(gittest.Hash(fmt.Sprintf("%x", name)))
	}
	for i, text := range texts {
		f := strings.Fields(text)
		in, rest, _ := strings.Cut(f[0], "/")
		turn, branch, _ := strings.Cut(rest, "/")
		s := step{in: record.ID(in), branch: branch, at: time.Unix(int64(i), 0), Versions: gitdiff.Versions{Old: version(f[1]), New: version(f[2])}}
		s.of = record.TurnID{Mission: s.in}
		fmt.Sscan(turn, &s.of.Turn)
		for _, hunk := range f[3:] {
			s.delta = deltaOf(strings.ReplaceAll(hunk, ",", "\n"))
		}
		list = append(list, s)
	}
	return list
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const lock, unlock = "+mutex.Lock(),", "-mutex.Lock(),"
	for _, tt := range []struct {
		name  string
		steps []string
		up    []string
	}{
		{"one turn", []string{"a/1 A B"}, nil},
		{"it is taken back by the next", []string{"a/1 A B", "a/2 B A"}, []string{"a/1 taken back a/2"}},
		{"between two turns", []string{"a/1 A B", "a/0 B A", "a/2 A C"}, []string{"a/1 taken back"}},
		{"with one that built on it", []string{"a/1 A B", "a/2 B C", "a/0 C A"}, []string{"a/1 taken back", "a/2 taken back"}},
		{"the file is new, and goes", []string{"a/1 - A", "a/0 A -"}, []string{"a/1 taken back"}},
		{"it comes again", []string{"a/1 A B", "a/0 B A", "a/0 A B"}, nil},
		{"and goes again", []string{"a/1 A B", "a/0 B A", "a/0 A B", "a/2 B A"}, []string{"a/1 taken back a/2"}},
		{"a turn takes back what was done between", []string{"a/0 A B", "a/1 B A"}, nil},
		{"something else is changed", []string{"a/1 A B", "a/2 B C", "a/3 C D"}, nil},
		{"from the middle", []string{"a/1 A B " + lock, "a/2 B C", "a/0 C D " + unlock}, []string{"a/1 taken back"}},
		{"from the middle, and it comes again", []string{"a/1 A B " + lock, "a/2 B C", "a/0 C D " + unlock, "a/3 D E " + lock}, nil},
		{"lines that are everywhere", []string{"a/1 A B +},", "a/2 B C", "a/3 C D -},"}, nil},
		{"another mission's turn", []string{"a/1/m A B " + lock, "b/1/m C D " + unlock}, []string{"a/1 taken back b/1"}},
		{"on another branch", []string{"a/1/m A B " + lock, "b/1/n C D " + unlock}, nil},
		{"the branch was left", []string{"a/1/t A B", "a/0/m B A", "a/2/m A C"}, nil},
		{"the branch was left, and then it is taken back", []string{"a/1/t A B", "a/0/m B A", "a/0/t A B", "a/2/t B A"}, []string{"a/1 taken back a/2"}},
		{"another mission's file has been so", []string{"a/1/m A B", "b/1/m B A"}, nil},
		{"between another mission's turns", []string{"a/1/m A B " + lock, "b/0/m B A " + unlock}, nil},
	} {
		steps := stepsOf(t, tt.steps...)
		up, kept := judge(steps)
		var got []string
		for _, g := range up {
			text := fmt.Sprintf("%s %s", g.of, g.fate)
			if g.in.Turn > 0 {
				text += " " + g.in.String()
			}
			got = append(got, text)
		}
		if !slices.Equal(got, tt.up) {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.up)
		}
		if turns := len(slices.DeleteFunc(steps, func(s step) bool { return s.of.Turn == 0 })); len(up)+len(kept) != turns {
			t.Errorf("%s: %d given up and %d kept of %d", tt.name, len(up), len(kept), turns)
		}
	}
}

func TestGivenUp(t *testing.T) {
	t.Parallel()
	at := time.Unix(100, 0)
	of := &record.TurnID{Mission: "a1b2c3d4", Turn: 2}
	chosen := chosenForks{*of: {"b2c3d4e5"}}
	commit := object.NewHash(gittest.Hash("1"))
	for _, tt := range []struct {
		name   string
		m      record.Mission
		chosen chosenForks
		want   Fate
	}{
		{"no fork", record.Mission{}, chosen, ""},
		{"a fork at work", record.Mission{ForkedFrom: of}, nil, ""},
		{"another one was adopted", record.Mission{ForkedFrom: of}, chosen, NotAdopted},
		{"a fork of another turn was", record.Mission{ForkedFrom: &record.TurnID{Mission: "a1b2c3d4", Turn: 3}}, chosen, ""},
		{"it was adopted", record.Mission{ForkedFrom: of, Adopted: &record.Adoption{Turn: 3}}, chosen, ""},
		{"and that undone", record.Mission{ForkedFrom: of, Adopted: &record.Adoption{Turn: 3, Undone: true}}, chosen, Undone},
		{"it was adopted, and went on", record.Mission{ForkedFrom: of, Adopted: &record.Adoption{Turn: 2}}, chosen, ""},
		{"it was finished", record.Mission{ForkedFrom: of, Finished: &record.Finish{Turn: 3, At: at, Commit: commit}}, chosen, ""},
		{"where it began is not known", record.Mission{ForkedFrom: &record.TurnID{Mission: "a1b2c3d4"}}, chosen, ""},
	} {
		if got := givenUp(&tt.m, 3, at, tt.chosen); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestNoneLeft: a step whose check failed is given up when all its lines are gone.
func TestNoneLeft(t *testing.T) {
	t.Parallel()
	const old = "func count() {\n}\n"
	for _, tt := range []struct {
		name, old, made, now string
		want                 bool
	}{
		{"another line is there", old, "func count() {\n\tmutex.Lock()\n}\n", "func count() {\n\tatomic.Add(1)\n}\n", true},
		{"it is there still", old, "func count() {\n\tmutex.Lock()\n}\n", "func count() {\n\tlog.Print(1)\n\tmutex.Lock()\n}\n", false},
		{"one of two is", old, "func count() {\n\tmutex.Lock()\n\tdefer unlock()\n}\n", "func count() {\n\tdefer unlock()\n}\n", false},
		{"the file is gone", "", "func count() {\n", "", true},
		{"it only removed lines", old, "", old, false},
		{"the line says nothing", old, old + "{\n", old, false},
	} {
		if got := noneLeft([]byte(tt.old), []byte(tt.made), []byte(tt.now)); got != tt.want {
			t.Errorf("%s: %t", tt.name, got)
		}
	}
}

func TestPlaces(t *testing.T) {
	t.Parallel()
	const old = "1\n2\n3\n4\n5\n6\n"
	for _, tt := range []struct {
		name, made, now string
		want            []Lines
	}{
		{"a line was another", "1\n2\nx\n4\n5\n6\n", old, []Lines{{3, 3}}},
		{"it is elsewhere by now", "1\n2\nx\n4\n5\n6\n", "a\nb\n" + old, []Lines{{5, 5}}},
		{"lines were put in", "1\n2\nx\ny\n3\n4\n5\n6\n", old, []Lines{{2, 3}}},
		{"at the end", old + "x\n", old, []Lines{{6, 7}}},
		{"at the beginning", "x\n" + old, old, []Lines{{1, 1}}},
		{"two places", "x\n2\n3\n4\n5\n", old, []Lines{{1, 1}, {6, 6}}},
		{"the file is new", "", old, []Lines{{1, 6}}},
		{"what was there is gone", "1\n2\nx\n4\n5\n6\n", "1\n6\n", []Lines{{1, 3}}},
		{"and so is what was around it", "1\n2\n3\nx\n4\n5\n6\n", "1\n2\na\nb\nc\n6\n", []Lines{{3, 4}}},
		{"nothing differs", old, old, nil},
	} {
		if got := places([]byte(old), []byte(tt.made), []byte(tt.now)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 0, "a": 1, "word": 1, "words are long": 4, "x := f(y)\n": 8, "日本": 2, "    ": 0} {
		if got := Tokens(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, tt := range []struct {
		text string
		most int
		want string
	}{
		{"one two six", 3, "one two six"},
		{"one two six", 2, "one …"},
		{"abcdefghijkl", 2, "abcd…"},
		{"abcdefghijkl", 1, "…"},
		{"ロックを使わないで", 4, "ロック…"},
		{"see abcdefghijklmnopqrstuvwxyz", 4, "see abcdefgh…"},
	} {
		if got := cut(tt.text, tt.most); got != tt.want || Tokens(got) > tt.most {
			t.Errorf("%q to %d: %q", tt.text, tt.most, got)
		}
	}
}
