package cmdline

import (
	"os"
	"testing"

	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }
