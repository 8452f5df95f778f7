package blame

import (
	"fmt"
	"maps"
	"strconv"
	"strings"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/test/gittest"
)

// skewedGraph reads commits as "b12:parents:lines", in order: a commit b of second 12, with the places of its
// parents; "A12" is a state of a turn of mission aaaaaaaa, "." a commit where the graph ends.
func skewedGraph(t *testing.T, text string) (*graph, *contents) {
	t.Helper()
	g, c := order(nil, nil), &contents{in: new(presence)}
	for field := range strings.FieldsSeq(text) {
		parts := strings.Split(field, ":")
		n := &node{hash: name(field[0]), first: -1}
		if of := strings.ToLower(field[:1]); of != field[:1] {
			n.made, n.mission = true, record.ID(strings.Repeat(of, 8))
			n.writers = []*pastTurn{{id: record.TurnID{Mission: n.mission, Turn: len(g.nodes)}}}
			n.hash = object.NewHash(fmt.Sprintf("%02x%02x", field[0], len(g.nodes)) + gittest.Hash("0")[4:]) // several have one letter
		}
		var err error
		if n.edge = field[0] == '.'; !n.edge {
			n.date, err = strconv.ParseInt(parts[0][1:], 10, 64)
			gittest.Must(t, err)
		}
		for p := range strings.SplitSeq(parts[1], ",") {
			if at, err := strconv.Atoi(p); err == nil {
				n.parents, n.real = append(n.parents, at), append(n.real, at)
			}
		}
		c.of = append(c.of, c.text(parts[2]))
		g.index[n.hash] = len(g.nodes)
		g.nodes = append(g.nodes, n)
	}
	return g, c
}

func TestAhead(t *testing.T) {
	const a = record.ID("aaaaaaaa")
	for _, test := range []struct {
		what, commits string
		want          map[record.ID]int64
	}{
		{"two turns, squashed", ".::z n6000:0:zab A12000:0:za A18000:2:zab", map[record.ID]int64{a: 12001}},
		{"one turn could have taken it from there", ".::z n6000:0:zab A18000:0:zab", nil},
		{"two turns, two commits", ".::z n6000:0:za m6600:1:zab A12000:0:za A18000:3:zab", map[record.ID]int64{a: 11401}},
		{"a merge that was not committed", ".::z n6000:0:za m6600:1:zab A18000:0:zab", nil},
		{"the turns come from the commit", ".::z n6000:0:zab A12000:1:zabc A18000:2:zabcd", nil},
		{"more than a day", ".::z n6000:0:zab A200000:0:za A200100:2:zab", nil},
		{"the lines were there before", ".::zab m3000:0:z n6000:1:zab A12000:0:zabc A18000:3:zabcd", nil},
		{"in order", ".::z A3000:0:za A3600:1:zab n6000:0:zab", nil},
	} {
		t.Run(test.what, func(t *testing.T) {
			g, c := skewedGraph(t, test.commits)
			got := ahead(g, c)
			if !maps.Equal(got, test.want) {
				t.Errorf("ahead by %v, want %v", got, test.want)
			}
			if len(test.want) == 0 {
				return
			}
			sorted := g.corrected(got)
			var order []byte
			for _, n := range sorted.nodes {
				order = append(order, n.hash.Byte(0))
			}
			if order := string(order); order != ".AAn" && order != ".AnAm" {
				t.Errorf("order %s", order)
			}
			if n := sorted.nodes[1]; len(n.writers) != 1 || n.mission != a {
				t.Error("a state has lost its turn")
			}
		})
	}
}
