package main

import (
	"fmt"
	"strings"
)

// whoseMissions is how many missions there are, by each.
const whoseMissions = 1000

// whose measures what looks at all missions, where this clone has written them and where others have, against what git
// takes to look at all objects.
func whose(l *lab) {
	heading()
	for _, c := range []struct {
		name string
		own  int
	}{{"own", whoseMissions}, {"untrusted", 0}} {
		r := l.shared("whose-" + c.name)
		r.populate(whoseMissions, c.own)
		r.git("repack", "-adq", "--window=0")
		n := r.times(3)
		var base series
		for range n {
			_, fsck := r.timed(r.dir, nil, nil, "git", "fsck", "--no-progress")
			_, list := r.timed(r.dir, nil, nil, "git", "rev-list", "--objects", "--all")
			base = append(base, sample{wall: fsck.wall + list.wall, cpu: fsck.cpu + list.cpu})
		}
		for _, x := range []struct {
			stdin string
			args  []string
		}{
			{"", []string{"purge", "--turn", string(missionID(7)) + "/1", "--dry-run"}},
			{"correct-horse-battery-staple", []string{"purge", "--fixed", "--dry-run"}},
			{"", []string{"doctor", "--repair", "--dry-run"}},
			{"", []string{"list", "--all", "--trusted", "-n", "20"}},
			{"", []string{"blame", path(7)}},
			{"", []string{"search", "--trusted", "zyzzyva"}},
		} {
			var s series
			for range n {
				s = append(s, r.answer(x.stdin, x.args...))
			}
			compare(fmt.Sprintf("%s, %d missions, %s", strings.Join(x.args[:2], " "), whoseMissions, c.name), s, base, "5")
		}
	}
}

// answer measures a command that may find nothing.
func (r *repository) answer(stdin string, args ...string) sample {
	_, s := r.timed(r.dir, nil, []byte(stdin), "sh", append([]string{"-c", `"$@" || test $? = 3`, "sh", r.program}, args...)...)
	return s
}
