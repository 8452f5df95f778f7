// Package version returns the release of a program. It is the tag, which no
// file has: in a checkout the go command asks git, and `git archive` fills it
// into a file, as in archives of a release and a forge's downloads.
package version

import (
	_ "embed"
	"runtime/debug"
	"strings"
	"sync"
)

// archived is the commit and, if any, its tag or the last tag with the number
// of commits since, such as v1.2.3-4-g0123456789ab. In a checkout it is the
// placeholder for these.
//
//go:embed archived.txt
var archived string

// String returns the version: a release such as v1.2.3, or one that names the
// commit, or "devel" if that is unknown.
var String = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return of(archived, info)
})

// Program returns the writer that records name: git-agent v1.2.3, or "".
func Program() string {
	if v := String(); v != devel {
		return "git-agent " + v
	}
	return ""
}

const devel = "devel"

func of(archived string, info *debug.BuildInfo) string {
	if words := strings.Fields(archived); len(words) > 0 && !strings.HasPrefix(words[0], "$") {
		if len(words) > 1 {
			return words[1]
		}
		return devel + "-" + short(words[0])
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	built, modified := devel, ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			built += "-" + short(s.Value)
		case s.Key == "vcs.modified" && s.Value == "true":
			modified = "+dirty"
		}
	}
	return built + modified
}

// short returns a commit's hash as versions have it.
func short(hash string) string { return hash[:min(12, len(hash))] }
