package blame

import (
	"slices"
)

// contents maps the commits of a graph to lines. Equal lines have one number.
type contents struct {
	of    []int     // by place: the commit's version
	lines [][]int32 // by version: its lines, sorted, each once
	words int       // how many lines there are in all
	new   [][]int32 // by place, see allFresh; nil before they are known
}

// maxTips limits the commits that one took lines from: trials had at most 9.
const maxTips = 100

// tips returns the commits that each commit took its new lines from: the newest
// earlier state with the same content, or else the newest earlier commit with
// one of them, then one for the lines which that lacks, and so on. Commits that
// are apart take nothing from each other. parents are nil where the graph ends.
func tips(parents [][]int, states []bool, apart func(at, tip int) bool, c *contents) [][]int {
	fresh := c.allFresh(parents)
	wanted := make([]int32, c.words) // in how many commits a line is new
	for at := range parents {
		for _, line := range fresh[at] {
			wanted[line]++
		}
	}
	holders := c.holders(parents, wanted)
	found := make([][]int, len(parents))
	last := make(map[int]int) // by version: the newest state so far that has it
	for at, left := range fresh {
		version := c.of[at]
		state, same := last[version]
		if states[at] {
			last[version] = at
		}
		if same && len(c.lines[version]) > 0 && !apart(at, state) && !slices.ContainsFunc(parents[at], func(p int) bool { return c.of[p] == version }) {
			found[at] = []int{state}
			continue
		}
		left = slices.DeleteFunc(slices.Clone(left), func(line int32) bool { return holders.of[line] == nil })
		for len(left) > 0 && len(found[at]) < maxTips {
			tip := -1
			for _, line := range left {
				tip = max(tip, holders.newest(line, at, tip, apart))
			}
			if tip < 0 {
				break
			}
			has := c.lines[c.of[tip]]
			left = slices.DeleteFunc(left, func(line int32) bool {
				_, ok := slices.BinarySearch(has, line)
				return ok || holders.newest(line, at, -1, apart) < 0
			})
			found[at] = append(found[at], tip)
		}
	}
	return found
}

func (c *contents) allFresh(parents [][]int) [][]int32 {
	if c.new == nil {
		c.new = make([][]int32, len(parents))
		for at := range parents {
			c.new[at] = c.fresh(at, parents[at])
		}
	}
	return c.new
}

// fresh returns the lines that no parent has: none if a commit equals a parent,
// or where the graph ends.
func (c *contents) fresh(at int, parents []int) []int32 {
	if parents == nil {
		return nil
	}
	for _, p := range parents {
		if c.of[p] == c.of[at] {
			return nil
		}
	}
	lines := c.lines[c.of[at]]
	for i, p := range parents {
		lines = without(lines, c.lines[c.of[p]], i > 0)
	}
	return lines
}

// without returns the numbers in list only, both sorted. over reuses list.
func without(list, other []int32, over bool) (rest []int32) {
	if over {
		rest = list[:0]
	}
	i := 0
	for _, n := range list {
		for i < len(other) && other[i] < n {
			i++
		}
		if i == len(other) || other[i] != n {
			rest = append(rest, n)
		}
	}
	return rest
}

// holders lists the commits with lines that others may have taken.
type holders struct {
	of     [][]int // by line: the versions that have it
	places [][]int // by version: the commits that have it, in order
}

// holders skips lines that are new once and absent where the graph ends.
func (c *contents) holders(parents [][]int, wanted []int32) holders {
	h := holders{of: make([][]int, c.words), places: make([][]int, len(c.lines))}
	ends := make([]bool, len(c.lines))
	for at, version := range c.of {
		h.places[version] = append(h.places[version], at)
		ends[version] = ends[version] || parents[at] == nil
	}
	for version, lines := range c.lines {
		for _, line := range lines {
			if wanted[line] > 0 && ends[version] {
				wanted[line]++
			}
		}
	}
	for version, lines := range c.lines {
		for _, line := range lines {
			if wanted[line] > 1 {
				h.of[line] = append(h.of[line], version)
			}
		}
	}
	return h
}

// newest returns the newest commit with a line, between two places and not
// apart from before; -1 if none.
func (h holders) newest(line int32, before, after int, apart func(at, tip int) bool) int {
	best := -1
	for _, version := range h.of[line] {
		places := h.places[version]
		if places[0] >= before || places[len(places)-1] <= after {
			continue
		}
		i, _ := slices.BinarySearch(places, before)
		for i > 0 && places[i-1] > max(best, after) && apart(before, places[i-1]) {
			i--
		}
		if i > 0 && places[i-1] > max(best, after) {
			best = places[i-1]
		}
	}
	return best
}
