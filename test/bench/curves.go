package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/trust"
)

// A curve is a contest whose work grows: with what there is of something.
type curve struct {
	name  string
	of    string // what there is more and more of
	git   string // what git does in the contest; "" for nothing
	sizes []int
	why   string // why there are no more
	at    func(l *lab, n int) contest
}

var (
	allSizes = []int{100, 1000, 10_000, 100_000}
	fewSizes = allSizes[:3]
)

// curves has those of the picture, in its order.
func curves() []curve {
	return []curve{
		{"missions", "missions, a tenth of them forks", "git: for-each-ref", allSizes, "", growingMissions},
		{"handoff list --all", "forks of forks", "git: for-each-ref", fewSizes, "more take the older build minutes", growingHandoffs},
		{"list", "turns of a mission", "git: log of the ledger", allSizes, "", growingList},
		{"log -n 20", "commits, a fifth of them with a turn", "git: log --numstat of a twentieth", allSizes, "", growingLog("log", "-n", "20")},
		{"summary of a twentieth", "commits, a fifth of them with a turn", "git: log --numstat of a twentieth", allSizes, "", growingLog("summary", "")},
		{"blame", "commits, a tenth of them with a turn", "git: blame --porcelain", allSizes, "", growingBlame},
		{"page", "turns", "git: log --patch", allSizes, "", growingPage},
		{"search: a word in every turn", "turns, of 20 KB each", "git: grep of the ledgers", allSizes, "", growingSearch},
		{"push of one, beside archived", "archived missions", "git: push of the refs", allSizes, "", growingPush},
		{"import", "turns", "", fewSizes, "more take half an hour", growingImport},
		{"Stop, after turns", "turns of the mission", "git: add --all, commit", fewSizes, "more take hours to make", growingStop},
	}
}

// plotCurves measures the curves that match, and draws what there is of them after each point, and those that the picture
// has already.
func (l *lab) plotCurves(file string, match *regexp.Regexp, largest int) {
	var plots []plot
	switch picture, err := os.ReadFile(file); {
	case err == nil:
		plots = plotsIn(picture)
	case !errors.Is(err, fs.ErrNotExist):
		check(err)
	}
	for _, c := range curves() {
		if !match.MatchString(c.name) {
			continue
		}
		fmt.Printf("\n# %s\n", c.name)
		contestHeading()
		p := plot{Name: c.name, Of: c.of, Git: c.git, Why: c.why}
		sizes := slices.DeleteFunc(slices.Clone(c.sizes), func(n int) bool { return n > largest })
		if len(sizes) < len(c.sizes) {
			p.Why = "more were not measured"
		}
		for _, n := range sizes {
			p.Points = append(p.Points, l.point(c, n))
			plots = including(plots, p)
			about := fmt.Sprintf("medians; both axes are logarithmic; %d CPUs, %s, %s", runtime.NumCPU(), l.git(l.dir, "--version"), runtime.Version())
			check(os.WriteFile(file, draw(plots, about), 0o666))
		}
	}
}

// point measures a curve where there is so much.
func (l *lab) point(c curve, n int) point {
	began := time.Now()
	one := c.at(l, n)
	one.name = fmt.Sprintf("%s: %d", c.name, n)
	fmt.Printf("made in %.0f s\n", time.Since(began).Seconds())
	now, before, git := l.play(one).of(l)
	cpu := func(s series) float64 {
		if len(s) == 0 {
			return 0
		}
		return ms(s.cpu())
	}
	settle()
	l.clear()
	return point{n, cpu(now), cpu(before), cpu(git)}
}

// including is the plots with one more, or another one of that name, in the picture's order.
func including(plots []plot, p plot) []plot {
	plots = append(slices.DeleteFunc(plots, func(old plot) bool { return old.Name == p.Name }), p)
	slices.SortStableFunc(plots, func(a, b plot) int { return place(a.Name) - place(b.Name) })
	return plots
}

// place is where a curve stands in the picture.
func place(name string) int {
	return slices.IndexFunc(curves(), func(c curve) bool { return c.name == name })
}

// clear removes what the last contest was about: repositories, hosts, conversations.
func (l *lab) clear() {
	for _, e := range must(os.ReadDir(l.dir)) {
		if !slices.Contains([]string{"bin", "before", "linked", "home"}, e.Name()) {
			check(os.RemoveAll(filepath.Join(l.dir, e.Name())))
		}
	}
	for _, name := range []string{".claude"} {
		check(os.RemoveAll(filepath.Join(l.dir, "home", name)))
	}
}

// turning is a contest of git-agent-turn with something of git's.
func (r *repository) turning(git []string, ours ...string) contest {
	return contest{
		ours: func(b build) sample { return r.printing(b.program("git-agent-turn"), ours...) },
		git:  func() sample { return r.printing("git", git...) },
	}
}

func growingMissions(l *lab, n int) contest {
	r := l.newRepository("missions", sharedFiles)
	r.enable()
	r.populate(n-n/10, n)
	r.forks(n / 10)
	r.git("repack", "-adq", "--window=0")
	return r.turning([]string{"for-each-ref", "--format=%(subject)", record.MissionRefs}, "missions")
}

func growingHandoffs(l *lab, n int) contest {
	r := l.newRepository("chains", sharedFiles)
	r.enable()
	r.chains(n)
	r.git("repack", "-adq", "--window=0")
	return contest{
		ours: func(b build) sample { return r.printing(b.program("git-agent-handoff"), "list", "--all") },
		git:  func() sample { return r.printing("git", "for-each-ref", "--format=%(subject)", record.MissionRefs) },
	}
}

