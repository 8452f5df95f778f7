package git

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"gitagent/test/gittest"
)

// Find stays on one file system, as git does unless it is told otherwise.
func TestFindOnOneFileSystem(t *testing.T) {
	gittest.Check(t)
	const inside = "GIT_AGENT_TEST_MOUNTED" // the directory, in a process that has mounted another file system there
	dir := os.Getenv(inside)
	if dir == "" {
		r := committed(t)
		if err := exec.Command("unshare", "-rm", "true").Run(); err != nil {
			t.Skipf("no mounts of our own: %v", err)
		}
		cmd := exec.Command("unshare", "-rm", "sh", "-c", `mount -t tmpfs none "$1" && mkdir "$1/deep" && exec "$2" -test.run="$3"`,
			"sh", mkdir(t, r.Dir, "d/mounted"), os.Args[0], "^"+t.Name()+"$")
		cmd.Env = append(os.Environ(), inside+"="+r.Dir+"/d/mounted/deep")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	for _, across := range []string{"", "0", "false", "1", "true"} {
		t.Setenv("GIT_DISCOVERY_ACROSS_FILESYSTEM", across)
		cmd := exec.Command("git", "rev-parse")
		cmd.Dir = dir
		git := cmd.Run()
		if _, err := Find(dir); errors.Is(err, ErrNotFound) != (git != nil) || (git == nil) != (across == "1" || across == "true") {
			t.Errorf("GIT_DISCOVERY_ACROSS_FILESYSTEM=%s: %v; git says %v", across, err, git)
		}
	}
}
