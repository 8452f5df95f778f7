package main

// A stage is a command of a ring.
type stage struct {
	name    string
	ring    string // how much of each test runs: check or nightly; "" for as much as in make test
	git     string // which git runs: newest, if .ci/git-newest has built it on this machine; "" for the one in PATH
	command []string
}

// rings has the stages of each ring.
//
// The git in PATH, which is the oldest that we support where CI runs, works in files and with SHA-1 unless a stage says
// otherwise. One stage of the matrix has what is farthest from that. Those of make nightly are chosen so that each pair
// of a git, a format of refs and a hash that can be had is in one: the oldest git has no reftables.
var rings = map[string][]stage{
	"test": {
		{name: "tests", command: goTest("./...")},
	},
	"check": {
		{name: "lint", command: []string{"make", "lint"}},
		{name: "tests", ring: "check", command: goTest("./...")},
		{name: "race", git: newest, command: goTest(append([]string{"-race"}, started...)...)},
		{name: "race of commands", ring: "check", git: newest, command: goTest(append([]string{"-race", "-run", atOnce}, concurrent...)...)},
		{name: "clients", ring: "check", command: goTest("-tags", "e2e", "-count=1", "./test/e2e/...")},
		{name: "newest reftable sha256", ring: "check", git: newest, command: []string{"make", "matrix", "REFS=reftable", "HASH=sha256"}},
	},
	"nightly": {
		{name: "tests", ring: "nightly", command: goTest("./...")},
		{name: "race", ring: "check", command: goTest(append([]string{"-race"}, concurrent...)...)},
		{name: "clients", ring: "nightly", command: goTest("-tags", "e2e", "-count=1", "./test/e2e/...")},
		{name: "cross", command: []string{"make", "cross"}},
		{name: "kills", ring: "nightly", command: []string{"make", "kills"}},
		{name: "neighbours", ring: "nightly", command: []string{"make", "neighbours"}},
		{name: "neighbours sha256", ring: "nightly", command: []string{"make", "neighbours", "HASH=sha256"}},
		{name: "neighbours newest", ring: "nightly", git: newest, command: []string{"make", "neighbours"}},
		{name: "neighbours newest sha256", ring: "nightly", git: newest, command: []string{"make", "neighbours", "HASH=sha256"}},
		{name: "neighbours newest reftable", ring: "nightly", git: newest, command: []string{"make", "neighbours", "REFS=reftable"}},
		{name: "neighbours newest reftable sha256", ring: "nightly", git: newest, command: []string{"make", "neighbours", "REFS=reftable", "HASH=sha256"}},
		{name: "sha256", ring: "check", command: []string{"make", "matrix", "HASH=sha256", "WHOLE=yes"}},
		{name: "newest reftable", ring: "check", git: newest, command: []string{"make", "matrix", "REFS=reftable", "WHOLE=yes"}},
		{name: "newest reftable sha256", ring: "check", git: newest, command: []string{"make", "matrix", "REFS=reftable", "HASH=sha256", "WHOLE=yes"}},
		{name: "readers newest", ring: "nightly", git: newest, command: goTest("-count=1", "./test/readers")},
		{name: "faults", ring: "nightly", command: []string{"make", "faults"}},
		{name: "hostile", ring: "nightly", command: []string{"make", "hostile"}},
		{name: "fuzz", ring: "nightly", command: []string{"make", "fuzz"}},
	},
}

const newest = "newest"

// started has the packages that start goroutines, but for the programs. The race detector, which makes a test two to
// three times as long, has nothing to look at elsewhere.
var started = []string{
	"./internal/cmdline", "./internal/objectpurge", "./internal/git", "./internal/copyignored", "./internal/snapshot", "./internal/terminal",
	"./internal/missionstore", "./turns",
}

// concurrent has all that start some, themselves or by what only scripts come to.
var concurrent = append([]string{
	"./cmd/...", "./internal/blame", "./internal/checkout", "./internal/command", "./internal/finisher", "./internal/hook",
	"./internal/recorder",
}, started...)

// atOnce matches the tests in which several do something at once, and a script that leads to each goroutine of a command.
const atOnce = "AtOnce|Twice|Concurrent|Together|Beside|TestPluginEnd|" +
	"^TestScripts$/^(comparecheck|include-stranger|page|windows|grep|bisect-terminal|init-ask|why-commits|doctor-repair|search|all-repositories|visit)$"

func goTest(args ...string) []string { return append([]string{"go", "test"}, args...) }
