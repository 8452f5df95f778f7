package powers

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gitagent/internal/trust"
	"gitagent/test/gittest"
)

var (
	orders = flag.Int("orders", 0, "in how many orders four clones purge and a host goes back (default: 500 in make nightly, two of them before)")
	only   = flag.Int("order", -1, "take only the order of this `number`")
	steps  = flag.String("steps", "", "take only these `numbers` of its steps")
)

const perOrder = 9

// short are the orders of make check: one that nobody answers, and one whose last purge was of what another one had
// removed, and was nowhere then.
var short = []int{0, 477}

// TestOrders: in whatever order four people record, send, fetch, purge with care and without, and answer, and their host
// goes back to what it was, no secret comes back, nothing is lost that nobody asked to lose, and who must know is told.
func TestOrders(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	first := newCompany(t)
	for number := range cmp.Or(*orders, 500) {
		if *only >= 0 && *only != number || *orders == 0 && *only < 0 && !gittest.Whole() && !slices.Contains(short, number) {
			continue
		}
		t.Run(strconv.Itoa(number), func(t *testing.T) {
			t.Parallel()
			o := first.again(t, uint64(number))
			for step := range perOrder {
				if *steps == "" || slices.Contains(strings.Split(*steps, ","), strconv.Itoa(step)) {
					o.step(step)
				}
				if t.Failed() {
					break
				}
			}
			if !t.Failed() {
				o.settle()
			}
			if t.Failed() {
				t.Log(o.story.String())
			}
		})
	}
}

// A turn is what was recorded, as nobody but the generator knows it.
type turn struct {
	author string
	secret string
	asked  []string // who has purged it as a whole
	cut    []string // or its file
}

// A secret is in turns of one person.
type secret struct {
	turns  []int
	purged []string // by whom
	known  bool     // who purged it first had all that has it
}

// An order is four members of a company with a host and a mirror of it, and what they have done so far.
type order struct {
	*world
	number  uint64
	members []*member
	turns   []*turn
	secrets map[string]*secret
	story   strings.Builder
	said    map[string]string
	// archived says that somebody has archived a mission, doubted that nobody
	// trusts the last one.
	archived, doubted bool
	rand              *rand.Rand
}

func (o *order) log(format string, args ...any) { fmt.Fprintf(&o.story, format+"\n", args...) }

var names = []string{"ann", "ben", "cam", "dan"}

// newCompany makes a host, and a clone of it for each member, who have all recorded something and fetched what the others
// have.
func newCompany(t *testing.T) *order {
	t.Helper()
	o := newOrder(t, gittest.TempDir(t), 0)
	w := o.world
	w.must("", "git", "init", "-q", "--bare", "-b", "main", "host")
	w.must("", "git", "init", "-q", "-b", "main", "seed")
	w.write("seed/README", "The parser reads what people write.\n")
	w.must("seed", "git", "add", "README")
	w.must("seed", "git", "commit", "-q", "-m", "begin")
	w.must("seed", "git", "push", "-q", "../host", "main")
	w.must("", "git", "clone", "-q", "--mirror", "host", "mirror")
	for _, m := range o.members {
		gittest.Must(t, os.Mkdir(m.home, 0o755))
		gittest.Key(m.home, m.name)
		m.must("", "git", "clone", "-q", "../host", "repo")
		m.must("repo", "git", "remote", "set-url", "origin", "../../host")
		m.must("repo", "git", "agent-turn", "init")
	}
	for i, m := range o.members {
		o.draw(i)
		for kind := range 3 {
			o.record(m, fmt.Sprintf("%c%d000000", m.name[0], kind/2), kind)
		}
		o.git(m, "", "agent-turn", "push")
	}
	for _, m := range o.members {
		o.git(m, "", "agent-turn", "fetch")
		o.look(m)
	}
	return o
}

// newOrder begins an order in a directory that has a company.
func newOrder(t *testing.T, home string, number uint64) *order {
	o := &order{world: &world{t, home}, number: number, secrets: make(map[string]*secret), said: make(map[string]string)}
	for _, name := range names {
		m := &member{world: &world{t, filepath.Join(home, name)}, name: name, had: make(map[int]bool), files: make(map[int]bool)}
		o.members = append(o.members, m)
	}
	return o
}

