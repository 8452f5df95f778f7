// Package config reads the settings of git-agent.
//
// There are two files, both TOML and both optional. The user's, ~/.config/git-agent/config.toml,
// may set everything. The repository's, .git-agent.toml at the top of the worktree, comes from a
// stranger, so it may set only [capture], and only to capture less: smaller limits, more patterns
// to exclude, no prompt in the subjects.
//
//	[capture]
//	max_file_size = "10MiB"      # of an untracked file; larger ones are left out
//	max_untracked_files = 5000
//	max_untracked_size = "100MiB"
//	exclude = []                 # more gitignore patterns, for snapshots only
//	branch_prefix = "agent/mission/"
//	subject_prompt = true        # quote the prompt in commit subjects
//	[handoff]
//	recent_commits = 10
//	max_diff_bytes = 10240
//	clean_grace = "5m"
//	snapshot_timeout = "10s"
//	[context]
//	enabled = true
//	warning = "50%"              # of the model's window, or a number of tokens
//	critical = "65%"
//	fallback_tool_count = 500
//	check_frequency = 5
//	[context.windows]            # tokens; what is not listed has 1,000,000
//	"claude-sonnet-4-5*" = 200000
//	[retry]
//	include_session_tail = false
//	session_tail_size = 4096
//	[fork]
//	setup = ""                   # a shell command, run in the new worktree of a fork or start
//	include_size = "5GiB"        # of the ignored files that a new worktree gets, altogether
//	include_files = 500000
//	[trust]
//	key = ""                     # sign with this private key, not with the one that init makes
//	[housekeeping]
//	archive_after = ""           # archive missions whose last turn is older, such as "90d"; "" for never
//	artifacts_age = "90d"        # of the copies that handoffs leave outside; "" for any
//	artifacts_size = "1GiB"      # of all of them; the oldest go
//	log_age = "90d"
//	log_size = "256KiB"          # at most 1MiB
//
// Sizes are bytes or a text with a unit: "512KiB", "10MiB", "1GiB", "10MB".
// Durations are texts such as "90s" or "1h30m", ages such as "6h", "90d" or "12w".
package config

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A Config holds what the files say, and defaults for the rest.
type Config struct {
	Capture      Capture
	Handoff      Handoff
	Context      Context
	Retry        Retry
	Fork         Fork
	Trust        Trust
	Housekeeping Housekeeping

	origins map[string]string // by key; a missing key has its default
}

// Capture says what snapshots take and how turn commits are named.
type Capture struct {
	MaxFileSize       int64    // bytes; larger untracked files are left out
	MaxUntrackedFiles int      // with more untracked files, the largest directories are left out
	MaxUntrackedSize  int64    // bytes, of all untracked files together
	Exclude           []string // gitignore patterns; the user's, then the repository's
	BranchPrefix      string   // of a mission's branch, before its id; always makes a valid ref
	SubjectPrompt     bool     // quote the prompt in commit subjects
}

// Handoff says what a session leaves to the next one.
type Handoff struct {
	RecentCommits   int           // how many commits are listed
	MaxDiffBytes    int64         // bytes of uncommitted changes
	CleanGrace      time.Duration // how long a crash handoff can't replace a clean one
	SnapshotTimeout time.Duration // for a snapshot of the terminal
}

// Context says when an agent is told how full its context is.
type Context struct {
	Enabled           bool
	Warning           Limit
	Critical          Limit
	FallbackToolCount int            // tool calls before a warning if tokens can't be counted
	CheckFrequency    int            // in events; at least 1
	Windows           map[string]int // tokens, by a pattern of the model's name
}

// Retry says what the next attempt is told about the last one.
type Retry struct {
	IncludeSessionTail bool
	SessionTailSize    int64 // bytes
}

// Fork says what the worktree of a fork gets besides the files of the turn.
type Fork struct {
	Setup        string // a shell command that is run there; empty for none
	IncludeSize  int64  // bytes, of the ignored files that are copied
	IncludeFiles int    // how many they may be
}

// Trust says what ledgers are signed with.
type Trust struct {
	Key string // path of a private key; empty for the one that init makes
}

// Housekeeping says what is done by itself, about once a day in a repository that is used. An age or size of
// zero is no bound.
type Housekeeping struct {
	ArchiveAfter  time.Duration // since a mission's last turn; zero for never
	ArtifactsAge  time.Duration // of the copies of handoffs
	ArtifactsSize int64         // bytes, of all of the user's
	LogAge        time.Duration
	LogSize       int64 // bytes; from 1 to MaxLogSize
}

// MaxLogSize is the size in bytes that a log never exceeds for long, whatever is configured.
const MaxLogSize = 1 << 20

