package remote

import (
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Guards returns the refspecs that keep fetches of a remote, as it is
// configured, from moving or deleting our refs here, such as those of a mirror
// would; none if they would not. branches is the prefix of missions' branches.
// What is typed behind `git fetch` is not known.
func Guards(config git.Config, name, branches string) (guards []string) {
	prunes := config.Bool("fetch.prune")
	if key := "remote." + name + ".prune"; config.Get(key) != "" {
		prunes = config.Bool(key)
	}
	specs := config["remote."+name+".fetch"]
	for _, ours := range []string{record.ID("").Ref(), ledger.ArchiveRef, record.ID("").NotesRef(), branches} {
		for _, spec := range specs {
			spec, forced := strings.CutPrefix(spec, "+")
			src, dst, ok := strings.Cut(spec, ":")
			if !ok || strings.HasPrefix(spec, "^") || !forced && !prunes {
				continue
			}
			if source := sourceOf(src, dst, ours); source != "" && !slices.Contains(specs, "^"+source) && !slices.Contains(guards, "^"+source) {
				guards = append(guards, "^"+source)
			}
		}
	}
	return guards
}

// sourceOf returns what a refspec fetches into our refs, those that begin with a
// prefix, "" for none.
func sourceOf(src, dst, ours string) string {
	before, _, pattern := strings.Cut(dst, "*")
	from, _, _ := strings.Cut(src, "*")
	switch {
	case !pattern && strings.HasPrefix(dst, ours):
		return src
	case !pattern:
		return ""
	case strings.HasPrefix(ours, before): // it takes more than ours
		wide := ours
		for _, all := range []string{"refs/agent/", "refs/notes/agent/"} {
			if strings.HasPrefix(ours, all) && strings.HasPrefix(all, before) {
				wide = all
			}
		}
		return from + wide[len(before):] + "*"
	case strings.HasPrefix(before, ours):
		return src
	}
	return ""
}