// again begins another order where one is.
func (o *order) again(t *testing.T, number uint64) *order {
	t.Helper()
	to := newOrder(t, gittest.TempDir(t), number)
	gittest.Must(t, os.CopyFS(to.home, os.DirFS(o.home)))
	to.draw(-1)
	to.doubted = to.rand.IntN(4) == 0
	for i, m := range to.members {
		gittest.Must(t, os.Chmod(filepath.Join(m.home, ".config/git-agent/key"), 0o600))
		for _, other := range names {
			if other == m.name || to.doubted && other == "dan" {
				continue
			}
			key, err := trust.ParseKey(gittest.Key(filepath.Join(to.home, other), other))
			gittest.Must(t, err)
			gittest.Must(t, trust.ReadKeys(filepath.Join(m.home, ".config", "git-agent"), "").Add(t.Context(), other, key))
			m.trust = append(m.trust, other)
		}
		maps.Copy(m.had, o.members[i].had)
		maps.Copy(m.files, o.members[i].files)
	}
	for _, t := range o.turns {
		to.turns = append(to.turns, &turn{author: t.author, secret: t.secret})
	}
	for text, s := range o.secrets {
		to.secrets[text] = &secret{turns: slices.Clone(s.turns)}
	}
	return to
}

// draw has what follows drawn for a step, whatever was drawn before.
func (o *order) draw(step int) { o.rand = rand.New(rand.NewPCG(o.number, uint64(step))) }

// one draws one of a list.
func one[T any](o *order, list []T) T { return list[o.rand.IntN(len(list))] }

// step does what is drawn for it, and looks at who did it.
func (o *order) step(step int) {
	o.t.Helper()
	o.draw(step)
	m := one(o, o.members)
	dirty := o.comeBack(m)
	o.log("-- %d", step)
	looked := false
	switch what := o.rand.IntN(46); {
	case what < 6:
		id := fmt.Sprintf("%c%d000000", m.name[0], o.rand.IntN(2))
		if foreign := o.mission(m); foreign != "" && o.rand.IntN(4) == 0 {
			id = foreign
		}
		o.record(m, id, o.rand.IntN(4))
		return
	case what < 10:
		o.git(m, "", "agent-turn", "push")
		return
	case what < 15:
		o.git(m, "", "agent-turn", "fetch")
		looked = true
	case what < 19:
		answer := one(o, []string{"yes", "keep", "no"})
		m.agreed = m.agreed || answer == "yes"
		o.answers(m, answer)
		looked = true
	case what < 26:
		o.purgeSecret(m)
	case what < 30:
		o.purgePush(m)
	case what < 34:
		o.purgeTurn(m)
	case what < 36:
		o.careless(m)
	case what < 43:
		o.host(one(o, []string{"backup", "back", "back", "mirror", "push"}))
		return
	case what < 45:
		if id := o.mission(m); id != "" {
			o.git(m, "", "agent-turn", "archive", id)
			o.archived = true
		}
	default:
		if id := o.mission(m); id != "" {
			o.git(m, "", "agent-fork", "--no-worktree", "--no-conversation", "--print", id+"/1")
		}
	}
	if looked && dirty && o.wasTold(m, "has again what was purged") <= m.told {
		o.t.Errorf("%s: the host has again what was purged, and nobody said so", m.name)
	}
	o.look(m)
}

// comeBack reports whether the host has again what a member has purged, and has seen it without.
func (o *order) comeBack(m *member) bool {
	if !m.clean {
		return false
	}
	all := o.reachable()
	return slices.ContainsFunc(m.purged, func(s string) bool { return o.secrets[s].known && strings.Contains(all, s) })
}

// reachable returns all that a ref of the host leads to.
func (o *order) reachable() string {
	o.t.Helper()
	list := o.must("host", "git", "rev-list", "--objects", "--all", "--no-object-names")
	if list == "" {
		return ""
	}
	return o.objects("host", list)
}

const words = "please write the parser for configuration files and document everything that it accepts in return"

