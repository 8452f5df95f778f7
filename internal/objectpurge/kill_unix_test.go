//go:build unix

package objectpurge

import (
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/test/gittest"
)

var kills = flag.Int("kills", 0, "how often each kind of repository is killed")

// TestObjectsKilled: the process is killed at any moment, with or without its git; then the next one
// completes it, and nothing else is lost.
func TestObjectsKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	program, err := os.Executable()
	gittest.Must(t, err)
	rounds := gittest.Size(3, 1)
	if *kills > 0 {
		rounds = *kills
	}
	for _, tt := range shapes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if *kills == 0 {
				gittest.Sample(t)
			}
			longest := 100 * time.Millisecond // how long one takes; the first that is not killed measures it
			done := 0
			for n := range rounds {
				l := newLab(t, tt.shape)
				var names strings.Builder
				for h := range l.doomed {
					names.WriteString(h.String() + "\n")
				}
				for range 1 + n%3 { // killed again while it completes
					cmd := exec.Command(program)
					cmd.Env = append(os.Environ(), eraseDir+"="+l.Dir)
					cmd.Stdin = strings.NewReader(names.String())
					cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
					gittest.Must(t, cmd.Start())
					target := cmd.Process.Pid
					if n%2 == 0 {
						target = -target // and its git
					}
					start := time.Now()
					timer := time.AfterFunc(rand.N(longest), func() { _ = syscall.Kill(target, syscall.SIGKILL) })
					if err := cmd.Wait(); err == nil && timer.Stop() {
						longest = time.Since(start)
						done++
					}
				}
				l.erase()
				l.check()
			}
			t.Logf("%d of %d were done before they were killed", done, rounds)
		})
	}
}
