//go:build lint

package lint

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestPlatforms: everything, tests and dependencies as well, has the right types on the platforms that CI does not run
// on. From source that takes a twentieth of what compiling takes: see make cross, which make nightly runs.
func TestPlatforms(t *testing.T) {
	for _, platform := range []string{"darwin", "windows"} {
		c := &packages.Config{
			Mode:  packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedTypes | packages.NeedSyntax,
			Dir:   top,
			Env:   append(os.Environ(), "GOOS="+platform, "CGO_ENABLED=0"),
			Tests: true,
		}
		all, err := packages.Load(c, "./...")
		if err != nil {
			t.Fatal(err)
		}
		packages.Visit(all, nil, func(p *packages.Package) {
			for _, e := range p.Errors {
				t.Errorf("%s: %v", platform, e)
			}
		})
	}
}
