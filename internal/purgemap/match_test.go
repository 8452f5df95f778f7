package purgemap

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
)

// mapOf makes a map of pairs, written "1>11 2>0": "0" is for nothing.
func mapOf(t *testing.T, m *Map, key byte, pairs string) {
	t.Helper()
	all := make(map[object.Hash]object.Hash)
	for word := range strings.FieldsSeq(pairs) {
		var from, to byte
		if _, err := fmt.Sscanf(word, "%d>%d", &from, &to); err != nil {
			t.Fatal(err)
		}
		if all[commitHash(from)] = commitHash(to); to == 0 {
			all[commitHash(from)] = object.Hash{}
		}
	}
	m.Add(mapKey(t, key), all)
}

// lineOf reads a ledger: its mission, with marks, the events, the newest first, and after a slash what they keep. "*"
// is for one that was fetched, and "&" for one of the archive whose mission has refs: "a1b2c3d4* 3 2 1 / 7".
func lineOf(t *testing.T, text string) *line {
	t.Helper()
	words := strings.Fields(text)
	l := &line{id: record.ID(strings.TrimRight(words[0], "*&")), landed: strings.HasSuffix(words[0], "*"), besides: strings.HasSuffix(words[0], "&")}
	kept := false
	for _, word := range words[1:] {
		var n byte
		if word == "/" {
			kept = true
			continue
		}
		if _, err := fmt.Sscan(word, &n); err != nil {
			t.Fatal(err)
		}
		if kept {
			l.kept = append(l.kept, commitHash(n))
		} else {
			l.events = append(l.events, commitHash(n))
		}
	}
	l.tip = l.events[0]
	return l
}

// TestChoose: which pairs of a map apply to which ledgers, which missions are gone, and what is held, and why. Our key
// counts, the stranger's does not.
func TestChoose(t *testing.T) {
	t.Parallel()
	const a, b, fork = "a1b2c3d4", "b1b2c3d4", "f1b2c3d4"
	for _, tt := range []struct {
		name     string
		ours     string // pairs
		theirs   string
		lines    string // separated by commas
		absent   string // of the commits that take the place of others
		brought  bool
		accepted []record.ID
		pairs    string // "a1b2c3d4: 1>11 2>12, ..."
		gone     string
		held     string // "a1b2c3d4: away", ...
	}{
		{name: "the map is about others", ours: "51>61", lines: a + " 3 2 1 / 7"},
		{name: "all is replaced", ours: "1>11 2>12 3>13 7>17", lines: a + " 3 2 1 / 7", pairs: a + ": 1>11 2>12 3>13 7>17"},
		{name: "some of it is", ours: "3>13 7>17", lines: a + " 3 2 1 / 7", pairs: a + ": 3>13 7>17"},
		{name: "it was replaced here", ours: "2>12 3>13", lines: a + " 13 12 1"},
		{name: "it was replaced here, and purged again", ours: "2>12 12>22", lines: a + " 12 1", pairs: a + ": 12>22"},
		{name: "the old one is replaced twice", ours: "2>12 12>22", lines: a + " 2 1", pairs: a + ": 2>22"},
		{name: "what takes its place is not here", ours: "2>12 3>13", lines: a + " 3 2 1", absent: "13", held: a + ": away"},
		{name: "none of it is here", ours: "2>12 3>13", lines: a + " 3 2 1", absent: "12 13", held: a + ": away"},
		{name: "two missions, one of them away", ours: "3>13 6>16", lines: a + " 3 2 1, " + b + " 6 5", absent: "16", pairs: a + ": 3>13", held: b + ": away"},

		{name: "it was removed", ours: "3>0 2>0 1>0", lines: a + " 3 2 1", gone: a},
		{name: "it was removed, and what it keeps was", ours: "3>0 2>0 1>0 7>0", lines: a + " 3 2 1 / 7", gone: a},
		{name: "what it keeps was removed", ours: "7>0", lines: a + " 3 2 1 / 7"},
		{name: "it was removed, and what another one has left is not here", ours: "3>0 3>13", lines: a + " 3 2 1", absent: "13", held: a + ": away"},
		{name: "it was removed, and what another one has left is nowhere", ours: "3>0 3>13", lines: a + " 3 2 1", absent: "13", brought: true, gone: a},
		{name: "what takes its place is nowhere", ours: "3>13", lines: a + " 3 2 1", absent: "13", brought: true, held: a + ": away"},
		{name: "it was removed, and has gone on", ours: "2>0 1>0", lines: a + " 3 2 1", held: a + ": went on"},
		{name: "it was removed, has gone on, and was removed again", ours: "3>0 1>0", lines: a + " 3 2 1", gone: a},
		{name: "it was removed, and is fetched again", ours: "3>0 2>0 1>0", lines: a + "* 3 2 1"},
		{name: "it was removed, and the archive has it besides", ours: "2>0 1>0", lines: a + "& 2 1"},
		{name: "it was removed, but somebody has left something of it", ours: "3>0 3>13", theirs: "", lines: a + " 3 2 1", pairs: a + ": 3>13"},
		{name: "a fork of what was removed", ours: "3>0 2>0", lines: fork + " 9 2 1", held: fork + ": went on"},

		{name: "a stranger says so, of what is here alone", theirs: "3>13", lines: a + " 3 2 1"},
		{name: "a stranger says so, and it is there so", theirs: "3>13", lines: a + " 3 2 1, " + a + "* 13 2 1", held: a + ": unknown"},
		{name: "a stranger says so, and both are there", theirs: "3>13", lines: a + " 3 2 1, " + a + "* 13 3 2 1"},
		{name: "a stranger says so, and it is accepted", theirs: "3>13", lines: a + " 3 2 1, " + a + "* 13 2 1", accepted: []record.ID{a}, pairs: a + ": 3>13"},
		{name: "a stranger says so of what we say otherwise", ours: "3>13", theirs: "2>12", lines: a + " 3 2 1, " + b + "* 12 1", pairs: a + ": 3>13"},
		{name: "a stranger says so of a fork's source, which is accepted", theirs: "2>12", lines: a + " 2 1, " + fork + " 9 2 1", accepted: []record.ID{a}, pairs: a + ": 2>12, " + fork + ": 2>12"},
		{name: "a stranger says that it was removed", theirs: "3>0 2>0 1>0", lines: a + " 3 2 1", held: a + ": whole"},
		{name: "a stranger says that it was removed, and has gone on", theirs: "2>0 1>0", lines: a + " 3 2 1"},
		{name: "a stranger says that it was removed, and that is accepted", theirs: "3>0 2>0 1>0", lines: a + " 3 2 1", accepted: []record.ID{a}, gone: a},
		{name: "a stranger says that it was removed, and another one is accepted", theirs: "3>0 2>0 1>0", lines: a + " 3 2 1", accepted: []record.ID{b}, held: a + ": whole"},
		{name: "a stranger says that it was removed, of what is fetched", theirs: "3>0", lines: a + "* 3 2 1"},
		{name: "a stranger says that it was removed, of what is archived besides", theirs: "3>0", lines: a + "& 3 2 1"},
		{name: "a stranger says that a fork's source was removed, and that is accepted", theirs: "2>0 1>0", lines: a + " 2 1, " + fork + " 9 2 1", accepted: []record.ID{a}, gone: a},
		{name: "a stranger says that it was removed, and what takes its place is nowhere", ours: "3>13", theirs: "3>0", lines: a + " 3 2 1", absent: "13", brought: true, held: a + ": away"},
		{name: "what a stranger says is not here", theirs: "3>13", lines: a + " 3 2 1", absent: "13", accepted: []record.ID{a}, held: a + ": away"},
	} {
		m := &Map{sheets: make(map[string]*sheet)}
		for _, word := range strings.Fields(tt.ours) { // each a sheet: a commit may be in several
			mapOf(t, m, 1, word)
		}
		mapOf(t, m, 2, tt.theirs)
		absent := make(map[object.Hash]bool)
		for word := range strings.FieldsSeq(tt.absent) {
			var n byte
			if _, err := fmt.Sscan(word, &n); err != nil {
				t.Fatal(err)
			}
			absent[commitHash(n)] = true
		}
		var list []*line
		for text := range strings.SplitSeq(tt.lines, ",") {
			list = append(list, lineOf(t, text))
		}
		ours := mapKey(t, 1).Public()
		p := newPairing(m, func(by sshsig.Public) bool { return by == ours }, tt.accepted, func(h object.Hash) bool { return !absent[h] }, list, nil)
		p.user, p.brought = m.user(ours), tt.brought
		gone := p.choose()

		var pairs, held []string
		for _, l := range list {
			if len(p.pairs[l]) == 0 || l.landed {
				continue
			}
			var words []string
			for from, to := range p.pairs[l] {
				words = append(words, fmt.Sprintf("%d>%d", number(t, from), number(t, to)))
			}
			slices.Sort(words)
			pairs = append(pairs, string(l.id)+": "+strings.Join(words, " "))
		}
		for _, id := range slices.Sorted(maps.Keys(p.held)) {
			why := p.held[id]
			var words []string
			for word, is := range map[string]bool{"unknown": why.Unknown, "whole": why.Whole, "away": why.Away, "went on": why.WentOn} {
				if is {
					words = append(words, word)
				}
			}
			slices.Sort(words)
			held = append(held, string(id)+": "+strings.Join(words, ", "))
		}
		for _, got := range []struct{ what, is, want string }{
			{"pairs", strings.Join(pairs, ", "), tt.pairs},
			{"gone", fmt.Sprint(gone), fmt.Sprint(strings.Fields(tt.gone))},
			{"held", strings.Join(held, ", "), tt.held},
		} {
			if got.is != got.want {
				t.Errorf("%s: %s are %q, want %q", tt.name, got.what, got.is, got.want)
			}
		}
	}
}

