package objectpurge

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"testing"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// eraseDir, if set in the environment, makes the test program erase the objects that its standard input
// names from a repository and exit, so that a test can kill it.
const eraseDir = "GITTEST_ERASE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(eraseDir); dir != "" {
		doomed := make(map[object.Hash]bool)
		for in := bufio.NewScanner(os.Stdin); in.Scan(); {
			doomed[object.NewHash(in.Text())] = true
		}
		repo, err := git.Find(dir)
		if err == nil {
			_, err = Objects(context.Background(), repo, doomed, nil)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(gittest.Tests{M: m}.Run())
}