// record records a turn: with a secret in what is said, in its file, with one of before, or without.
func (o *order) record(m *member, id string, kind int) {
	o.t.Helper()
	n := len(o.turns)
	t := &turn{author: m.name}
	said, file := words, words
	switch kind {
	case 0:
		t.secret = fmt.Sprintf("battery-staple-%d", n)
		said += " with " + t.secret
	case 1:
		t.secret = fmt.Sprintf("battery-staple-%d", n)
		file += "\nkey = " + t.secret
	case 2:
		if before := one(o, o.turns); before.author == m.name && before.secret != "" && len(o.secrets[before.secret].purged) == 0 {
			t.secret = before.secret
			said += " with " + t.secret
		}
	}
	if t.secret != "" {
		if o.secrets[t.secret] == nil {
			o.secrets[t.secret] = new(secret)
		}
		o.secrets[t.secret].turns = append(o.secrets[t.secret].turns, n)
	}
	o.turns = append(o.turns, t)
	m.write(fmt.Sprintf("repo/f-%d", n), contentOf(n)+"\n"+file+"\n")
	o.git(m, "", "agent-turn", "record", "--mission", id, "--prompt", fmt.Sprintf("marker-%d. %s", n, said), "--reply", "it is done")
	m.had[n], m.files[n] = true, true
}

func contentOf(n int) string { return fmt.Sprintf("content-%d.", n) }

// mission draws a mission that is in a member's clone, "" if there is none.
func (o *order) mission(m *member) string {
	ids := strings.Fields(m.must("repo", "git", "for-each-ref", "--format=%(refname:lstrip=3)", "refs/agent/missions"))
	if len(ids) == 0 {
		return ""
	}
	return one(o, ids)
}

// purgeSecret purges a secret of a turn that a member has.
func (o *order) purgeSecret(m *member) {
	o.t.Helper()
	var texts []string
	for n, t := range o.turns {
		if m.had[n] && t.secret != "" && !slices.Contains(texts, t.secret) {
			texts = append(texts, t.secret)
		}
	}
	if len(texts) == 0 {
		return
	}
	text := one(o, texts)
	s := o.secrets[text]
	if len(s.purged) == 0 {
		s.known = !slices.ContainsFunc(s.turns, func(n int) bool { return !m.had[n] })
	}
	m.asks = true
	s.purged, m.purged, m.clean = append(s.purged, m.name), append(m.purged, text), false
	o.git(m, text+"\n", "agent-turn", "purge", "--fixed", "--yes")
	if o.rand.IntN(2) == 0 {
		o.purgePush(m)
	}
}

// purgePush has the host purge what a member has purged, which may go back meanwhile.
func (o *order) purgePush(m *member) {
	o.t.Helper()
	hook := ""
	if o.rand.IntN(3) == 0 {
		hook = filepath.Join(o.home, "host", "hooks", one(o, []string{"pre-receive", "update", "post-receive"}))
		gittest.Must(o.t, os.WriteFile(hook, []byte("#!/bin/sh\nrm -f \"$0\"\nunset GIT_QUARANTINE_PATH\nexec sh ../back\n"), 0o755))
		o.log("the host goes back in %s", filepath.Base(hook))
	}
	o.git(m, "", "agent-turn", "purge", "--push", "--yes")
	if hook != "" {
		_ = os.Remove(hook) // it may have run
	}
	if all := o.reachable(); !slices.ContainsFunc(m.purged, func(s string) bool { return strings.Contains(all, s) }) {
		m.clean, m.told = len(m.purged) > 0, o.wasTold(m, "has again what was purged")
	}
}

// purgeTurn purges a turn or its file, or a mission.
func (o *order) purgeTurn(m *member) {
	o.t.Helper()
	places := o.places(m)
	if len(places) == 0 {
		return
	}
	at := one(o, places)
	m.asks = true
	switch o.rand.IntN(3) {
	case 0:
		for _, p := range places {
			if p.mission == at.mission && p.number == at.number {
				o.turns[p.n].asked = append(o.turns[p.n].asked, m.name)
			}
		}
		o.git(m, "", "agent-turn", "purge", "--turn", fmt.Sprintf("%s/%d", at.mission, at.number), "--yes")
	case 1:
		if said := o.git(m, "", "agent-turn", "purge", "--mission", at.mission, "--yes"); strings.Contains(said, "goes on from its newest turn") {
			break // a fork has all of it
		}
		for _, p := range places {
			if p.mission == at.mission {
				o.turns[p.n].asked = append(o.turns[p.n].asked, m.name)
			}
		}
	default:
		o.turns[at.n].cut = append(o.turns[at.n].cut, m.name)
		o.git(m, "", "agent-turn", "purge", "--path", fmt.Sprintf("f-%d", at.n), "--yes")
	}
}