// number is the number of which [commitHash] has made a commit.
func number(t *testing.T, h object.Hash) byte {
	t.Helper()
	for n := range byte(100) {
		if commitHash(n) == h {
			return n
		}
	}
	t.Fatalf("nobody has made %s", h)
	return 0
}

// TestTogether: a pair that is refused keeps its ledger as it is, and each that shares anything with that.
func TestTogether(t *testing.T) {
	t.Parallel()
	bad := errors.New("it is longer")
	for _, tt := range []struct {
		name    string
		pairs   []string // of the ledgers a, b, c, ...
		refused string
		held    string
	}{
		{"none", []string{"1 2", "3"}, "", ""},
		{"the only one", []string{"1"}, "1", "a"},
		{"one of two", []string{"1 2"}, "2", "a"},
		{"another one's", []string{"1 2", "3"}, "3", "b"},
		{"a shared one", []string{"1 2", "2 3", "4"}, "2", "a b"},
		{"of one that shares another", []string{"1 2", "2 3", "4"}, "1", "a b"},
		{"all of a row", []string{"1 2", "2 3", "3 4", "5"}, "4", "a b c"},
	} {
		p := &pairing{pairs: make(map[*line]map[object.Hash]object.Hash), refused: make(map[object.Hash]error), held: make(map[record.ID]HeldBecause)}
		for i, commits := range tt.pairs {
			l := lineOf(t, string(rune('a'+i))+" "+commits)
			p.list, p.pairs[l] = append(p.list, l), make(map[object.Hash]object.Hash)
			for _, h := range l.events {
				p.pairs[l][h] = commitHash(99)
			}
		}
		if tt.refused != "" {
			p.refused[lineOf(t, "x "+tt.refused).tip] = bad
		}
		p.together()
		var held []string
		for _, id := range slices.Sorted(maps.Keys(p.held)) {
			if held = append(held, string(id)); !errors.Is(p.held[id].Refused, bad) {
				t.Errorf("%s: %s is held because of %v", tt.name, id, p.held[id])
			}
		}
		if strings.Join(held, " ") != tt.held || len(p.pairs)+len(held) != len(tt.pairs) {
			t.Errorf("%s: held are %q, want %q; %d have pairs", tt.name, held, tt.held, len(p.pairs))
		}
	}
}
