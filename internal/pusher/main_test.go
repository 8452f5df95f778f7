package pusher_test

import (
	"os"
	"testing"

	"gitagent/test/remotelab"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(remotelab.Run(m)) }