// careless purges words that stand everywhere.
func (o *order) careless(m *member) {
	o.t.Helper()
	m.asks = true
	o.git(m, "please|parser|configuration|document|everything|accepts|return\n", "agent-turn", "purge", "--match", "--common", "--yes")
}

// back is the script that takes a host back to the refs of its backup.
const back = `test -f ../backup || exit 0
git for-each-ref --format='delete %(refname)' | git update-ref --stdin
git update-ref --stdin <../backup
`

// host does something to the host.
func (o *order) host(what string) {
	o.t.Helper()
	o.log("the host: %s", what)
	o.write("back", back)
	switch what {
	case "backup":
		refs := o.must("host", "git", "for-each-ref", "--format=create %(refname) %(objectname)")
		o.write("backup", refs)
	case "back":
		o.must("host", "sh", "../back")
	case "mirror":
		o.must("mirror", "git", "fetch", "-q", "--prune")
	case "push":
		cmd := exec.Command("git", "push", "-q", "--mirror", "../host")
		cmd.Dir, cmd.Env = filepath.Join(o.home, "mirror"), gittest.Env(o.home)
		if out, err := cmd.CombinedOutput(); err != nil {
			o.t.Fatalf("%v\n%s", err, out)
		}
	}
}

// look looks at a member's clone after each of their commands.
func (o *order) look(m *member) {
	o.t.Helper()
	listed, files := o.list(m)
	for n := range m.had {
		switch {
		case listed[n]:
		case o.mayGo(m, n, o.turns[n].asked):
			delete(m.had, n)
			delete(m.files, n)
		default:
			o.t.Errorf("%s: turn %d is lost", m.name, n)
		}
	}
	for n := range m.files {
		switch {
		case files[n]:
		case o.mayGo(m, n, slices.Concat(o.turns[n].cut, o.turns[n].asked)):
			delete(m.files, n)
		default:
			o.t.Errorf("%s: the file of turn %d is lost", m.name, n)
		}
	}
	for n := range listed {
		m.had[n] = true
		if files[n] {
			m.files[n] = true
		}
	}
	var texts []string
	for _, s := range m.purged {
		if o.secrets[s].known {
			texts = append(texts, s)
		}
	}
	if len(texts) > 0 {
		all := m.objects("repo", "")
		for _, s := range texts {
			o.without(m.name, all, s)
		}
	}
}

// mayGo reports whether a turn of a member's clone may go as some have asked.
func (o *order) mayGo(m *member, n int, asked []string) bool {
	author := o.turns[n].author
	return slices.ContainsFunc(asked, func(by string) bool {
		return by == m.name || m.agreed || m.trusts(by) && (by == author || o.agreed(author))
	})
}

// agreed reports whether a member has said yes.
func (o *order) agreed(name string) bool {
	return slices.ContainsFunc(o.members, func(m *member) bool { return m.name == name && m.agreed })
}

// refused reports whether a member was told that a purge is refused: of two texts of which one is in the other, they have
// purged the longer, and somebody else the shorter, before they knew of each other. Their turns stay, and go nowhere.
func (o *order) refused(name string) bool {
	return strings.Contains(strings.Join(strings.Fields(o.said[name]), " "), "a text differs in more than what was taken out")
}

// settle has everybody send and fetch until nothing is new: in every other order without an answer to what they are
// asked, else with a yes.
func (o *order) settle() {
	o.t.Helper()
	o.log("-- settle")
	if o.number%2 == 0 {
		o.nobodyAnswers()
	} else {
		o.everybodyAgrees()
	}
	for _, m := range o.members {
		if out, err := m.run("repo", nil, "git", "fsck", "--connectivity-only", "--no-dangling"); err != nil {
			o.t.Errorf("%s: %v\n%s", m.name, err, out)
		}
	}
}

