// Package except is patterns of repositories, as in git's includeIf:
//
//	gitdir:~/clients/secret/
//	gitdir/i:/srv/*/private/
//	hasconfig:remote.*.url:git@corp.example:**
//
// They say where nothing is recorded. So where a pattern could be taken in two
// ways, it matches: whatever git matches, and more. ** matches slashes wherever
// it stands, a directory matches with what lies in it, by whatever path it was
// reached, and without regard to case where the file system has none, as does a
// URL.
package except

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"unicode/utf8"
)

// A Pattern is one that [Parse] has read.
type Pattern struct {
	url  bool
	any  func() *regexp.Regexp // of a whole URL, or path with slashes
	dir  string                // that a path's pattern begins with, if it has wildcards only below
	in   string                // the pattern of what follows dir and a slash
	fold bool                  // letters match in either case
}

// A Place is a repository, as patterns see it.
type Place struct {
	Paths      []string // absolute, of its git directories, of .git and the worktree
	URLs       []string // of its remotes, in every form that git uses
	IgnoreCase bool     // core.ignoreCase
}

const urls = "hasconfig:remote.*.url:"

// Parse reads a pattern. ./ begins a path in dir, the directory of the file that
// has the pattern, and ~/ one in home.
func Parse(text, dir, home string) (*Pattern, error) {
	if glob, ok := strings.CutPrefix(text, urls); ok {
		any, err := compile(glob, true, "")
		return &Pattern{url: true, any: any}, err
	}
	keyword, glob, _ := strings.Cut(text, ":")
	if keyword != "gitdir" && keyword != "gitdir/i" {
		return nil, errors.New("it has none of gitdir:, gitdir/i: and " + urls + " at its beginning")
	}
	glob = filepath.ToSlash(glob)
	for i, part := range strings.Split(glob, "/") {
		if part == ".." || part == "." && (i > 0 || glob == ".") {
			return nil, fmt.Errorf("to git %s is a name like others, which no path has; write the path without it", part)
		}
	}
	base := ""
	switch {
	case strings.HasPrefix(glob, "~/"):
		if base, glob = home, glob[1:]; home == "" {
			return nil, errors.New("there is no home directory for ~/ to be")
		}
	case strings.HasPrefix(glob, "./"):
		base, glob = dir, glob[1:]
	case strings.HasPrefix(glob, "~"):
		return nil, fmt.Errorf("%q names a home directory; write its path, or ~/ for your own", glob)
	case glob != "" && !strings.HasPrefix(glob, "/") && !filepath.IsAbs(filepath.FromSlash(glob)):
		glob = "**/" + glob
	}
	if strings.HasSuffix(glob, "/") {
		glob += "**"
	}
	fold := keyword == "gitdir/i"
	any, err := compile(quote(filepath.ToSlash(base))+glob, fold, below)
	if err != nil {
		return nil, err
	}
	p := &Pattern{any: any, fold: fold}
	literal := glob
	if i := strings.IndexAny(glob, `*?[\`); i >= 0 {
		literal = glob[:i]
	}
	if cut := strings.LastIndexByte(literal, '/'); cut >= 0 && (base != "" || cut > 0) {
		p.dir = filepath.FromSlash(base + glob[:cut])
		p.in = glob[cut+1:]
	}
	return p, nil
}

// Matches reports whether a pattern matches a place.
func (p *Pattern) Matches(at Place) bool {
	if p.url {
		for _, u := range at.URLs {
			if p.any().MatchString(u) {
				return true
			}
		}
		return false
	}
	any, fold := p.any(), p.fold || at.IgnoreCase || runtime.GOOS == "windows" || runtime.GOOS == "darwin"
	if fold && !p.fold {
		any = regexp.MustCompile("(?i)" + any.String())
	}
	for _, path := range at.Paths {
		if any.MatchString(filepath.ToSlash(path)) || p.dir != "" && p.within(fold, path) {
			return true
		}
	}
	return false
}

// within reports whether path lies in the pattern's directory, by whatever name,
// and what follows there matches. It does if that can't be seen.
func (p *Pattern) within(fold bool, path string) bool {
	want, err := os.Stat(p.dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR)
	}
	for above := path; above != filepath.Dir(above); above = filepath.Dir(above) {
		info, err := os.Stat(filepath.Dir(above))
		if err == nil && os.SameFile(info, want) {
			rest, err := filepath.Rel(filepath.Dir(above), path)
			in, wrong := compile(p.in, fold, below)
			if err != nil || wrong != nil || in().MatchString(filepath.ToSlash(rest)) {
				return true
			}
		}
	}
	return false
}

// quote makes a path a pattern for itself.
func quote(path string) string {
	return strings.NewReplacer("*", `\*`, "?", `\?`, "[", `\[`, `\`, `\\`).Replace(path)
}

const maxPattern = 1000 // bytes

const below = "(?:/.*)?" // what lies in a directory, too

// compile makes a regular expression of a whole text from a pattern of git's, and
// of how it may end.
func compile(glob string, fold bool, end string) (func() *regexp.Regexp, error) {
	switch {
	case glob == "":
		return nil, errors.New("there is nothing after the colon")
	case len(glob) > maxPattern+4096:
		return nil, fmt.Errorf("it is longer than %d bytes", maxPattern)
	case strings.ContainsAny(glob, "\x00\n\r"):
		return nil, errors.New("a pattern is one line")
	case !utf8.ValidString(glob):
		return nil, fmt.Errorf("%q is not a pattern", glob)
	}
	var b strings.Builder
	b.WriteString("(?s)^")
	if fold {
		b.WriteString("(?i)")
	}
	for i := 0; i < len(glob); i++ {
		rest := glob[i:]
		atStart := i == 0 || glob[i-1] == '/'
		switch {
		case strings.HasPrefix(rest, "**/") && atStart:
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(rest, "**"):
			b.WriteString(".*")
			i++
		case rest[0] == '*':
			b.WriteString("[^/]*")
		case rest[0] == '?':
			b.WriteString("[^/]")
		case rest[0] == '[':
			set, n, err := class(rest)
			if err != nil {
				return nil, err
			}
			b.WriteString(set)
			i += n - 1
		case rest == `\`:
			return nil, errors.New(`it ends in \, which quotes what follows`)
		case rest[0] == '\\':
			b.WriteString(regexp.QuoteMeta(literal(glob[i+1:])))
			i += len(literal(glob[i+1:]))
		default:
			b.WriteString(regexp.QuoteMeta(literal(rest)))
			i += len(literal(rest)) - 1
		}
	}
	b.WriteString(end + "$")
	re := sync.OnceValue(func() *regexp.Regexp { // a hook may never need it
		r, _ := regexp.Compile(b.String())
		return r
	})
	if strings.Contains(glob, "[") && re() == nil { // nothing else in it can be wrong
		return nil, fmt.Errorf("%q is not a pattern", glob)
	}
	return re, nil
}

// literal returns the first character of a text, with all of its bytes.
func literal(text string) string {
	for i := range text {
		if i > 0 {
			return text[:i]
		}
	}
	return text
}

var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\[:(alnum|alpha|blank|cntrl|digit|graph|lower|print|punct|space|upper|xdigit):\]`)
})

// class translates a set of characters, and returns its length.
func class(glob string) (set string, n int, err error) {
	var b strings.Builder
	b.WriteString("[")
	i := 1
	if i < len(glob) && (glob[i] == '!' || glob[i] == '^') {
		b.WriteString("^/") // no set matches a slash
		i++
	}
	for first := true; i < len(glob); first = false {
		name := named().FindString(glob[i:])
		switch {
		case glob[i] == ']' && !first:
			b.WriteString("]")
			return b.String(), i + 1, nil
		case name != "":
			b.WriteString(name)
			i += len(name)
			continue
		case glob[i] == '\\' && i+1 < len(glob):
			i++
		case glob[i] == '-' && !first && i+1 < len(glob) && glob[i+1] != ']':
			b.WriteString("-")
			i++
			continue
		case strings.HasPrefix(glob[i:], "[:"):
			return "", 0, fmt.Errorf("there is no class of characters like %q", glob[i:])
		}
		c := literal(glob[i:])
		if strings.ContainsAny(c, `\]^-[`) {
			c = `\` + c
		}
		b.WriteString(c)
		i += len(literal(glob[i:]))
	}
	return "", 0, errors.New("a [ has no ]")
}