// Default returns the configuration without any files.
func Default() *Config {
	return &Config{
		Capture: Capture{
			MaxFileSize:       10 << 20,
			MaxUntrackedFiles: 5000,
			MaxUntrackedSize:  100 << 20,
			BranchPrefix:      "agent/mission/",
			SubjectPrompt:     true,
		},
		Handoff: Handoff{
			RecentCommits:   10,
			MaxDiffBytes:    10 << 10,
			CleanGrace:      5 * time.Minute,
			SnapshotTimeout: 10 * time.Second,
		},
		Context: Context{
			Enabled:           true,
			Warning:           Limit{Percent: 50},
			Critical:          Limit{Percent: 65},
			FallbackToolCount: 500,
			CheckFrequency:    5,
			Windows: map[string]int{
				"claude-sonnet-4-5*": 200_000,
				"claude-sonnet-4-6*": 200_000,
				"claude-opus-4-5*":   200_000,
				"claude-opus-4-6*":   200_000,
				"claude-haiku-4-5*":  200_000,
			},
		},
		Retry: Retry{
			SessionTailSize: 4 << 10,
		},
		Fork: Fork{
			IncludeSize:  5 << 30,
			IncludeFiles: 500_000,
		},
		Housekeeping: Housekeeping{
			ArtifactsAge:  90 * day,
			ArtifactsSize: 1 << 30,
			LogAge:        90 * day,
			LogSize:       256 << 10,
		},
		origins: map[string]string{},
	}
}

// DefaultWindow is the context window, in tokens, of a model that no pattern matches.
const DefaultWindow = 1_000_000

// Window returns the context window of a model, in tokens. If several patterns match its name, the
// longest counts.
func (c *Context) Window(model string) int {
	window, longest := DefaultWindow, -1
	for pattern, tokens := range c.Windows {
		ok, _ := path.Match(pattern, model) // checked on reading
		if ok && (len(pattern) > longest || len(pattern) == longest && tokens < window) {
			window, longest = tokens, len(pattern)
		}
	}
	return window
}

// UserPath returns the path of the user's file, "" if the environment has neither XDG_CONFIG_HOME
// nor a home directory.
func UserPath() string {
	dir := os.Getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(dir) { // the specification says to ignore a relative one
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".config")
	}
	return filepath.Join(dir, "git-agent", "config.toml")
}

// RepoFile is the name of the repository's file, at the top of a worktree.
const RepoFile = ".git-agent.toml"

// Load reads the user's file, then the repository's. An empty path, or a path of no file, costs no
// more than the look.
//
// The Config is never nil: it has everything that was valid, and defaults for the rest. The error,
// if any, joins one [*Error] for each thing that was not. A hook logs it and goes on; so does a
// command, with a warning, if all of it is a [Stranger]'s doing, and otherwise fails with it.
func Load(userPath, repoPath string) (*Config, error) {
	c := Default()
	errs := apply(userPath, os.Stat, func(e entry) error {
		err := c.set(e)
		if err == nil {
			c.origins[e.key] = userPath
		}
		return err
	})
	repo, standard := Default(), Default()
	foreign := apply(repoPath, os.Lstat, func(e entry) error { // a link could lead out of the repository
		if err := repo.set(e); err != nil {
			return err
		}
		return c.lower(e.key, repoPath, &repo.Capture, &standard.Capture)
	})
	if len(errs) == 0 && len(foreign) > 0 {
		return c, &Stranger{errors.Join(foreign...)}
	}
	return c, errors.Join(append(errs, foreign...)...)
}

// A Stranger is an error of [Load] that is about the repository's file alone. Whoever wrote that must
// not keep others from working.
type Stranger struct{ err error }

func (s *Stranger) Error() string { return s.err.Error() }
func (s *Stranger) Unwrap() error { return s.err }

// lower changes one setting of c to the repository's value, if that captures less. A value above
// the default is an error. A value between the default and the user's is not, but the user's stays.
func (c *Config) lower(key, path string, repo, standard *Capture) error {
	switch key {
	case "capture.max_file_size":
		return lower(c, key, path, &c.Capture.MaxFileSize, repo.MaxFileSize, standard.MaxFileSize, formatSize)
	case "capture.max_untracked_size":
		return lower(c, key, path, &c.Capture.MaxUntrackedSize, repo.MaxUntrackedSize, standard.MaxUntrackedSize, formatSize)
	case "capture.max_untracked_files":
		return lower(c, key, path, &c.Capture.MaxUntrackedFiles, repo.MaxUntrackedFiles, standard.MaxUntrackedFiles, strconv.Itoa)
	case "capture.exclude":
		for _, pattern := range repo.Exclude {
			if strings.HasPrefix(pattern, "!") {
				return errors.New("a repository may exclude more, not less: " + strconv.Quote(pattern))
			}
		}
		c.Capture.Exclude = append(c.Capture.Exclude, repo.Exclude...)
		if user := c.origins[key]; user != "" {
			path = user + ", " + path
		}
		c.origins[key] = path
	case "capture.subject_prompt":
		if c.Capture.SubjectPrompt && !repo.SubjectPrompt {
			c.Capture.SubjectPrompt = false
			c.origins[key] = path
		}
	case "capture": // a table without keys
	default:
		return errors.New("only the user's file may set this")
	}
	return nil
}

func lower[T int | int64](c *Config, key, path string, value *T, repo, standard T, format func(T) string) error {
	switch {
	case repo < *value:
		*value = repo
		c.origins[key] = path
	case repo > *value && repo > standard:
		return errors.New("a repository may capture less, not more: " + format(repo) + " is above " + format(*value))
	}
	return nil
}