func (o *order) nobodyAnswers() {
	o.t.Helper()
	o.untilNothingIsNew(func(m *member) {
		if m.asks {
			o.git(m, "", "agent-turn", "purge", "--push", "--yes")
		} else {
			o.git(m, "", "agent-turn", "fetch")
		}
		o.git(m, "", "agent-turn", "push")
	})
	host := o.reachable()
	for text, s := range o.secrets {
		if o.everybodyTrusts(s.purged) {
			o.without("the host", host, text)
		}
	}
	for _, m := range o.members {
		waits, keeps := m.held()
		doctor := ""
		if len(waits) > 0 {
			doctor = o.git(m, "", "agent-turn", "doctor")
		}
		for _, id := range waits {
			if !strings.Contains(doctor, id) || o.wasTold(m, id) == 0 {
				o.t.Errorf("%s: was not told that mission %s waits", m.name, id)
			}
		}
		if len(waits)+len(keeps) == 0 {
			o.noSecret(m)
		}
	}
}

// whole is in the question about missions that somebody has purged as a whole, though they were recorded to since.
var whole = regexp.MustCompile(`mission ([0-9a-z, ]+): (?:it was purged at [^;]* as a whole, and has gone on here|[^;:]* without a question: all of it)`)

func (o *order) everybodyAgrees() {
	o.t.Helper()
	o.untilNothingIsNew(func(m *member) {
		m.agreed = true
		_, keeps := m.held()
		for _, id := range keeps {
			o.answers(m, "yes", "--accept-purges", "--mission", id)
		}
		places := o.places(m)
		said := strings.Join(strings.Fields(o.answers(m, "yes")), " ")
		for _, about := range whole.FindAllStringSubmatch(said, -1) {
			for _, p := range places { // also what was recorded since goes
				if strings.Contains(about[1], p.mission) {
					o.turns[p.n].asked = append(o.turns[p.n].asked, m.name)
				}
			}
		}
		if m.asks {
			o.git(m, "", "agent-turn", "purge", "--push", "--yes")
		}
		o.git(m, "", "agent-turn", "push")
	})
	host := o.reachable()
	for text, s := range o.secrets {
		if o.everybodyTrusts(s.purged) {
			o.without("the host", host, text)
		}
	}
	for n, t := range o.turns {
		gone := o.everybodyTrusts(t.asked)
		if gone {
			o.without("the host", host, fmt.Sprintf("marker-%d.", n))
		}
		for _, m := range o.members {
			if gone == m.had[n] && (gone || len(t.asked) == 0) && !o.doubted && (gone || !o.refused(t.author)) {
				o.t.Errorf("%s: has turn %d: %v", m.name, n, m.had[n])
			}
		}
	}
	for _, m := range o.members {
		o.noSecret(m)
		waits, keeps := m.held()
		if len(waits)+len(keeps) > 0 {
			o.t.Errorf("%s: still waits for an answer: %q, %q", m.name, waits, keeps)
		}
	}
}

// everybodyTrusts reports whether somebody is among some whom all trust.
func (o *order) everybodyTrusts(some []string) bool {
	return slices.ContainsFunc(some, func(by string) bool {
		return !slices.ContainsFunc(o.members, func(m *member) bool { return !m.trusts(by) })
	})
}

// noSecret looks for what somebody has purged whom a member trusts. Whom nobody trusts may have replaced that at the host,
// and then it stays with those who are told so.
func (o *order) noSecret(m *member) {
	o.t.Helper()
	if o.doubted && o.wasTold(m, "without a key that you trust") > 0 {
		return
	}
	all := m.objects("repo", "")
	for text, s := range o.secrets {
		if slices.ContainsFunc(s.purged, m.trusts) {
			o.without(m.name, all, text)
		}
	}
}

// without says where a text is that should be nowhere.
func (o *order) without(who, all, text string) {
	o.t.Helper()
	if at := strings.Index(all, text); at >= 0 {
		o.t.Errorf("%s has %s: %q", who, text, all[max(0, at-300):min(len(all), at+100)])
	}
}

// untilNothingIsNew has each member do something until that changes no mission any more.
func (o *order) untilNothingIsNew(do func(m *member)) {
	o.t.Helper()
	const most = 6
	for range most {
		before := o.refs()
		for _, m := range o.members {
			do(m)
		}
		if o.refs() == before {
			for _, m := range o.members {
				o.look(m)
			}
			return
		}
	}
	o.t.Error("it does not settle")
}

// refs returns what missions all have.
func (o *order) refs() string {
	all := o.must("host", "git", "for-each-ref")
	for _, m := range o.members {
		all += m.must("repo", "git", "for-each-ref", "refs/agent/missions", "refs/agent/archive", "refs/notes")
	}
	return all
}
