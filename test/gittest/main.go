package gittest

import (
	"os"
	"strings"
)

// Tests are a package's tests, run in the environment of [Env] with an empty home directory, so that
// what they do in their own process sees nothing of the developer's configuration. Signals end what they start,
// whatever whoever started them ignores:
//
//	func TestMain(m *testing.M) { os.Exit(gittest.Tests{m}.Run()) }
type Tests struct{ M interface{ Run() int } }

// Run runs them and returns the exit status.
func (t Tests) Run() int {
	heed()
	if err := leavePassed(); err != nil {
		panic(err)
	}
	home, err := os.MkdirTemp("", "home")
	if err != nil {
		panic(err)
	}
	for _, v := range Env(home) {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	code := t.M.Run()
	_ = os.RemoveAll(home)
	return code
}
