package config

import (
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestWorst: no configuration that comes with a repository takes long.
func TestWorst(t *testing.T) {
	gittest.Check(t)
	worst.Hold(t, maxFile, append(strings.Fields(`a = [ ] [a] [[a]] {a= } "a" 'a' """ ''' \u0041 \ # , 1 1_ 1e9 1979-05-27T07:32:00Z true inf a.b a.a.a. a="b" a=1 a=[`), "\n", " ", "=1\n", "a=[[1],", "a = "), func(text string) {
		if checkDepth(text) == nil {
			_, _ = parse(text)
		}
	})
}
