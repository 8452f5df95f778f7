package blame

import (
	"slices"
)

// contents maps the commits of a graph to lines. Equal lines have one number.
type contents struct {
	of    []int     // by place: the commit's version
	texts [][]int32 // by version: its texts in in; several if it has several names
	in    *presence
	new   [][]int32 // by place, see allFresh; nil before they are known

	first   []int // by text: the first place that has it; nil before it is known
	inOrder bool  // the texts were read in that order
}

// words is how many lines there are in all.
func (c *contents) words() int { return len(c.in.spans) }

// has reports whether the commit at a place has a line.
func (c *contents) has(at int, line int32) bool {
	for _, text := range c.texts[c.of[at]] {
		if c.in.has(text, line) {
			return true
		}
	}
	return false
}

// empty reports whether the commit at a place has no lines.
func (c *contents) empty(at int) bool {
	return !slices.ContainsFunc(c.texts[c.of[at]], func(text int32) bool { return c.in.lines[text] > 0 })
}

// since returns the first place that has a line.
func (c *contents) since(line int32) int {
	if c.first == nil {
		c.first = slices.Repeat([]int{len(c.of)}, len(c.in.lines))
		for at, version := range slices.Backward(c.of) {
			for _, text := range c.texts[version] {
				c.first[text] = at
			}
		}
		c.inOrder = slices.IsSorted(c.first)
	}
	spans, first := c.in.spans[line], len(c.of)
	if c.inOrder && len(spans) > 0 {
		return c.first[spans[0].from]
	}
	for _, s := range spans {
		first = min(first, slices.Min(c.first[s.from:min(int(s.to), len(c.first))]))
	}
	return first
}

// maxTips limits the commits that one took lines from: trials had at most 9.
const maxTips = 100

// tips returns the commits that each commit took its new lines from: the newest
// earlier state with the same content, or else the newest earlier commit with
// one of them, then one for the lines which that lacks, and so on. Commits that
// are apart take nothing from each other. parents are nil where the graph ends.
func tips(parents [][]int, states []bool, apart func(at, tip int) bool, c *contents) [][]int {
	fresh := c.allFresh(parents)
	wanted := make([]int32, c.words()) // in how many commits a line is new
	for at := range parents {
		for _, line := range fresh[at] {
			wanted[line]++
		}
	}
	c.addEnds(parents, wanted)
	found := make([][]int, len(parents))
	last := make(map[int]int) // by version: the newest state so far that has it
	for at, left := range fresh {
		version := c.of[at]
		state, same := last[version]
		if states[at] {
			last[version] = at
		}
		if same && !c.empty(at) && !apart(at, state) && !slices.ContainsFunc(parents[at], func(p int) bool { return c.of[p] == version }) {
			found[at] = []int{state}
			continue
		}
		left = slices.DeleteFunc(slices.Clone(left), func(line int32) bool { return wanted[line] < 2 })
		for len(left) > 0 && len(found[at]) < maxTips {
			tip := -1
			for _, line := range left {
				tip = max(tip, c.newest(line, at, tip, apart))
			}
			if tip < 0 {
				break
			}
			left = slices.DeleteFunc(left, func(line int32) bool {
				return c.has(tip, line) || c.newest(line, at, -1, apart) < 0
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
	var list []int32
	c.candidates(at, parents, func(line int32) {
		if c.has(at, line) && !slices.ContainsFunc(parents, func(p int) bool { return c.has(p, line) }) {
			list = append(list, line)
		}
	})
	slices.Sort(list)
	return slices.Compact(list)
}

// candidates calls f with lines, all that are in a commit and in none of its
// parents among them: what changed since the nearest parent, or all there are.
func (c *contents) candidates(at int, parents []int, f func(line int32)) {
	texts, nearest := c.texts[c.of[at]], int32(-1)
	if len(texts) == 0 {
		return
	}
	least := c.words()
	for _, p := range parents {
		if theirs := c.texts[c.of[p]]; len(texts) == 1 && len(theirs) == 1 && c.in.between(texts[0], theirs[0]) <= least {
			nearest, least = theirs[0], c.in.between(texts[0], theirs[0])
		}
	}
	if nearest >= 0 {
		c.in.come(texts[0], nearest, f)
		return
	}
	for line := range c.words() {
		f(int32(line))
	}
}

// addEnds adds to how often a line is new in how many versions it was there
// where the graph ends.
func (c *contents) addEnds(parents [][]int, wanted []int32) {
	seen := make(map[int]bool)
	for at, version := range c.of {
		if parents[at] != nil || seen[version] || c.empty(at) {
			continue
		}
		seen[version] = true
		for line := range wanted {
			if wanted[line] > 0 && c.has(at, int32(line)) {
				wanted[line]++
			}
		}
	}
}

// newest returns the newest commit with a line, between two places and not
// apart from before; -1 if none.
func (c *contents) newest(line int32, before, after int, apart func(at, tip int) bool) int {
	first := c.since(line)
	for at := before - 1; at > max(after, first-1); at-- {
		if c.has(at, line) && !apart(before, at) {
			return at
		}
	}
	return -1
}
