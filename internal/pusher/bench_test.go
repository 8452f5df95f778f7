package pusher_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitagent/internal/record"
	"gitagent/test/gittest"
	"gitagent/test/remotelab"
	"gitagent/turns"
)

// many is how many missions the host and both clones of a benchmark have, packed.
const many = 10_000

func benchID(i int) record.ID { return record.ID(fmt.Sprintf("%08x", 0x10000000+i)) }

// fill gives a repository missions of one turn, and packs it.
func fill(b testing.TB, r *gittest.Repo, from, to int) {
	b.Helper()
	head := r.Git("rev-parse", "refs/heads/main")
	var in strings.Builder
	file := func(path, content string) {
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", path, len(content), content)
	}
	for i := from; i < to; i++ {
		id := benchID(i)
		record := fmt.Sprintf(`{"v":1,"kind":"turn","mission":"%s","turn":1,"at":"2026-11-20T12:00:00Z","outcome":"done","session":"of-%s","prompt":"fix the login of %d","code":"%s","base":"%s","files":0,"insertions":0,"deletions":0,"context":0,"output":0,"compactions":0}`+"\n",
			id, id, i, head, head)
		fmt.Fprintf(&in, "commit %s\ncommitter Dev <dev@example.invalid> %d +0000\ndata 6\nturn 1\n", id.Ref(), 1_760_000_000+i)
		fmt.Fprintf(&in, "merge %s\n", head)
		file("mission.json", fmt.Sprintf(`{"v":1,"id":"%s","title":"fix the login of %d","created":"2026-11-20T12:00:00Z","sessions":["of-%s"]}`+"\n", id, i, id))
		file("turns/0000/000001.json", record)
		fmt.Fprintf(&in, "commit %s\ncommitter Dev <dev@example.invalid> %d +0000\ndata 5\nnotes\n", id.NotesRef(), 1_760_000_000+i)
		file(head, record)
	}
	if _, err := r.Feed(in.String(), "fast-import", "--quiet"); err != nil {
		b.Fatal(err)
	}
	r.Git("pack-refs", "--all")
	r.Git("repack", "-adq")
}

// BenchmarkMany measures the cost of 10,000 missions for those who use them, and for those who
// don't.
func BenchmarkMany(b *testing.B) {
	host := remotelab.NewHost(b)
	fill(b, host, 0, many)
	user := remotelab.CloneOf(b, "file://"+host.Dir) // has none of them
	clones := [2]*remotelab.Clone{remotelab.CloneOf(b, "file://"+host.Dir), remotelab.CloneOf(b, "file://"+host.Dir)}
	for _, c := range clones {
		fill(b, c.Repo, 0, many)
	}
	plain := remotelab.NewHost(b)
	other := remotelab.CloneOf(b, "file://"+plain.Dir)
	n := 0
	for name, c := range map[string]*remotelab.Clone{"without": other, "with": user, "with, here too": clones[0]} {
		b.Run("git fetch of the user/"+name, func(b *testing.B) {
			for b.Loop() {
				c.Git("fetch", "-q")
			}
		})
		b.Run("git status/"+name, func(b *testing.B) {
			for b.Loop() {
				c.Git("status", "--porcelain")
			}
		})
		b.Run("git push of the user/"+name, func(b *testing.B) {
			for b.Loop() {
				n++
				c.Git("push", "-q", "origin", "HEAD:refs/heads/branch-"+strconv.Itoa(n))
			}
		})
	}
	b.Run("bytes of a push", func(b *testing.B) {
		for b.Loop() { // resets reported metrics
		}
		for name, c := range map[string]*remotelab.Clone{"without": other, "with": user} {
			trace := gittest.TempDir(b) + "/trace"
			env := c.In(c.Dir)
			env.Env = append(env.Env[:len(env.Env):len(env.Env)], "GIT_TRACE_PACKET="+trace)
			env.Git("push", "-q", "--dry-run", "origin", "HEAD:refs/heads/main")
			data, err := os.ReadFile(trace)
			if err != nil {
				b.Fatal(err)
			}
			advertised := 0
			for line := range strings.Lines(string(data)) {
				if _, payload, ok := strings.Cut(line, "push< "); ok {
					advertised += len(payload) + 4
				}
			}
			b.ReportMetric(float64(advertised), "B-"+name)
		}
	})
	b.Run("push of one", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			n++
			clones[0].Turn(benchID(7), strconv.Itoa(n))
			b.StartTimer()
			clones[0].Push(benchID(7))
		}
	})
	b.Run("fetch of one", func(b *testing.B) {
		for b.Loop() {
			b.StopTimer()
			n++
			clones[0].Turn(benchID(7), strconv.Itoa(n))
			clones[0].Push(benchID(7))
			b.StartTimer()
			clones[1].Fetch(benchID(7))
		}
	})
	b.Run("push of all, nothing new", func(b *testing.B) {
		for b.Loop() {
			clones[0].PushAll()
		}
	})
	b.Run("fetch of all, nothing new", func(b *testing.B) {
		for b.Loop() {
			clones[0].Fetch()
		}
	})
	b.Run("missions", func(b *testing.B) {
		for b.Loop() {
			list, err := turns.Missions(b.Context(), clones[0].Open())
			if err != nil || len(list) != many {
				b.Fatal(len(list), err)
			}
		}
	})
	b.Run("list", func(b *testing.B) {
		for b.Loop() {
			if _, err := turns.List(b.Context(), clones[0].Open(), benchID(9)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("fetch of all, everything new", func(b *testing.B) {
		for b.Loop() {
		}
		began := time.Now()
		user.Fetch()
		b.ReportMetric(time.Since(began).Seconds(), "s")
	})
}
