//go:build unix

package same

import (
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// check ends the test: places are made of what works.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

// gitRun runs a script of the user's.
func gitRun(dir string, env []string, script string) error {
	return feed(dir, env, "", "sh", "-e", "-c", script)
}

func feed(dir string, env []string, stdin string, argv ...string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env, cmd.Stdin = dir, env, strings.NewReader(stdin)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%.200q: %w\n%s", argv, err, out)
	}
	return nil
}

func output(dir string, env []string, argv ...string) string {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.Output()
	check(err)
	return string(out)
}

func rfc3339(unix int64) string { return time.Unix(unix, 0).UTC().Format(time.RFC3339) }
