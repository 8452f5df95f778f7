// Package config reads the settings of git-agent from two TOML files, both
// optional. The user's, ~/.config/git-agent/config.toml, may set everything.
// The repository's, .git-agent.toml at the top of the worktree, is untrusted:
// it may set only [capture], and only to capture less, with smaller limits,
// more patterns to exclude, or no prompt in the subjects, and add to [checks].
//
//	[capture]
//	max_file_size = "10MiB"      # of an untracked file; larger are left out
//	max_untracked_files = 5000
//	max_untracked_size = "100MiB"
//	exclude = []                 # more gitignore patterns, for snapshots only
//	branch_prefix = "agent/mission/"
//	subject_prompt = true        # quote the prompt in commit subjects
//	tell_destroyed = true        # work that a command destroyed within its turn
//	[record]
//	everywhere = false           # in all repositories of the user
//	except = []                  # but these; see package except
//	[redact]                     # beside what always is; [redact.Own]
//	patterns = []                # regular expressions
//	names = []
//	people = false               # e-mail addresses and telephone numbers
//	[checks]                     # patterns of commands that check, beside those that are known
//	test = []                    # "./ci.sh *"; * stands for anything
//	lint = []
//	build = []
//	types = []
//	[handoff]
//	recent_commits = 10
//	max_diff_bytes = 10240
//	clean_grace = "5m"
//	snapshot_timeout = "10s"
//	[context]
//	enabled = true
//	warning = "50%"              # of the window, or a number of tokens
//	critical = "65%"
//	fallback_tool_count = 500
//	check_frequency = 5
//	[context.windows]            # tokens; models not listed have 1,000,000
//	"claude-sonnet-4-5*" = 200000
//	[company]
//	tell = true                  # sessions that work in one checkout, of each other
//	[recall]
//	edits = false                # tell agents what was given up in a file before they edit it
//	[retry]
//	include_session_tail = false
//	session_tail_size = 4096
//	[fork]
//	setup = ""                   # a shell command, run in a new worktree
//	include_size = "5GiB"        # of the ignored files that it gets
//	include_files = 500000
//	[trust]
//	key = ""                     # private key to sign with; "" for init's
//	[housekeeping]
//	archive_after = ""           # since the last turn; "" for never
//	artifacts_age = "90d"        # of the copies of handoffs; "" for any
//	artifacts_size = "1GiB"      # of all of them; the oldest go
//	log_age = "90d"
//	log_size = "256KiB"          # at most 1MiB
//
// Beside the user's file, windows.toml has windows that were learned from
// compactions ([Learn]).
//
// Sizes are bytes or a text with a unit: "512KiB", "10MiB", "1GiB", "10MB".
// Durations are texts such as "90s" or "1h30m", ages such as "6h", "90d" or
// "12w".
package config

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/evidence"
	"gitagent/internal/redact"
)

// A Config holds the files' settings, and defaults for the rest.
type Config struct {
	Capture      Capture
	Recording    Recording
	Redact       redact.Own
	Checks       evidence.Patterns
	Handoff      HandoffSettings
	Context      Context
	Company      Company
	Recall       Recall
	Retry        Retry
	Fork         ForkSettings
	Trust        TrustSettings
	Housekeeping Housekeeping

	rules   *redact.Rules     // see Rules
	origins map[string]string // by key; a missing key has its default
}

// Recording is in which repositories turns are recorded without a word there.
type Recording struct {
	Everywhere bool
	Except     []string // patterns of repositories where they are not
	Err        error    // why it is not known where; then it is nowhere
}

// Capture is what snapshots take and how turn commits are named.
type Capture struct {
	MaxFileSize       int64    // bytes; larger untracked files are left out
	MaxUntrackedFiles int      // with more untracked files, the largest directories are left out
	MaxUntrackedSize  int64    // bytes, of all untracked files together
	Exclude           []string // gitignore patterns; the user's, then the repository's
	BranchPrefix      string   // of a mission's branch, before its id; always makes a valid ref
	SubjectPrompt     bool     // quote the prompt in commit subjects
	TellDestroyed     bool     // tell the user of work that a command destroyed within its turn
}

