package main

// A stage is a command of a ring. The long ones come first, and those that need most of a machine.
type stage struct {
	name    string
	ring    string // how much of each test runs: check or nightly; "" for as much as in make test
	command []string
}

// rings has the stages of each ring.
var rings = map[string][]stage{
	"test": {
		{"tests", "", goTest("./...")},
	},
	"check": {
		{"lint", "", []string{"make", "lint"}},
		{"cross", "", []string{"make", "cross"}},
		{"tests", "check", goTest("./...")},
		{"race", "", goTest(append([]string{"-race"}, concurrent...)...)},
		{"race at once", "check", goTest(append([]string{"-race", "-run", atOnce}, concurrent...)...)},
		{"clients", "check", goTest("-tags", "e2e", "./test/e2e/...")},
		{"sha256", "check", []string{"make", "matrix", "HASH=sha256"}},
		{"newest reftable", "check", []string{"make", "matrix", "GIT=newest", "REFS=reftable"}},
		{"newest reftable sha256", "check", []string{"make", "matrix", "GIT=newest", "REFS=reftable", "HASH=sha256"}},
	},
	"nightly": {
		{"tests", "nightly", goTest("./...")},
		{"race", "check", goTest(append([]string{"-race"}, concurrent...)...)},
		{"clients", "nightly", goTest("-tags", "e2e", "./test/e2e/...")},
		{"kills", "nightly", []string{"make", "kills"}},
		{"faults", "nightly", []string{"make", "faults"}},
		{"hostile", "nightly", []string{"make", "hostile"}},
		{"fuzz", "nightly", []string{"make", "fuzz"}},
	},
}

// concurrent has the packages that start goroutines. The race detector, which makes a test two to three times as long,
// has nothing to look at elsewhere.
var concurrent = []string{
	"./cmd/...", "./internal/cmdline", "./internal/erase", "./internal/git", "./internal/include", "./internal/provenance",
	"./internal/repair", "./internal/snapshot", "./internal/terminal", "./internal/transaction", "./turns",
}

// atOnce matches the tests in which several do something at once.
const atOnce = "AtOnce|Twice|Concurrent|Together|Beside"

func goTest(args ...string) []string { return append([]string{"go", "test"}, args...) }
