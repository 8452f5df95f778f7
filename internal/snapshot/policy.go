package snapshot

import (
	"path"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"
)

// A Policy says which untracked paths stay out of snapshots. What is tracked is
// always taken: the user has decided that it belongs to the repository.
type Policy struct {
	MaxFileSize       int64    // bytes of one untracked file
	MaxUntrackedFiles int      // number of untracked files
	MaxUntrackedSize  int64    // bytes of all untracked files together
	Exclude           []string // gitignore patterns beyond the repository's own
}

// A Skip is a path that a snapshot leaves out, and why.
type Skip struct {
	Path string `json:"path"` // a directory ends in a slash
	Why  string `json:"why"`  // one of the Why constants
}

// Why a path was left out.
const (
	WhySize       = "size"       // larger than Policy.MaxFileSize
	WhySecret     = "secret"     // its name is one of a file that holds credentials
	WhyExcluded   = "excluded"   // matches Policy.Exclude
	WhyTooMany    = "too many"   // the directory was left out to stay within Policy.MaxUntrackedFiles
	WhyTooMuch    = "too much"   // the same for Policy.MaxUntrackedSize
	WhyRepository = "repository" // a repository inside the worktree that is not a submodule
	WhySubmodule  = "submodule"  // a submodule with changes that are not committed in it
	WhyFilter     = "filter"     // git's filter for it failed or is missing
	WhyUnreadable = "unreadable" // could not be read
	WhyRefused    = "refused"    // git stores nothing under such a name
)

// An untracked file as the policy sees it.
type untracked struct {
	path string
	size int64 // bytes
}

// apply splits files into those to take and those to skip.
func (p Policy) apply(files []untracked) (take []untracked, skipped []Skip) {
	exclude := p.matcher()
	for _, f := range files {
		switch {
		case strings.HasSuffix(f.path, "/"):
			skipped = append(skipped, Skip{f.path, WhyRepository})
		case secretName(f.path):
			skipped = append(skipped, Skip{f.path, WhySecret})
		case exclude != nil && exclude.Match(strings.Split(f.path, "/"), false):
			skipped = append(skipped, Skip{f.path, WhyExcluded})
		case f.size > p.MaxFileSize:
			skipped = append(skipped, Skip{f.path, WhySize})
		default:
			take = append(take, f)
		}
	}
	take, dropped := fit(take, int64(p.MaxUntrackedFiles), func(untracked) int64 { return 1 }, WhyTooMany)
	skipped = append(skipped, dropped...)
	take, dropped = fit(take, p.MaxUntrackedSize, func(f untracked) int64 { return f.size }, WhyTooMuch)
	return take, append(skipped, dropped...)
}

func (p Policy) matcher() gitignore.Matcher {
	if len(p.Exclude) == 0 {
		return nil
	}
	patterns := make([]gitignore.Pattern, 0, len(p.Exclude))
	for _, e := range p.Exclude {
		patterns = append(patterns, gitignore.ParsePattern(e, nil))
	}
	return gitignore.NewMatcher(patterns)
}

// fit leaves out the heaviest directories until what remains weighs at most limit.
// Of the directories whose loss suffices it takes the deepest one, so that
// build/cache goes and build stays; files at the top go one by one, heaviest first.
func fit(files []untracked, limit int64, weight func(untracked) int64, why string) (take []untracked, skipped []Skip) {
	for {
		var total int64
		children := make(map[string]map[string]int64) // directory to the weights of what lies directly in it
		for _, f := range files {
			w := weight(f)
			total += w
			for name := f.path; name != "."; {
				dir := path.Dir(strings.TrimSuffix(name, "/"))
				if children[dir] == nil {
					children[dir] = make(map[string]int64)
				}
				children[dir][name] += w
				if name = dir; name != "." {
					name += "/"
				}
			}
		}
		if total <= limit {
			return files, skipped
		}
		victim := heaviest(children["."])
		for strings.HasSuffix(victim, "/") {
			next := heaviest(children[strings.TrimSuffix(victim, "/")])
			if !strings.HasSuffix(next, "/") || children[strings.TrimSuffix(victim, "/")][next] < total-limit {
				break
			}
			victim = next
		}
		skipped = append(skipped, Skip{victim, why})
		kept := make([]untracked, 0, len(files))
		for _, f := range files {
			if f.path != victim && !(strings.HasSuffix(victim, "/") && strings.HasPrefix(f.path, victim)) {
				kept = append(kept, f)
			}
		}
		files = kept
	}
}

// heaviest returns the name with the greatest weight; of equal ones the first.
func heaviest(weights map[string]int64) string {
	names := make([]string, 0, len(weights))
	for n := range weights {
		names = append(names, n)
	}
	sort.Strings(names)
	best := ""
	for _, n := range names {
		if best == "" || weights[n] > weights[best] {
			best = n
		}
	}
	return best
}
