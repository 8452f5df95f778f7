package recording

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"gitagent/internal/git"
)

// Paths returns the paths by which exceptions know a repository: of its git
// directories and its worktree, as git has them and with links resolved, and as
// given, those that a client or a shell calls the current directory. A linked
// worktree is known by its main repository, too, and a submodule by the one
// that it is in.
func Paths(repo *git.Repo, given ...string) []string {
	dirs := []string{repo.GitDir, repo.CommonDir}
	tops := []string{repo.Top}
	above, _, inside := strings.Cut(filepath.ToSlash(repo.CommonDir), "/.git/modules/")
	if inside {
		tops = append(tops, filepath.FromSlash(above))
	}
	if filepath.Base(repo.CommonDir) == ".git" {
		tops = append(tops, filepath.Dir(repo.CommonDir))
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
// rewrite them, and all that without what names a user. more are URLs that are
// not in the configuration.
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
	for _, u := range urls {
		urls = append(urls, anonymous(u))
	}
	slices.Sort(urls)
	return slices.Compact(urls)
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

// anonymous returns a URL without user and password. Of user@host:path the user
// goes.
func anonymous(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		scheme, rest = "", url
	}
	host, path := rest, ""
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		host, path = rest[:i], rest[i:]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if ok {
		scheme += "://"
	}
	return scheme + host + path
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
