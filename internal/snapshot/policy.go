package snapshot

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"gitagent/internal/record"
	"gitagent/internal/scrub"
)

// A Policy says which untracked paths stay out of snapshots. Tracked paths are
// always taken, because the user wants them in the repository.
//
// What was purged is cut out of any file that is a text, and [scrub.Mark] takes
// its place; see [record.WhyPurged].
type Policy struct {
	MaxFileSize       int64         // bytes of one untracked file
	MaxUntrackedFiles int           // how many
	MaxUntrackedSize  int64         // bytes of all untracked files
	Exclude           []string      // gitignore patterns beyond the repository's
	Purged            *scrub.Finder // what must not come back, or nil
	// Branches begins the full names of branches to which the trees go, or is
	// "". Who merges one would not notice a mark in it: while HEAD is on such a
	// branch, a file with what was purged stays as staged, or out as a whole.
	Branches string
}

type untracked struct {
	path string
	size int64 // bytes
}

// Excludes returns what reports whether patterns leave a new file out.
func (p Policy) Excludes() func(file string) bool {
	patterns := parsePatterns(p.Exclude)
	return func(file string) bool { return excluded(patterns, file) }
}

// apply returns the files to take and those to skip.
func (p Policy) apply(files []untracked) (take []untracked, skipped []record.Skip) {
	excluded := p.Excludes()
	for _, f := range files {
		switch {
		case strings.HasSuffix(f.path, "/"):
			skipped = append(skipped, record.Skip{Path: f.path, Why: record.WhyRepository})
		case Secret(f.path):
			skipped = append(skipped, record.Skip{Path: f.path, Why: record.WhySecret})
		case excluded(f.path):
			skipped = append(skipped, record.Skip{Path: f.path, Why: record.WhyExcluded})
		case f.size > p.MaxFileSize:
			skipped = append(skipped, record.Skip{Path: f.path, Why: record.WhySize})
		default:
			take = append(take, f)
		}
	}
	take, dropped := fit(take, int64(p.MaxUntrackedFiles), func(untracked) int64 { return 1 }, record.WhyTooMany)
	skipped = append(skipped, dropped...)
	take, dropped = fit(take, p.MaxUntrackedSize, func(f untracked) int64 { return f.size }, record.WhyTooMuch)
	return take, append(skipped, dropped...)
}

// fit leaves out the heaviest directories until the rest weighs at most limit.
// If a nested one is enough, it goes alone: build/cache, not build.
// Files at the top go one by one.
func fit(files []untracked, limit int64, weight func(untracked) int64, why string) (take []untracked, skipped []record.Skip) {
	top := &node{below: make(map[string]*node)}
	for _, f := range files {
		top.add(f.path, weight(f))
	}
	excess := top.weight - limit
	if excess <= 0 {
		return files, nil
	}
	left := make(map[string]bool) // names as in Skip
	for _, n := range top.heaviest() {
		if excess <= 0 {
			break
		}
		for n.weight > excess {
			below := n.heaviest()
			i := slices.IndexFunc(below, func(m *node) bool { return m.below != nil && m.weight >= excess })
			if i < 0 {
				break
			}
			n = below[i]
		}
		left[n.name] = true
		skipped = append(skipped, record.Skip{Path: n.name, Why: why})
		excess -= n.weight
	}
	for _, f := range files {
		if !leftOut(left, f.path) {
			take = append(take, f)
		}
	}
	return take, skipped
}

func leftOut(left map[string]bool, name string) bool {
	if left[name] {
		return true
	}
	for i := range len(name) {
		if name[i] == '/' && left[name[:i+1]] {
			return true
		}
	}
	return false
}

// A node is a file or a directory with all below it.
type node struct {
	name   string // the path; a directory ends in a slash
	weight int64
	below  map[string]*node // nil for a file
}

func (n *node) add(name string, weight int64) {
	n.weight += weight
	rest := name[len(n.name):]
	i := strings.IndexByte(rest, '/')
	if i < 0 {
		n.below[name] = &node{name: name, weight: weight}
		return
	}
	dir := name[:len(n.name)+i+1]
	if n.below[dir] == nil {
		n.below[dir] = &node{name: dir, below: make(map[string]*node)}
	}
	n.below[dir].add(name, weight)
}