// HandoffSettings is what a session leaves to the next one.
type HandoffSettings struct {
	RecentCommits   int           // how many commits are listed
	MaxDiffBytes    int64         // bytes of uncommitted changes
	CleanGrace      time.Duration // how long a crash handoff can't replace a clean one
	SnapshotTimeout time.Duration // for a snapshot of the terminal
}

// Context is when an agent is told how full its context is.
type Context struct {
	Enabled           bool
	Warning           Limit
	Critical          Limit
	FallbackToolCount int            // tool calls before a warning if tokens can't be counted
	CheckFrequency    int            // in events; at least 1
	Windows           map[string]int // tokens, by a pattern of the model's name
	Learned           map[string]int // tokens, by the model's name, of those that the user's file has not
}

// Company is what sessions hear of others in the same worktree.
type Company struct {
	Tell bool // that there are others, once
}

// Recall is what agents hear of files that they come to.
type Recall struct {
	Edits bool // what earlier turns have tried there and why it is as it is, once in a session
}

// Retry is what the next attempt is told about the last one.
type Retry struct {
	IncludeSessionTail bool
	SessionTailSize    int64 // bytes
}

// ForkSettings is what a fork's worktree gets beyond the turn's files.
type ForkSettings struct {
	Setup        string // a shell command that is run there; empty for none
	IncludeSize  int64  // bytes, of the ignored files that are copied
	IncludeFiles int    // how many files that may be
}

// TrustSettings is what ledgers are signed with.
type TrustSettings struct {
	Key string // path of a private key; empty for the one that init makes
}

// Housekeeping is done about once a day in a used repository; zero is no bound.
type Housekeeping struct {
	ArchiveAfter  time.Duration // since a mission's last turn; zero for never
	ArtifactsAge  time.Duration // of the copies of handoffs
	ArtifactsSize int64         // bytes, of all of the user's
	LogAge        time.Duration
	LogSize       int64 // bytes; from 1 to MaxLogSize
}

// MaxLogSize is the size in bytes that a log never exceeds for long.
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
			TellDestroyed:     true,
		},
		Handoff: HandoffSettings{
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
		Company: Company{Tell: true},
		Retry: Retry{
			SessionTailSize: 4 << 10,
		},
		Fork: ForkSettings{
			IncludeSize:  5 << 30,
			IncludeFiles: 500_000,
		},
		Housekeeping: Housekeeping{
			ArtifactsAge:  90 * day,
			ArtifactsSize: 1 << 30,
			LogAge:        90 * day,
			LogSize:       256 << 10,
		},
		Checks:  make(evidence.Patterns),
		origins: map[string]string{},
	}
}

// DefaultWindow is the window, in tokens, of a model that no pattern matches.
const DefaultWindow = 1_000_000

// Window returns a model's context window, in tokens, by the longest pattern.
func (c *Context) Window(model string) int {
	if pattern := c.pattern(model); pattern != "" {
		return c.Windows[pattern]
	}
	return DefaultWindow
}

// pattern returns the pattern that counts for a model, "" if none matches.
func (c *Context) pattern(model string) string {
	best := ""
	for pattern, tokens := range c.Windows {
		ok, _ := path.Match(pattern, model) // checked on reading
		if ok && (len(pattern) > len(best) || len(pattern) == len(best) && tokens < c.Windows[best]) {
			best = pattern
		}
	}
	return best
}

// learn takes the windows that were learned, of models for which the user has
// set none.
func (c *Config) learn(file string) {
	for model, tokens := range learned(file) {
		if c.origins[windowsTable+"."+quoteKey(c.Context.pattern(model))] != "" {
			continue
		}
		if c.Context.Learned == nil {
			c.Context.Learned = map[string]int{}
		}
		c.Context.Learned[model] = tokens
		c.origins[windowsTable+"."+quoteKey(model)] = file
	}
}

// UserPath returns the path of the user's file; "" without a home directory.
func UserPath() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) { // the specification says to ignore a relative one
		return filepath.Join(dir, fileName)
	}
	return HomePath()
}

// HomePath returns the path of the user's file in an environment that moves
// nothing; "" without a home directory.
func HomePath() string {
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", fileName)
}

var fileName = filepath.Join("git-agent", "config.toml")

