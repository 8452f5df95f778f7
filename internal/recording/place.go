package recording

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gitagent/internal/git"
)

// Paths returns the paths by which exceptions know a repository: of its git
// directories and its worktree, as git has them and with links resolved, and as
// given, those that a client or a shell calls the current directory. A linked
// worktree is known by its main repository, too, a submodule by the one that it is
// in, and a git directory by the worktree that core.worktree names.
func Paths(repo *git.Repo, worktree string, given ...string) []string {
	dirs := []string{repo.GitDir, repo.CommonDir}
	tops := []string{repo.Top}
	switch {
	case filepath.IsAbs(worktree):
		tops = append(tops, worktree)
	case worktree != "":
		tops = append(tops, filepath.Join(repo.CommonDir, worktree))
	}
	above, _, inside := strings.Cut(filepath.ToSlash(repo.CommonDir), "/.git/modules/")
	if inside {
		tops = append(tops, filepath.FromSlash(above))
	}
	if dir := git.DirOf(repo.CommonDir); dir != repo.CommonDir {
		tops = append(tops, dir)
	}
	for _, dir := range given {
		for filepath.IsAbs(dir) && repo.Top != "" {
			if git.SameFile(dir, repo.Top) {
				tops = append(tops, dir)
			}
			if dir == filepath.Dir(dir) {
				break
			}
			dir = filepath.Dir(dir)
		}
	}
	for _, top := range tops {
		if top != "" {
			dirs = append(dirs, top, filepath.Join(top, ".git"))
		}
	}
	for _, dir := range dirs {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dirs = append(dirs, real)
		}
	}
	dirs = append(dirs, otherNames(dirs)...)
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

// URLs returns what exceptions may name of the places that a repository fetches
// from and pushes to: as they are written, as url.*.insteadOf and pushInsteadOf
// rewrite them, and all that in other spellings. more are URLs that are not in the
// configuration.
func URLs(conf git.Config, more ...string) []string {
	urls := slices.Clone(more)
	for key, values := range conf {
		remote := strings.HasPrefix(key, "remote.") && (strings.HasSuffix(key, ".url") || strings.HasSuffix(key, ".pushurl"))
		branch := strings.HasPrefix(key, "branch.") && (strings.HasSuffix(key, ".remote") || strings.HasSuffix(key, ".pushremote"))
		if remote || branch || key == "remote.pushdefault" {
			for _, v := range values {
				if name := v == "." || len(conf["remote."+v+".url"]) > 0; remote || !name {
					urls = append(urls, v)
				}
			}
		}
	}
	for _, u := range urls {
		for _, kind := range []string{".insteadof", ".pushinsteadof"} {
			urls = append(urls, rewritten(conf, u, kind))
		}
	}
	for i := 0; i < len(urls); i++ {
		for _, u := range spellings(urls[i]) {
			if !slices.Contains(urls, u) {
				urls = append(urls, u)
			}
		}
	}
	slices.Sort(urls)
	return slices.Compact(urls)
}

// An address is of a URL with a scheme, or as ssh is given one.
var address = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?i)(?:([a-z][a-z0-9+.-]*)://)?(?:([^/]*)@)?(\[[^]/]*\]|[^@:/]+)(?::([0-9]*)(/|$)|(:|/|$))(.*)$`)
})

// spellings returns how else a URL could be written: without what names a user or a
// port, a slash or .git at its end, the helper that fetches it, and as a path; and for
// ssh in its other form, and with its usual user.
func spellings(url string) []string {
	list := []string{strings.TrimRight(url, "/"), strings.TrimSuffix(url, ".git"), strings.TrimPrefix(url, "file://")}
	if _, of, ok := strings.Cut(url, "::"); ok {
		list = append(list, of)
	}
	m := address().FindStringSubmatch(url)
	if m == nil {
		return list
	}
	scheme, host, path := strings.ToLower(m[1]), m[3], m[7]
	switch {
	case scheme == "" && m[6] == ":", scheme != "" && strings.Contains(scheme, "ssh"):
		for _, user := range []string{"", "git@", m[2] + "@"} {
			if user != "@" {
				list = append(list, user+host+":"+strings.TrimPrefix(path, "/"), "ssh://"+user+host+"/"+strings.TrimPrefix(path, "/"))
			}
		}
	case scheme != "":
		list = append(list, scheme+"://"+host+"/"+path)
	}
	return list
}

// rewritten returns a URL as git rewrites it: by the longest beginning.
func rewritten(conf git.Config, url, kind string) string {
	longest, to := "", ""
	for key, values := range conf {
		base, ok := strings.CutSuffix(key, kind)
		if !ok || !strings.HasPrefix(base, "url.") {
			continue
		}
		for _, v := range values {
			if strings.HasPrefix(url, v) && (len(v) > len(longest) || len(v) == len(longest) && v != "" && base < to) {
				longest, to = v, base
			}
		}
	}
	if longest == "" {
		return url
	}
	return strings.TrimPrefix(to, "url.") + url[len(longest):]
}

// TemporaryDirs returns the directories for temporary files in an environment.
func TemporaryDirs(getenv func(string) string) []string {
	dirs := []string{os.TempDir(), getenv("TMPDIR"), getenv("TMP"), getenv("TEMP"), getenv("XDG_RUNTIME_DIR")}
	if runtime.GOOS == "windows" {
		for _, v := range []string{"SystemRoot", "LOCALAPPDATA"} {
			if dir := getenv(v); dir != "" {
				dirs = append(dirs, filepath.Join(dir, "Temp"))
			}
		}
	} else {
		dirs = append(dirs, "/tmp", "/var/tmp", "/dev/shm", "/var/folders", "/run/user")
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// Unfit returns why a repository is not recorded as one of all that are the
// user's, or "".
func Unfit(repo *git.Repo, own bool, home string, temporary []string) string {
	switch {
	case !own:
		return "it belongs to somebody else"
	case repo.Top == "":
		return "it has no worktree"
	case repo.Top == filepath.Dir(repo.Top):
		return "it is the whole disk"
	case home != "" && git.SameFile(repo.Top, home):
		return "it is the home directory"
	}
	above := make(map[string]os.FileInfo) // nil for what can't be seen
	for _, path := range []string{repo.Top, repo.GitDir, repo.CommonDir} {
		for ; path != filepath.Dir(path); path = filepath.Dir(path) {
			if _, seen := above[path]; seen {
				break
			}
			above[path], _ = os.Stat(path)
		}
	}
	for _, dir := range temporary {
		_, lies := above[filepath.Clean(dir)]
		if info, err := os.Stat(dir); err == nil {
			for _, a := range above {
				lies = lies || a != nil && os.SameFile(a, info)
			}
		}
		if lies {
			return "it lies in " + dir + ", which is for temporary files"
		}
	}
	return ""
}
