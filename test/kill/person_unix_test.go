//go:build unix && !linux

package kill

import (
	"os"
	"testing"
)

// persons are none: terminals are made otherwise here.
func persons(int) []scenario { return nil }

func terminal(*testing.T, string) *os.File { return nil }
