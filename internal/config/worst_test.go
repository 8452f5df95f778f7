package config

import (
	"fmt"
	"strings"
	"testing"

	"gitagent/test/gittest"
	"gitagent/test/worst"
)

// TestWorst: no configuration takes long, neither one that comes with a repository nor the user's own.
func TestWorst(t *testing.T) {
	gittest.Check(t)
	pieces := append(strings.Fields(`a = [ ] [a] [[a]] {a= } "a" 'a' """ ''' \u0041 \ # , 1 1_ 1e9 1979-05-27T07:32:00Z true inf a.b a.a.a. a="b" a=1 a=[`), "\n", " ", "=1\n", "a=[[1],", "a = ")
	read := func(text string) {
		if checkDepth(text) == nil {
			_, _ = parse(text)
		}
	}
	for _, size := range []int{maxFile, maxUserFile} {
		worst.Hold(t, size, pieces, read)
	}
	for _, name := range []string{"a%d=1\n", "[a%d]\n", "[[a%d.a]]\n", "a%d" + strings.Repeat(".a", 30) + "=1\n", "[a%d" + strings.Repeat(".a", 30) + "]\n"} {
		var text strings.Builder
		for n := 0; text.Len() < maxUserFile-500; n++ {
			fmt.Fprintf(&text, name, n)
		}
		worst.Try(t, name, func() { read(text.String()) })
	}
}
