//go:build unix

package hosts_test

import (
	"os"
	"testing"

	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Programs{M: m}.Run()) }
