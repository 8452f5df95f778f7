package git

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A start is what a git is started with, besides its command.
type start struct {
	dir     string
	env     []string
	options []string   // before each command
	guards  []string   // before those of the table of settings
	user    bool       // the user's settings apply, not that table
	hooks   bool       // hooks run
	held    []*os.File // files that it inherits; see Holding
}

// An Option changes how git is started. Otherwise it starts in the worktree, in
// the environment of [Open] or [Find], speaks English and asks nothing.
type Option func(start) start

// With returns the repository with git started as the options say, in this
// order, after those that r has. They add up, but for these:
//
//   - Of a variable that is set twice, the later value counts. [Others] and
//     [AsUser] also drop theirs, but not what a later [Env] sets.
//   - [In] and [Here] replace the directory. [Sparing] keeps the one before it
//     as -C, which a later one does not change; so it comes last.
func (r *Repo) With(options ...Option) *Repo {
	s := *r
	for _, o := range options {
		s.start = o(s.start)
	}
	return &s
}

// Env adds variables to git's environment.
func Env(variables ...string) Option {
	return func(s start) start {
		s.env = append(slices.Clip(s.env), variables...)
		return s
	}
}

// Settings sets variables of git's configuration, also for the gits that it
// runs. The table of settings counts more.
func Settings(set ...[2]string) Option {
	return func(s start) start {
		s.env, s.guards = slices.Clip(s.env), slices.Clip(s.guards)
		for _, v := range set {
			// Not -c, where "=" ends the key. Unlike it, --config-env overrides
			// GIT_CONFIG_COUNT and our caller's.
			name := fmt.Sprint("GIT_AGENT_SETTING_", len(s.guards))
			s.env = append(s.env, name+"="+v[1])
			s.guards = append(s.guards, "--config-env="+v[0]+"="+name)
		}
		return s
	}
}

// Wary bounds git's memory for an object; git ends above it. An untrusted one
// may be, or be a delta of, a huge one that git would build. A file of more
// than 32 MB counts as binary, and is not held in memory.
func Wary(s start) start {
	s.options = append(slices.Clip(s.options), "-c", "core.bigFileThreshold=32m")
	return Env("GIT_ALLOC_LIMIT=128m")(s)
}

// Underived keeps git from the commit-graph and the multi-pack index.
func Underived(s start) start {
	s.options = append(slices.Clip(s.options), "-c", "core.commitGraph=false", "-c", "core.multiPackIndex=false")
	return s
}

// Others drops GIT_INDEX_FILE, which is about this worktree, for a command
// about another one.
func Others(s start) start {
	s.env = slices.DeleteFunc(slices.Clone(s.env), func(v string) bool { return strings.HasPrefix(v, "GIT_INDEX_FILE=") })
	return s
}

// Sparing starts git in the user's directory (and -C): since 2.35 git does not
// delete the directory it started in.
func Sparing(s start) start {
	s.dir, s.options = ".", append([]string{"-C", s.dir}, s.options...)
	return s
}

// In starts git in a directory, for paths that are relative to it; "" changes
// nothing.
func In(dir string) Option {
	return func(s start) start {
		s.dir = cmp.Or(dir, s.dir)
		return s
	}
}

// Here starts git in the current directory, for typed paths.
func Here(s start) start {
	s.dir = "."
	return s
}

// Holding lets git hold the locks of the files, too, until it ends. Not for a
// git that may leave processes behind (a hook's daemon, ssh master).
func Holding(locks ...*os.File) Option {
	return func(s start) start {
		s.held = append(slices.Clip(s.held), locks...)
		return s
	}
}

// Hooked lets the user's hooks run, as the user expects of the command.
func Hooked(s start) start {
	s.hooks = true
	return s
}

// AsUser starts git as if the user had typed the command: with their settings,
// hooks and editors, which use their language and may ask.
func AsUser(s start) start {
	s.user = true
	s.env = slices.DeleteFunc(slices.Clone(s.env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(notUsers, name)
	})
	for _, name := range slices.Concat(notUsers, notOurs) {
		if value, ok := os.LookupEnv(name); ok {
			s.env = append(s.env, name+"="+value)
		}
	}
	return s
}
