package owners

import (
	"os"
	"testing"

	"gitagent/test/gittest"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }
