//go:build unix

package kill

import (
	"flag"
	"os"
	"testing"
	"time"

	"gitagent/test/gittest"
)

var (
	kills = flag.Int("kills", 24, "how many processes are killed, in all scenarios together")
	seed  = flag.Uint64("seed", uint64(time.Now().UnixNano()), "what moments are drawn from")
)

// TestMain builds the programs, and puts them in front of PATH.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(gittest.Programs{M: m}.Run())
}
