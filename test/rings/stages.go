package main

// rings has the stages of each ring. The rings are those of test/gittest: the variable that they set says how much
// of a test runs.
var rings = map[string][]stage{
	"test": {
		{"tests", []string{"go", "test", "./..."}},
	},
	"check": {
		{"tests", []string{"go", "test", "./..."}},
	},
	"nightly": {
		{"tests", []string{"go", "test", "./..."}},
	},
}
