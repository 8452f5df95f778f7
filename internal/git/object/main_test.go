package object

import (
	"os"
	"testing"

	"gitagent/test/gittest"
)

// tested is the object format under test.
var tested = NewHash(gittest.Hash("1")).Format()

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }
