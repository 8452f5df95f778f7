package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
)

// sharedFiles is how many files the repository has in which there are many missions.
const sharedFiles = 1000

// manyMissions measures what missions cost a user who has nothing to do with them, and what the commands take, first
// with refs for all of them and then archived. Both repositories have the same history; in one there is nothing of ours.
func manyMissions(l *lab) {
	few := min(10_000, l.missions)
	l.archiving(few)
	plain, ours := l.shared("plain"), l.shared("missions")
	began := time.Now()
	ours.populate(l.missions, 0)
	fmt.Printf("%d missions of %d turns made in %.0f s\n", l.missions, turnsEach, time.Since(began).Seconds())
	costs := []hosted{{"0", plain.publish().hosting()}}
	for _, state := range []string{"live", "archived"} {
		if state == "archived" {
			x := ours.archive(l.missions)
			fmt.Printf("\narchived in %.1f s, %.1f s of CPU, at most %.0f MB\n", x.wall.Seconds(), x.cpu.Seconds(), float64(x.peak)/(1<<20))
		}
		for _, r := range []*repository{ours, plain} { // what housekeeping, or git itself, does now and then
			r.git("repack", "-adq", "--window=0")
			r.publish()
		}
		fmt.Printf("\n%d missions, %s: %s\n", l.missions, state, ours.shape())
		heading()
		ours.against(plain, state)
		ours.commands(state)
		costs = append(costs, hosted{fmt.Sprintf("%d %s", l.missions, state), ours.hosting()})
	}
	l.fleet(costs, plain)
}

// shared makes a repository with some history. Git looks at a few commits more than it has to before it stops, so with
// none it would look into the archive, too.
func (l *lab) shared(name string) *repository {
	r := l.newRepository(name, sharedFiles)
	var in bytes.Buffer
	for i := range 200 {
		commit(&in, "refs/heads/main", fmt.Sprintf("change %d", i))
		if i == 0 {
			in.WriteString("from refs/heads/main^0\n")
		}
		put(&in, path(i), source(i, 1000))
	}
	r.load(&in)
	r.git("reset", "-q", "--hard")
	r.enable()
	return r
}

// host is the bare repository that r pushes to.
func (r *repository) host() string { return r.dir + ".git" }

// publish makes the host anew, with every ref that r has, and as `git gc` leaves it there.
func (r *repository) publish() *repository {
	check(os.RemoveAll(r.host()))
	r.lab.git(r.lab.dir, "clone", "-q", "--mirror", r.dir, r.host())
	if stem, err := r.lab.try(r.dir, "rev-parse", "-q", "--verify", ledger.ArchiveKeepRef); err == nil { // a push does not send it
		objects := must(git.Find(r.dir)).Objects(r.lab.ctx)
		index := must(ledger.OpenArchive(objects, object.NewHash(r.git("rev-parse", ledger.ArchiveRef))))
		r.lab.git(r.host(), "update-ref", ledger.ArchiveKeepRef, must(index.Keep()).String(), stem)
		objects.Close()
	}
	for ref := range strings.FieldsSeq(r.lab.git(r.host(), "for-each-ref", "--format=%(refname)", git.Keepers, ledger.SeenArchives)) {
		r.lab.git(r.host(), "update-ref", "-d", ref) // nor these
	}
	r.lab.git(r.host(), "pack-refs", "--all")
	r.lab.git(r.host(), "-c", "pack.writeReverseIndex=true", "repack", "-adbq", "--window=0")
	r.lab.git(r.host(), "config", "gc.auto", "0")
	r.git("config", "gc.auto", "0")
	r.git("config", "remote.origin.url", "file://"+r.host())
	r.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
	r.git("fetch", "-q")
	return r
}

// shape is what git says of a repository's size.
func (r *repository) shape() string {
	counts := make(map[string]int64)
	for line := range strings.Lines(r.git("count-objects", "-v")) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		counts[key] = must(strconv.ParseInt(value, 10, 64))
	}
	refs := strings.Count(r.git("for-each-ref")+"\n", "\n")
	return fmt.Sprintf("%d refs, %d objects, %d packs, %.1f MB", refs, counts["in-pack"]+counts["count"], counts["packs"], float64(counts["size-pack"]+counts["size"])/1024)
}

// commitOn adds a commit to a branch of a repository that need not have a worktree.
func (l *lab) commitOn(dir, branch string, i int) {
	tip := l.git(dir, "rev-parse", "main")
	if out, err := l.try(dir, "rev-parse", "--verify", "-q", branch); err == nil {
		tip = out
	}
	c := l.git(dir, "commit-tree", "-p", tip, "-m", fmt.Sprintf("commit %d", i), tip+"^{tree}")
	l.git(dir, "update-ref", "refs/heads/"+branch, c)
}

// against measures the user's own fetches and pushes in pairs.
func (r *repository) against(plain *repository, state string) {
	n := r.times(25)
	for _, what := range []struct {
		name    string
		prepare func(x *repository, i int)
		args    []string
	}{
		{"git fetch, nothing new", func(*repository, int) {}, []string{"fetch", "-q", "origin"}},
		{"git fetch, one commit", func(x *repository, i int) { x.lab.commitOn(x.host(), "theirs", i) }, []string{"fetch", "-q", "origin"}},
		{"git push, one commit", func(x *repository, i int) { x.lab.commitOn(x.dir, "mine", i) }, []string{"push", "-q", "origin", "mine"}},
		{"git log --all", func(*repository, int) {}, []string{"log", "--all", "--oneline", "-n", "100", "--output=/dev/null"}},
	} {
		var with, without series
		for i := range n + 1 {
			pair := []*repository{r, plain}
			if i%2 == 1 {
				pair[0], pair[1] = pair[1], pair[0]
			}
			for _, x := range pair {
				what.prepare(x, i)
				s := x.measure(x.dir, nil, nil, "git", what.args...)
				switch {
				case i == 0: // nothing is in memory yet
				case x == r:
					with = append(with, s)
				default:
					without = append(without, s)
				}
			}
		}
		compare(what.name+", "+state, with, without, map[string]string{"archived": "1.05"}[state])
	}
	var with, without series
	for i := range n {
		args := []string{"record", "--mission", fmt.Sprintf("%08x", 0xf0000000+i), "--prompt", "one more"}
		for _, x := range []*repository{r, plain} {
			check(os.WriteFile(filepath.Join(x.dir, path(i)), []byte(source(i, 77)), 0o600))
			_, s := x.timed(x.dir, nil, nil, x.program, args...)
			settle()
			if x == r {
				with = append(with, s)
			} else {
				without = append(without, s)
			}
			x.feed(x.dir, nil, x.program, "remove", "--force", args[2])
			x.git("checkout", "-q", "--", ".")
		}
	}
	compare("record, "+state, with, without, "")
}

// commands measures what the programs take.
func (r *repository) commands(state string) {
	id := string(missionID(r.missions / 2))
	list, lines := []string{"missions", "--json"}, r.missions
	if state == "archived" {
		list = []string{"missions", "--archived", "--json"}
	}
	fmt.Printf("\n%-40s %4s %9s %9s %9s %9s\n", "", "n", "ms", "p90", "cpu", "MB")
	row := func(name string, n, want int, prepare func(), args ...string) {
		var s series
		for range n {
			prepare()
			out, x := r.watched(true, r.dir, nil, nil, r.program, args...)
			if got := bytes.Count(out, []byte("\n")); want >= 0 && got != want {
				check(fmt.Errorf("%q: %d lines, not %d: %.200s", args, got, want, out))
			}
			s = append(s, x)
		}
		most := int64(0)
		for _, x := range s {
			most = max(most, x.peak)
		}
		fmt.Printf("%-40s %4d %9.1f %9.1f %9.1f %9.1f\n", name, n, ms(s.wall(0.5)), ms(s.wall(0.9)), ms(s.cpu()), float64(most)/(1<<20))
	}
	nothing := func() {}
	row(strings.Join(list[:len(list)-1], " "), r.times(3), lines, nothing, list...)
	row("list of one", r.times(11), turnsEach, nothing, "list", "--json", "--mission", id)
	row("show of one", r.times(11), -1, nothing, "show", id+"/1")
	row("search of one, by id", r.times(5), -1, nothing, "search", "--mission", id, "done")
	row("doctor", r.times(3), -1, nothing, "doctor")
	k := 0
	consent := func(to string) { r.git("config", "agent.file://"+r.host()+".push", to) }
	fresh := func() { // with consent, recording would push it
		k++
		consent("none")
		defer consent("all")
		r.feed(r.dir, nil, r.program, "record", "--mission", fmt.Sprintf("%08x", 0xf1000000+k), "--prompt", "to be pushed")
	}
	row("push of one", r.times(5), -1, fresh, "push")
	consent("none")
	for i := range k {
		r.drop(fmt.Sprintf("%08x", 0xf1000000+i+1))
	}
	other := r.lab.newRepository("reader-"+state, sharedFiles)
	other.git("remote", "add", "origin", "file://"+r.host())
	var s series
	for i := range r.times(5) {
		_, x := r.watched(true, other.dir, nil, nil, r.program, "fetch", "--mission", string(missionID(i)))
		s = append(s, x)
	}
	fmt.Printf("%-40s %4d %9.1f %9.1f %9.1f %9.1f\n", "fetch of one, by a clone without any", len(s), ms(s.wall(0.5)), ms(s.wall(0.9)), ms(s.cpu()), float64(s[0].peak)/(1<<20))
}

// archiving measures the archiving of so many missions.
func (l *lab) archiving(n int) {
	r := l.shared("archiving")
	r.populate(n, 0)
	r.git("repack", "-adq", "--window=0")
	before := r.shape()
	x := r.archive(n)
	packed := r.shape()
	r.git("gc", "-q")
	fmt.Printf("archive of %d missions: %.1f s, %.1f s of CPU, at most %.0f MB\n  before:  %s\n  after:   %s\n  and gc:  %s\n",
		n, x.wall.Seconds(), x.cpu.Seconds(), float64(x.peak)/(1<<20), before, packed, r.shape())
}

