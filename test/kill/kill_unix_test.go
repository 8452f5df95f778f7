//go:build unix

package kill

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"gitagent/test/gittest"
)

// long is from how many kills on there is time for everything.
const long = 500

// A series is the kills of one scenario.
type series struct {
	scenario
	random   *rand.Rand
	measured map[string][]time.Duration // what takes how long, undisturbed
	usual    map[string]time.Duration   // their medians
	worst    map[string]time.Duration   // how much longer it took after a kill
	reach    time.Duration              // kills come until so long after a start
	appeared int                        // files that came while the victim ran

	alone, group, survived int
	looked                 int            // how often the user's git was tried directly after the kill
	direct                 map[string]int // what of it has failed
	found                  map[string]int // after how many kills of which kind what was found

	kinds    map[string]bool // what was found after this kill
	handoffs []string
}

// TestKills kills every command at every moment.
func TestKills(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	all := scenarios(*kills >= long)
	t.Logf("seed %d", *seed)
	for i, s := range all {
		n := (i + int(*seed%uint64(len(all)))) % len(all)
		share := (n+1)**kills/len(all) - n**kills/len(all) // of few kills every second or third has one, by the seed
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			r := &series{
				scenario: s, random: rand.New(rand.NewPCG(*seed, uint64(i))), measured: make(map[string][]time.Duration),
				usual: make(map[string]time.Duration), worst: make(map[string]time.Duration),
				direct: make(map[string]int), found: make(map[string]int),
			}
			for n := 1; !r.over(share); n++ {
				t.Run(fmt.Sprintf("repository %d", n), func(t *testing.T) { r.attack(t, share) })
				if len(r.usual) == 0 {
					break // it does not even work undisturbed
				}
			}
			if t.Log(r.report()); r.alone+r.group < share {
				t.Errorf("only %d of %d were killed", r.alone+r.group, share)
			}
		})
	}
}

// over reports whether the share of kills is reached.
func (r *series) over(share int) bool { return r.alone+r.group >= share }

// attack kills in one repository, until something is found.
func (r *series) attack(t *testing.T, share int) {
	r.handoffs, r.kinds = nil, make(map[string]bool)
	defer r.count("no kill")
	l := newLab(t, r)
	if len(r.usual) == 0 {
		l.measure()
		r.reach = r.usual["victim"] * 11 / 10
	}
	l.turn()
	fresh := 20
	if r.long {
		fresh = 5 // each of them may make a worktree
	}
	for range fresh {
		if r.over(share) || t.Failed() {
			return
		}
		r.once(l)
	}
}

// moment draws the next one.
func (r *series) moment() *moment {
	m := &moment{group: r.group <= r.alone}
	if r.appeared > 0 && r.random.IntN(2) == 0 {
		m.file, m.after = 1+r.random.IntN(r.appeared), time.Duration(r.random.IntN(400))*time.Microsecond
		if r.random.IntN(2) == 0 {
			m.after = 0
		}
	} else {
		m.after = time.Duration(r.random.Int64N(int64(r.reach)))
	}
	return m
}

// count counts what was found after a kill.
func (r *series) count(kill string) {
	for kind := range r.kinds {
		r.found[kill+"\t"+kind]++
	}
	r.kinds = make(map[string]bool)
}

// once kills once.
func (r *series) once(l *lab) {
	c := l.victim(l)
	m := r.moment()
	done := l.kill(c, m)
	name := "alone"
	switch {
	case !done.killed:
		name = "not killed"
		r.survived++
		r.reach = min(r.reach, done.took) // the machine has become faster
	case m.group:
		name = "group"
		r.group++
	default:
		r.alone++
	}
	if done.killed {
		r.reach = min(r.reach*5/4, r.usual["victim"]*11/10)
	}
	defer func() {
		r.count(name)
		if l.t.Failed() {
			var there []string
			l.passing(func(path string) { there = append(there, path) })
			l.t.Logf("seed %d, kill %d: %q, %v of %v (%s): %v\nthere are %q\nthe log: %s",
				*seed, r.alone+r.group, c.args, m, r.usual["victim"], name, done, there, l.log())
		}
	}()
	if !done.killed && done.status != c.status {
		l.find("not killed, it fails", "%q: %v", c.args, done)
	}
	l.acknowledge(c, done)
	ended := r.random.IntN(2) == 0
	if ended {
		l.family.Await() // else the next event comes while the git that it has started may still run, or die
	}
	if r.random.IntN(3) == 0 {
		l.family.Await()
		ended = true
		r.looked++
		for what, err := range l.user() {
			r.direct[what]++
			if strings.Contains(what, "undoes") {
				l.find("directly, "+what, "%v", err)
			}
		}
		if wrong := l.fsck(); wrong != "" {
			r.direct["git fsck"]++
		}
	}
	what, next := l.next()
	l.undisturbed(what, next)
	l.family.Await()
	if !m.group || !ended { // that event may have come while the git was at work that was left alone, or was dying
		what, next = l.next()
		l.undisturbed(what, next)
	}
	l.traces()
	l.worktrees()
	for what, err := range l.user() {
		l.find("the user's "+what+" fails", "%v", err)
	}
	if c.then != nil {
		c.then(l, done)
	}
	l.turn()
	l.followed()
	again := l.victim(l)
	result := l.undisturbed("victim", again)
	l.turn()
	if again.then != nil {
		again.then(l, result)
	}
	l.check()
}

// followed checks that the branch of the mission holds the turn that has just ended.
func (l *lab) followed() {
	if l.attached == "" {
		return
	}
	if file, err := l.Try("cat-file", "blob", "refs/heads/agent/mission/"+l.attached+":file"); err != nil || file != l.prompt {
		l.find("the branch stays behind", "%v, its file is of %q, want %q", err, file, l.prompt)
	}
}

// report is what the series came to.
func (r *series) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: killed %d alone, %d with the group; %d ended before; it takes %v\n", r.name, r.alone,
		r.group, r.survived, r.usual["victim"].Round(time.Millisecond/10))
	for _, what := range slices.Sorted(maps.Keys(r.worst)) {
		fmt.Fprintf(&b, "  the next %s took at most %v longer than %v\n", what,
			r.worst[what].Round(time.Millisecond), r.usual[what].Round(time.Millisecond/10))
	}
	for _, what := range slices.Sorted(maps.Keys(r.direct)) {
		fmt.Fprintf(&b, "  before any event, %s failed %d times of %d\n", what, r.direct[what], r.looked)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, what := range slices.Sorted(maps.Keys(r.found)) {
		fmt.Fprintf(w, "  FOUND\t%d\t%s\n", r.found[what], what)
	}
	w.Flush()
	return b.String()
}

func median(of []time.Duration) time.Duration {
	sorted := slices.Sorted(slices.Values(of))
	return sorted[len(sorted)/2]
}
