//go:build unix

package same

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// steps is how many steps a walk has.
const steps = 15

// A step is what both builds do in a walk.
type step struct {
	what  string // as one would type it
	argv  []string
	stdin string
	dir   string // below the home directory
	env   []string
	first string // a script that the user runs before it
	user  bool   // it is the user's: what it prints is nobody's business
	write bool   // it may write what need not be the same
	use   string
}

// A walk is some steps in one place.
type walk struct {
	*arena
	number int
	place  *place
	say    *speaker
	twins  *twins
	taken  int
	uses   []string
	ends   map[int]int // how many steps ended with which exit status
	told   int         // how many have printed something on standard output
	harmed []string    // files that tamper has done harm to
	found  *difference
}

// walk takes the walk of that number with both builds, and says what differs. It is nil if it is in another place than that
// which was asked for.
func (a *arena) walk(number int) *walk {
	a.t.Helper()
	r := draw(number)
	name := placeNames[number%len(placeNames)]
	if *where != "" && *where != name {
		return nil
	}
	p := a.place(name)
	w := &walk{arena: a, number: number, place: p, twins: newTwins(p.known), ends: make(map[int]int)}
	w.say = &speaker{Rand: r, place: p, twins: w.twins}
	reading := number%2 == 0 // the others use all flags in turn
	a.furnish(p)
	for i := range steps {
		s := w.draw(i, reading)
		w.taken++
		if s.use != "" {
			w.uses = append(w.uses, s.use)
		}
		w.twins.fresh = w.twins.fresh || s.write
		if text := w.take(s); text != "" {
			w.found = &difference{walk: number, place: p.name, step: i, text: text, harmed: w.harmed}
			return w
		}
		if w.say.chance(15) {
			w.tamper()
		}
	}
	var end [2]state
	for side := range end {
		a.on(side, func() { end[side] = a.look(a.env(a.home()), p.before[side]) })
	}
	if text := w.twins.differ(end[0], end[1]); text != "" {
		w.found = &difference{walk: number, place: p.name, step: steps, text: "the place at the end of the walk\n" + text, harmed: w.harmed}
	}
	return w
}

// take takes a step with both, and returns how they differ.
func (w *walk) take(s step) string {
	var got [2]result
	for side := range got {
		w.on(side, func() {
			home := w.home()
			expand := func(text string) string { return w.expand(side, text) }
			env := w.env(home)
			for _, v := range s.env {
				env = append(env, expand(v))
			}
			dir := filepath.Join(home, s.dir)
			if s.dir == "/" {
				dir = "/"
			}
			if _, err := os.Stat(dir); err != nil { // an earlier step has removed it
				got[side] = result{status: -1}
				return
			}
			if s.first != "" {
				w.run(dir, env, "", "sh", "-c", expand(s.first))
			}
			argv := make([]string, len(s.argv))
			for i, word := range s.argv {
				argv[i] = expand(word)
			}
			got[side] = w.run(dir, env, expand(s.stdin), argv...)
		})
	}
	what := fmt.Sprintf("in %s: %s\n", s.dir, s.what)
	before, now := got[0], got[1]
	if !s.user {
		w.ends[before.status]++
		if before.stdout != "" {
			w.told++
		}
	}
	if mended(s, before) {
		return ""
	}
	if before.status != now.status {
		return fmt.Sprintf("%sexit status %d before, %d now\n%s", what, before.status, now.status, unlike(before.stdout+before.stderr, now.stdout+now.stderr))
	}
	if s.user {
		return ""
	}
	for _, x := range []struct{ name, before, now string }{
		{"standard output", kept(s, before.stdout, true), kept(s, now.stdout, true)},
		{"standard error", kept(s, before.stderr, false), kept(s, now.stderr, false)},
	} {
		if !w.twins.alike(x.before, x.now) {
			return what + x.name + "\n" + unlike(x.before, x.now)
		}
	}
	return ""
}

func unlike(before, now string) string {
	const most, long = 1 << 20, 6000
	before, now = unpacked(before), unpacked(now)
	text := string(diff.Diff("before", []byte(before[:min(most, len(before))]), "now", []byte(now[:min(most, len(now))])))
	return fmt.Sprintf("%.*s", long, text)
}

// expand gives a word of a step what it has on one side.
func (w *walk) expand(side int, text string) string {
	text = strings.ReplaceAll(text, "$HOME", w.home())
	for {
		head, rest, ok := strings.Cut(text, "\x01")
		if !ok {
			return text
		}
		digits, rest, _ := strings.Cut(rest, "\x02")
		i, _ := strconv.Atoi(digits)
		text = head + w.twins.pairs[i][side] + rest
	}
}
