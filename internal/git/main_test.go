package git

import (
	"context"
	"fmt"
	"os"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/test/gittest"
)

// rollUpDir, if set in the environment, makes the test program roll up the packs of a repository
// and exit, so that a test can kill it.
const rollUpDir = "GITTEST_ROLL_UP"

// tested is the object format under test.
var tested = object.NewHash(gittest.Hash("1")).Format()

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) {
	if dir := os.Getenv(rollUpDir); dir != "" {
		repo, err := Find(dir)
		if err == nil {
			err = RollUp(context.Background(), repo)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(gittest.Tests{M: m}.Run())
}
