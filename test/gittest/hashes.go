package gittest

import (
	"os"
	"path/filepath"
	"strings"
)

// Format is the object format under test: the one that git gives new
// repositories, by GIT_DEFAULT_HASH.
func Format() string {
	if os.Getenv("GIT_DEFAULT_HASH") == "sha256" {
		return "sha256"
	}
	return "sha1"
}

// Digits is how many hex digits a hash of it has.
func Digits() int {
	if Format() == "sha256" {
		return 64
	}
	return 40
}

// Hash is a made-up hash of it: the given digits, as often as there is room.
func Hash(digits string) string { return strings.Repeat(digits, Digits())[:Digits()] }

// Vectors is the directory of the test vectors in dir that are for it.
func Vectors(dir string) string {
	if Format() == "sha256" {
		return filepath.Join(dir, "sha256")
	}
	return dir
}