// archive archives all missions.
func (r *repository) archive(n int) sample {
	out, x := r.watched(true, r.dir, nil, nil, r.program, "archive")
	if want := fmt.Sprintf("archived %d missions; %d refs fewer\n", n, 2*n); string(out) != want {
		check(fmt.Errorf("archive: %q, not %q", out, want))
	}
	return x
}

// A hosted is what pushes to a host cost it.
type hosted struct {
	refs string
	cost pushing
}

// A pushing is what one push costs, on both sides.
type pushing struct{ client, host series }

// hosting measures pushes of one mission each, and leaves none of them.
func (r *repository) hosting() (p pushing) {
	times := filepath.Join(r.lab.dir, "receive-pack")
	check(os.WriteFile(times, []byte("#!/usr/bin/env bash\ngit receive-pack \"$@\"\ntimes >"+times+".times\n"), 0o700))
	var ids []string
	for i := range r.times(20) {
		r.lab.sessions++
		id := fmt.Sprintf("%08x", 0xf2000000+r.lab.sessions)
		ids = append(ids, id)
		check(os.WriteFile(filepath.Join(r.dir, path(i)), []byte(source(i, 100+i)), 0o600))
		r.feed(r.dir, nil, r.program, "record", "--mission", id, "--prompt", "of an agent")
		_, s := r.timed(r.dir, nil, nil, "git", "push", "-q", "--receive-pack="+times, "origin",
			"refs/agent/missions/"+id, "refs/notes/agent/"+id)
		host := children(string(must(os.ReadFile(times + ".times"))))
		p.host = append(p.host, sample{cpu: host})
		p.client = append(p.client, sample{cpu: s.cpu - host})
	}
	for _, id := range ids {
		r.drop(id)
	}
	return p
}

// drop removes a mission, here and at the host.
func (r *repository) drop(id string) {
	r.feed(r.dir, nil, r.program, "remove", "--force", id)
	for _, ref := range []string{"refs/agent/missions/", "refs/notes/agent/"} {
		r.lab.git(r.host(), "update-ref", "-d", ref+id)
	}
}

// children reads what bash's times says of the processes that it has waited for, user and system.
func children(times string) (total time.Duration) {
	lines := strings.Split(strings.TrimSpace(times), "\n")
	for _, field := range strings.Fields(lines[len(lines)-1]) { // 0m0.012s
		total += must(time.ParseDuration(field))
	}
	return total
}

// fleet says what 1,000 agents with a push a minute do to one host, and checks the simulation against a host that is
// really pushed to.
func (l *lab) fleet(costs []hosted, plain *repository) {
	fmt.Printf("\n%-22s %12s %12s %7s %7s %9s %9s %9s\n", "refs at the host", "host ms", "client ms", "agents", "cores", "busy", "wait p50", "wait p99")
	for _, h := range costs {
		for _, cores := range []int{2, 8} {
			for _, agents := range []int{1000, 4000} {
				f := simulate(agents, cores, h.cost.host, 1)
				fmt.Printf("%-22s %12.1f %12.1f %7d %7d %8.1f%% %9s %9s\n", h.refs, ms(h.cost.host.cpu()), ms(h.cost.client.cpu()), agents, cores,
					100*f.busy, f.p50.Round(time.Millisecond), f.p99.Round(time.Millisecond))
			}
		}
	}
	const clients, each, cores = 8, 25, 2
	var all sync.WaitGroup
	repositories := make([]*repository, clients)
	for i := range repositories {
		r := l.newRepository(fmt.Sprintf("agent-%d", i), smallFiles)
		r.enable()
		r.git("remote", "add", "origin", "file://"+plain.host())
		for k := range each {
			check(os.WriteFile(filepath.Join(r.dir, path(k)), []byte(source(k, 100+i)), 0o600))
			r.feed(r.dir, nil, r.program, "record", "--mission", fmt.Sprintf("%08x", 0xe0000000+i<<12+k), "--prompt", "of an agent")
		}
		repositories[i] = r
	}
	began := time.Now()
	for i, r := range repositories {
		all.Go(func() {
			for k := range each {
				id := fmt.Sprintf("%08x", 0xe0000000+i<<12+k)
				r.git("push", "-q", "origin", "refs/agent/missions/"+id, "refs/notes/agent/"+id)
			}
		})
	}
	all.Wait()
	real := clients * each / time.Since(began).Seconds()
	said := together(clients, cores, costs[0].cost.client, costs[0].cost.host)
	fmt.Printf("%d clients that push one after the other, on this machine: %.1f pushes in a second, the simulation says %.1f on %d cores (%+.0f%%)\n",
		clients, real, said, cores, 100*(said/real-1))
}