func (n *node) heaviest() []*node {
	return slices.SortedFunc(maps.Values(n.below), func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.name, b.name))
	})
}

// Secret reports whether a file of this name usually holds credentials. A
// false alarm costs one untracked file of a snapshot, which names it.
func Secret(name string) bool {
	name = strings.ToLower(name)
	base := path.Base(name)
	if isExample(base) {
		return false
	}
	if base == ".env" || base == ".envrc" || strings.HasPrefix(base, ".env.") || strings.HasSuffix(base, ".env") {
		return true
	}
	switch base {
	case ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials", ".htpasswd", ".pgpass", ".my.cnf",
		".vault-token", ".dockercfg", ".dockerconfigjson", ".boto", ".s3cfg", ".terraformrc",
		"credentials", "credentials.json", "credentials.toml", "credentials.yml", "credentials.yaml",
		"client_secret.json", "secrets.json", "secrets.toml", "secrets.yml", "secrets.yaml", "secret.yml", "secret.yaml",
		"service-account.json", "service_account.json", "application_default_credentials.json",
		"master.key", "terraform.tfstate", "terraform.tfstate.backup", "kubeconfig", "wallet.dat",
		"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk":
		return true
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12", ".pfx", ".p8", ".jks", ".keystore", ".kdbx", ".ppk", ".ovpn", ".asc", ".gpg", ".pkcs12", ".tfvars":
		return true
	}
	return strings.HasSuffix(name, ".docker/config.json") || strings.HasSuffix(name, ".kube/config") ||
		strings.HasPrefix(base, "client_secret_") && strings.HasSuffix(base, ".json")
}

// isExample reports whether base names a template that is safe to commit.
func isExample(base string) bool {
	for _, word := range []string{"example", "sample", "template", "dist"} {
		if strings.HasSuffix(base, "."+word) || strings.HasSuffix(base, "-"+word) || strings.Contains(base, "."+word+".") {
			return true
		}
	}
	return false
}

// A pattern is one of gitignore(5). go-git's need encoding/gob, which costs 0.2
// ms at every start.
type pattern struct {
	parts         []string // of the path; "**" is any number of them
	include, dirs bool     // !pattern, pattern/
}

// parsePatterns parses gitignore lines.
func parsePatterns(lines []string) []pattern {
	var patterns []pattern
	for _, line := range lines {
		var p pattern
		if trimmed := strings.TrimRight(line, " "); strings.HasSuffix(trimmed, `\`) {
			line = trimmed + " " // an escaped blank
		} else {
			line = trimmed
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		line, p.include = strings.CutPrefix(line, "!")
		line, p.dirs = strings.CutSuffix(line, "/")
		if line == "" {
			continue
		}
		if !strings.Contains(line, "/") {
			line = "**/" + line
		}
		line = strings.ReplaceAll(strings.TrimPrefix(line, "/"), "[!", "[^")
		p.parts = strings.Split(line, "/")
		patterns = append(patterns, p)
	}
	return patterns
}

// excluded reports whether the last pattern that matches a file, or a directory
// above it, excludes it.
func excluded(patterns []pattern, file string) bool {
	names := strings.Split(file, "/")
	for n := 1; n <= len(names); n++ {
		for _, p := range slices.Backward(patterns) {
			if (n < len(names) || !p.dirs) && p.match(names[:n]) {
				if !p.include {
					return true
				}
				break
			}
		}
	}
	return false
}

// match compares name by name. After a mismatch the last "**" takes one more.
func (p pattern) match(names []string) bool {
	next, anything, taken := 0, -1, 0
	for i := 0; i < len(names); {
		switch {
		case next < len(p.parts) && p.parts[next] == "**":
			anything, taken = next, i
			next++
		case next < len(p.parts) && fits(p.parts[next], names[i]):
			next++
			i++
		case anything >= 0:
			taken++
			next, i = anything+1, taken
		default:
			return false
		}
	}
	return next == len(p.parts)
}

func fits(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}
