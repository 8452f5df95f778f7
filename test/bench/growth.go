package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
)

// A size is what a git directory holds.
type size struct {
	bytes int64 // the files' sizes together
	disk  int64 // bytes of the disk that they take
	files int
}

func (r *repository) size() (s size) {
	check(filepath.WalkDir(filepath.Join(r.dir, ".git"), func(_ string, d fs.DirEntry, err error) error {
		check(err)
		info, err := d.Info()
		check(err)
		s.disk += onDisk(info)
		if !d.IsDir() {
			s.bytes += info.Size()
			s.files++
		}
		return nil
	}))
	return s
}

const growthFormat = "%-60s %12s %12s %8s\n"

func growthHeading() {
	fmt.Printf(growthFormat, "growth of .git a turn, KiB", "apparent", "on disk", "files")
}

// grown prints what a repository has grown by in some turns.
func grown(name string, from, to size, turns int) {
	per := func(n int64) string { return fmt.Sprintf("%.2f", float64(n)/1024/float64(turns)) }
	fmt.Printf(growthFormat, name, per(to.bytes-from.bytes), per(to.disk-from.disk), fmt.Sprintf("%+d", to.files-from.files))
}

const manyTurns = 1000

// thousand plays 1000 turns through the hooks, and as many rounds through the baseline, and
// measures then.
func thousand(l *lab) {
	t := l.newTwins("thousand", smallFiles)
	s := t.hook.newSession()
	hookFrom, baseFrom := t.hook.size(), t.base.size()
	growthHeading()
	for i := range manyTurns {
		t.round(s, true)
		if n := i + 1; n == 100 || n == manyTurns {
			grown(fmt.Sprintf("hook, %d turns with 2 files changed and 20 KiB of transcript", n), hookFrom, t.hook.size(), n)
			grown(fmt.Sprintf("baseline, %d rounds with 2 files changed", n), baseFrom, t.base.size(), n)
		}
	}
	t.raceOf(s, l.times(smallTimes/2), "1000 turns recorded", "0.80")
	growthHeading()
	t.hook.git("gc", "-q")
	grown("hook, the same after git gc", hookFrom, t.hook.size(), len(s.prompts))
	t.base.git("gc", "-q")
	grown("baseline, the same after git gc", baseFrom, t.base.size(), len(s.prompts))
	s.check(2)
}

// unchanged plays turns in which the agent only talks. The baseline finds nothing to commit.
func unchanged(l *lab) {
	t := l.newTwins("unchanged", smallFiles)
	s := t.hook.newSession()
	from := t.hook.size()
	var m rounds
	for range manyTurns {
		prompt := s.prompt()
		s.write()
		stop := s.stop()
		m.add(prompt, stop, t.base.commitAll())
	}
	heading()
	for _, from := range []int{0, manyTurns - 100} {
		name := fmt.Sprintf("nothing changed, turns %d to %d", from+1, from+100)
		compare("Stop, "+name, m.stops[from:from+100], m.bases[from:from+100], "")
		compare("UserPromptSubmit, "+name, m.prompts[from:from+100], m.bases[from:from+100], "")
	}
	s.reportBackground()
	growthHeading()
	s.grownUnchanged("as the hooks leave it", from)
	t.hook.git("gc", "-q")
	s.grownUnchanged("after git gc", from)
	s.check(0)
}

func (s *session) grownUnchanged(state string, from size) {
	now, segments := s.repo.size(), s.segments()
	grown("1000 turns without a change, "+state, from, now, manyTurns)
	now.bytes -= segments
	now.disk -= segments
	grown("  beside the segments; target 10", from, now, manyTurns)
}

// segments returns how many bytes of packs and object files the mission's transcript segments take.
func (s *session) segments() (total int64) {
	blobs := s.repo.git("ls-tree", "-r", "--format=%(objectname)", s.mission.Ref(), "transcript/")
	sizes := s.repo.feed(s.repo.dir, []byte(blobs+"\n"), "git", "cat-file", "--batch-check=%(objectsize:disk)")
	lines := strings.Split(sizes, "\n")
	for _, line := range lines {
		total += must(strconv.ParseInt(line, 10, 64))
	}
	if len(lines) != len(s.prompts) {
		check(fmt.Errorf("mission %s has %d segments of %d turns", s.mission, len(lines), len(s.prompts)))
	}
	return total
}

// transcript compares sessions that were long before recording began.
func transcript(l *lab) {
	sessions := []*session{l.longSession("long", 50<<20), l.longSession("short", 50<<10)}
	var m [2]rounds
	var from [2]size
	n := l.times(smallTimes / 2)
	const before = 1 + warmUp
	for i := range before + n {
		for k := range sessions {
			k = (k + i) % 2
			if i == before {
				from[k] = sessions[k].repo.size()
			}
			prompt, stop := sessions[k].turn()
			m[k].prompts, m[k].stops = append(m[k].prompts, prompt), append(m[k].stops, stop)
		}
	}
	heading()
	compare("Stop, 50 MB against 50 KB", m[0].stops[before:], m[1].stops[before:], "1.20")
	compare("UserPromptSubmit, 50 MB against 50 KB", m[0].prompts[before:], m[1].prompts[before:], "1.20")
	alone("the first Stop, which takes all 50 MB", m[0].stops[:1], "")
	growthHeading()
	for k, name := range []string{"50 MB and 20 KiB a turn", "50 KB and 20 KiB a turn"} {
		grown(name, from[k], sessions[k].repo.size(), n)
		sessions[k].check(2)
	}
}

// longSession begins a session whose transcript has that many bytes already.
func (l *lab) longSession(name string, bytes int) *session {
	s := l.newTwins(name, smallFiles).hook.newSession()
	for i := range bytes / turnSize {
		s.writer.begin(i + 1)
		s.write()
	}
	return s
}
