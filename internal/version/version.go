// Package version says which release of git-agent a program is.
//
// It comes from the tag, and nobody writes it down. A program that is built in a checkout knows it from
// the go command, which asks git. One that is built from what `git archive` has packed, as the archives of
// a release and a forge's downloads are, finds it in a file that git fills in then.
package version

import (
	_ "embed"
	"runtime/debug"
	"strings"
	"sync"
)

// archived is what `git archive` makes of the file: the commit, and its tag or the last one before it with
// the number of commits since, such as v1.2.3-4-g0123456789ab, if there is one. In a checkout it says what
// git is to fill in.
//
//go:embed archived.txt
var archived string

// String is the version: a release such as v1.2.3, else one that names the commit which was built, or
// "devel" if not even that is known.
var String = sync.OnceValue(func() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return of(archived, info)
})

// Program is what records name as their writer, such as git-agent v1.2.3; "" if the version is not known.
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

// short is a commit's hash as versions have it.
func short(hash string) string { return hash[:min(12, len(hash))] }
