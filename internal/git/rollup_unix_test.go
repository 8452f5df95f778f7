//go:build unix

package git

import (
	crand "crypto/rand"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// The process is killed at any moment, with or without its git, while packs are rolled up or old
// ones removed.
func TestRollUpKilled(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	if _, err := exec.LookPath(os.Args[0]); err != nil {
		t.Fatal(err)
	}
	r := gittest.New(t)
	repo := find(t, r)
	var hashes []object.Hash
	longest := 50 * time.Millisecond // how long one takes; the first that is not killed measures it
	for n := range gittest.Size(40, 12) {
		for i := range maxSmallPacks + 1 {
			hashes = append(hashes, flushed(t, repo, fmt.Sprint("round ", n, " pack ", i), strings.Repeat(fmt.Sprint(n, i), 500))...)
		}
		if n%3 == 0 && isFile(agentDir(repo).Path(oldPacksFile)) {
			anHourLater(t, repo)
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), rollUpDir+"="+r.Dir)
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
		}
	}
	present(t, r, hashes)
	for range maxSmallPacks + 1 {
		hashes = append(hashes, flushed(t, repo, crand.Text())...)
	}
	rollUpTwice(t, repo) // the dead process holds no lock
	present(t, r, hashes)
	if RollUpDue(repo) {
		t.Error("due again")
	}
	if names, _ := rollable(repo); len(names) > maxSmallPacks {
		t.Errorf("%d small packs are left", len(names))
	}
}