func growingList(l *lab, n int) contest {
	r := l.newRepository("list", smallFiles)
	const id = record.ID("a1b2c3d4")
	r.fill(id, n)
	return r.turning([]string{"log", "--format=%H %s", id.Ref()}, "list", "--mission", string(id))
}

// growingLog has a command look at commits; an empty argument is the newest twentieth of them.
func growingLog(args ...string) func(l *lab, n int) contest {
	return func(l *lab, n int) contest {
		r := l.newRepository("work", smallFiles)
		r.work(worked{commits: n, every: 5, missions: 20})
		part := fmt.Sprint(n / 20)
		args := slices.Clone(args)
		if i := slices.Index(args, ""); i >= 0 {
			args[i] = "HEAD~" + part + ".."
		}
		return r.turning([]string{"log", "--numstat", "-n", part}, args...)
	}
}

func growingBlame(l *lab, n int) contest {
	r := l.newRepository("blame", smallFiles)
	r.longHistory("a1b2c3d4", n, 10)
	return r.turning([]string{"blame", "--porcelain", longFile}, "blame", longFile)
}

func growingPage(l *lab, n int) contest {
	r := l.newRepository("page", smallFiles)
	r.work(worked{commits: n, every: 1, missions: 1, told: true})
	return r.turning([]string{"log", "--patch"}, "page", "--out", filepath.Join(l.dir, "page.html"), string(missionID(0)))
}

func growingSearch(l *lab, n int) contest {
	const each = 1000 // turns of a mission
	r := l.newRepository("search", smallFiles)
	w := newWriter(l.dir, "5b603d06-8528-4d54-8275-dcebec74b87f", 7)
	var pool [][]byte
	for i := range 120 {
		w.begin(i + 1)
		pool = append(pool, append([]byte(nil), w.turn(10<<10)...))
	}
	refs := []string{"grep", "-c", "error"}
	for i := 0; i*each < n; i++ {
		r.converse(pool, i, int64(min(each, n))*20<<10)
		refs = append(refs, record.ID(fmt.Sprintf("5ea4c4%02x", i)).Ref())
	}
	return r.turning(append(refs, "--", "transcript"), "search", "--json", "error")
}

func growingPush(l *lab, n int) contest {
	r := l.shared("beside")
	r.populate(n, n)
	r.archive(n)
	r.git("repack", "-adq", "--window=0")
	r.publish()
	k := 0
	fresh := func() string { // with consent, recording would push it
		k++
		id := fmt.Sprintf("%08x", 0xf1000000+k)
		r.consent("none")
		r.feed(r.dir, nil, r.program, "record", "--mission", id, "--prompt", "to be pushed")
		r.consent("all")
		return id
	}
	return contest{
		ours: func(b build) sample {
			id := fresh()
			s := r.printing(b.program("git-agent-turn"), "push")
			r.consent("none")
			r.drop(id)
			return s
		},
		git: func() sample {
			id := record.ID(fresh())
			s := r.printing("git", "push", "-q", "origin", id.Ref(), id.NotesRef())
			r.consent("none")
			r.drop(string(id))
			return s
		},
	}
}

// consent says what may be sent to the host.
func (r *repository) consent(to string) { r.git("config", "agent.file://"+r.host()+".push", to) }

func growingImport(l *lab, n int) contest {
	const each = 38 // turns of a session, on average
	r := l.newRepository("import", smallFiles)
	p := newProject(r)
	for i := range max(1, n/each) {
		p.grow(i, 1+i*7%20)
	}
	pristine := filepath.Join(l.dir, "pristine.git")
	l.feed(l.dir, nil, "cp", "-a", filepath.Join(r.dir, ".git"), pristine)
	return contest{ours: func(b build) sample {
		settle()
		check(os.RemoveAll(filepath.Join(r.dir, ".git")))
		l.feed(l.dir, nil, "cp", "-a", pristine, filepath.Join(r.dir, ".git"))
		return r.printing(b.program("git-agent-turn"), "import")
	}}
}

// growingStop is a session that goes on, once with each build, and once with what a person would put into the hook.
func growingStop(l *lab, n int) contest {
	sessions := make(map[build]*session)
	for _, b := range []build{l.now(), l.before} {
		if b != "" {
			r := l.newRepository(fmt.Sprintf("stop-%d", len(sessions)), smallFiles)
			r.enable()
			sessions[b] = r.newSession()
			r.grown(sessions[b], n)
		}
	}
	base := l.newRepository("stop-base", smallFiles)
	return contest{
		ours: func(b build) sample {
			program := l.program
			defer func() { l.program = program }()
			l.program = b.program("git-agent-turn")
			_, stop := sessions[b].turn()
			return stop
		},
		git: func() sample {
			base.change()
			return base.commitAll()
		},
	}
}

// grown gives a session's mission so many turns of this clone's.
func (r *repository) grown(s *session, n int) {
	repo := must(git.Find(r.dir))
	objects := repo.Objects(r.ctx)
	keys := trust.ReadKeys(r.keys(), "")
	trusted := trust.New(statedir.Of(repo.CommonDir), func() *trust.Keys { return keys })
	m := populating{repository: r, objects: objects, id: s.mission, session: s.id, turns: n, key: keys.Own, at: time.Now().Add(-time.Duration(n) * time.Minute)}
	tip, notes := m.write(object.NewHash(r.git("rev-parse", "HEAD")))
	check(trusted.Own(m.id, tip, object.Hash{}))
	check(objects.Flush())
	objects.Close()
	r.git("update-ref", m.id.Ref(), tip.String())
	r.git("update-ref", m.id.NotesRef(), notes.String())
	s.prompts = make([]string, n)
}