// RepoFile is the name of the repository's file, at the top of a worktree.
const RepoFile = ".git-agent.toml"

// Load reads the user's file, then the repository's, if they exist. The Config
// is never nil: it has all valid settings, and defaults for the rest. The error
// joins one [*Error] for each mistake. A hook logs it and continues. So does a
// command, with a warning, if it is an [UntrustedError]; otherwise the command
// fails.
func Load(userPath, repoPath string) (*Config, error) {
	c := Default()
	errs := apply(userPath, maxUserFile, os.Stat, func(e entry) error {
		err := c.set(e)
		if err == nil {
			c.origins[e.key] = userPath
		}
		return err
	})
	c.rules = redact.New(c.Redact)
	if err := hides(userPath, errs, "reda", "redact"); err != nil {
		c.rules = redact.Invalid(err)
	}
	c.Recording.Err = hides(userPath, errs, "reco", "record")
	c.learn(learnedPath(userPath))
	repo, standard := Default(), Default()
	foreign := apply(repoPath, maxFile, os.Lstat, func(e entry) error { // a link could lead out of the repository
		if err := repo.set(e); err != nil {
			return err
		}
		if kind, ok := strings.CutPrefix(e.key, "checks."); ok {
			c.Checks[evidence.Kind(kind)] = append(c.Checks[evidence.Kind(kind)], repo.Checks[evidence.Kind(kind)]...)
			c.addOrigin(e.key, repoPath)
			return nil
		}
		return c.lower(e.key, repoPath, &repo.Capture, &standard.Capture)
	})
	if len(errs) == 0 && len(foreign) > 0 {
		return c, &UntrustedError{errors.Join(foreign...)}
	}
	return c, errors.Join(append(errs, foreign...)...)
}

// Rules returns what texts are redacted by, nil without a Config. If what the
// user has set for it is not valid, or can't be known, no text passes them.
func (c *Config) Rules() *redact.Rules {
	if c == nil {
		return nil
	}
	return c.rules
}

// CheckRules reports what is wrong with [Config.Rules]. It compiles the user's
// patterns, which [Load] does not.
func (c *Config) CheckRules() error {
	err := c.Rules().Err()
	if err == nil || errors.As(err, new(*Error)) {
		return err
	}
	return &Error{Path: c.origins[patternsKey], Key: patternsKey, Err: err}
}

// hides returns the first error of the user's file by which what a table sets is
// not known: one about it, or about the file as a whole, if that has the word.
// A table whose name begins like the table's is meant to be that.
func hides(path string, errs []error, begins, word string) error {
	for _, err := range errs {
		at := (*Error)(nil)
		if !errors.As(err, &at) {
			continue
		}
		if table, _, _ := strings.Cut(strings.ToLower(at.Key), "."); strings.HasPrefix(table, begins) {
			return err
		}
		if at.whole {
			if info, e := os.Stat(path); e == nil && !info.Mode().IsRegular() { // a pipe would block
				return err
			}
			if text, e := readLimited(path, maxUserFile); e != nil || strings.Contains(strings.ToLower(string(text)), word) {
				return err
			}
		}
	}
	return nil
}

// OfRepository reports whether the repository's file has a part in a setting.
func (c *Config) OfRepository(key string) bool {
	return strings.HasSuffix(c.origins[key], string(filepath.Separator)+RepoFile)
}

// An UntrustedError is an error of [Load] about the repository's file alone.
// The file is untrusted: its mistakes must not keep others from working.
type UntrustedError struct{ err error }

func (s *UntrustedError) Error() string { return s.err.Error() }
func (s *UntrustedError) Unwrap() error { return s.err }

// addOrigin notes that a file has a part in a setting.
func (c *Config) addOrigin(key, path string) {
	if user := c.origins[key]; user != "" {
		path = user + ", " + path
	}
	c.origins[key] = path
}

// lower sets one setting of c to the repository's value if that captures less.
// More than the default is an error; else the user's value stays.
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
		c.addOrigin(key, path)
	case "capture.subject_prompt":
		if c.Capture.SubjectPrompt && !repo.SubjectPrompt {
			c.Capture.SubjectPrompt = false
			c.origins[key] = path
		}
	case "capture", "checks": // a table without keys
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
