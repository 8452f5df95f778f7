package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/evidence"
	"gitagent/internal/redact"
	"gitagent/test/gittest"
)

// load writes the two files and loads them; an empty text is no file.
func load(t *testing.T, user, repo string) (*Config, []string, string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if text != "" {
			gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
		}
		return path
	}
	c, err := Load(write("user.toml", user), write("repo.toml", repo))
	if c == nil {
		t.Fatal("Load returned no configuration")
	}
	return c, problems(err, dir), dir
}

// problems splits a joined error into lines, without the directory.
func problems(err error, dir string) []string {
	if err == nil {
		return nil
	}
	text := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "")
	return strings.Split(strings.ReplaceAll(text, "read configuration ", ""), "\n")
}

// everyKey sets every key to something that is not its default.
const everyKey = `[capture]
max_file_size = "1MiB"
max_untracked_files = 7
max_untracked_size = "2GiB"
exclude = ["*.iso", "build/"]
branch_prefix = "bot/"
subject_prompt = false
tell_destroyed = false
[record]
everywhere = true
except = ["gitdir:~/secret/"]
[redact]
patterns = ['K-\d{6}']
names = ["Anna Schmidt", "Contoso"]
people = true
[checks]
test = ["./ci.sh *"]
lint = ["acme lint"]
build = ["acme", "acme build"]
types = ["acme types"]
[handoff]
recent_commits = 3
max_diff_bytes = 2048
clean_grace = "1h30m"
snapshot_timeout = "2s"
[context]
enabled = false
warning = 90000
critical = "62.5%"
fallback_tool_count = 50
check_frequency = 1
[context.windows]
"claude-opus-4-5*" = 500000
other = 1000
[recall]
edits = true
[company]
tell = false
[retry]
include_session_tail = true
session_tail_size = "8KiB"
[fork]
setup = "npm ci"
include_size = "1GiB"
include_files = 10
[trust]
key = "/home/dev/.ssh/agent"
[housekeeping]
archive_after = "12w"
artifacts_age = "36h"
artifacts_size = "10MiB"
log_age = ""
log_size = 1000
`

func TestEveryKey(t *testing.T) {
	t.Parallel()
	got, errs, dir := load(t, everyKey, "")
	if errs != nil {
		t.Fatalf("Load: %q", errs)
	}
	want := &Config{
		Capture: Capture{
			MaxFileSize: 1 << 20, MaxUntrackedFiles: 7, MaxUntrackedSize: 2 << 30,
			Exclude: []string{"*.iso", "build/"}, BranchPrefix: "bot/",
		},
		Recording: Recording{Everywhere: true, Except: []string{"gitdir:~/secret/"}},
		Redact:    redact.Own{Patterns: []string{`K-\d{6}`}, Names: []string{"Anna Schmidt", "Contoso"}, People: true},
		Checks: evidence.Patterns{
			evidence.Test: {"./ci.sh *"}, evidence.Lint: {"acme lint"}, evidence.Build: {"acme", "acme build"}, evidence.Types: {"acme types"},
		},
		Handoff: HandoffSettings{RecentCommits: 3, MaxDiffBytes: 2048, CleanGrace: 90 * time.Minute, SnapshotTimeout: 2 * time.Second},
		Context: Context{
			Warning: Limit{Tokens: 90000}, Critical: Limit{Percent: 62.5}, FallbackToolCount: 50, CheckFrequency: 1,
			Windows: map[string]int{
				"claude-sonnet-4-5*": 200_000, "claude-sonnet-4-6*": 200_000, "claude-opus-4-5*": 500_000,
				"claude-opus-4-6*": 200_000, "claude-haiku-4-5*": 200_000, "other": 1000,
			},
		},
		Recall:       Recall{Edits: true},
		Retry:        Retry{IncludeSessionTail: true, SessionTailSize: 8 << 10},
		Fork:         ForkSettings{Setup: "npm ci", IncludeSize: 1 << 30, IncludeFiles: 10},
		Trust:        TrustSettings{Key: "/home/dev/.ssh/agent"},
		Housekeeping: Housekeeping{ArchiveAfter: 84 * day, ArtifactsAge: 36 * time.Hour, ArtifactsSize: 10 << 20, LogSize: 1000},
	}
	if s := got.Rules().String("K-123456 of anna schmidt"); s != "[redacted:pattern] of [redacted:name]" {
		t.Errorf("the rules leave %q", s)
	}
	origins := got.origins
	got.origins, got.rules = nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	standard := Default()
	for _, k := range standard.keys() {
		if origins[k.name] != filepath.Join(dir, "user.toml") {
			t.Errorf("%s has origin %q", k.name, origins[k.name])
		}
		if !strings.Contains(everyKey, "\n"+k.name[strings.IndexByte(k.name, '.')+1:]+" = ") {
			t.Errorf("the test does not set %s", k.name)
		}
	}
}

// TestValues checks that what Values shows is TOML with the same meaning.
func TestValues(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{"defaults": "", "every key": everyKey} {
		c, _, dir := load(t, text, "")
		var again strings.Builder
		for _, v := range c.Values() {
			fmt.Fprintf(&again, "%s = %s\n", v.Key, v.Value)
			origin := "default"
			if text != "" {
				origin = filepath.Join(dir, "user.toml")
			}
			if unset := strings.HasPrefix(v.Key, windowsTable) && !strings.Contains(text, strings.TrimPrefix(v.Key, windowsTable+".")+" ="); unset {
				origin = "default"
			}
			if v.Origin != origin {
				t.Errorf("%s: %s has origin %q, want %q", name, v.Key, v.Origin, origin)
			}
		}
		got, errs, _ := load(t, again.String(), "")
		if errs != nil {
			t.Fatalf("%s: %q\n%s", name, errs, again.String())
		}
		got.origins, c.origins, got.rules, c.rules = nil, nil, nil, nil
		if got.Capture.Exclude == nil {
			got.Capture.Exclude = c.Capture.Exclude
		}
		if !reflect.DeepEqual(got, c) {
			t.Errorf("%s: got  %+v\nwant %+v\nfrom\n%s", name, got, c, again.String())
		}
	}
}

// TestDocumentation checks that the package comment names every key with its default.
func TestDocumentation(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("config.go")
	gittest.Must(t, err)
	doc, _, _ := strings.Cut(string(source), "\npackage config")
	var text strings.Builder
	for _, line := range regexp.MustCompile(`(?m)^//\t(.*)$`).FindAllStringSubmatch(doc, -1) {
		text.WriteString(line[1] + "\n")
	}
	got, errs, _ := load(t, text.String(), "")
	if errs != nil {
		t.Fatalf("Load: %q", errs)
	}
	want := Default()
	for _, k := range want.keys() {
		if got.origins[k.name] == "" {
			t.Errorf("the package comment does not name %s", k.name)
		}
	}
	got.origins, want.origins, got.Capture.Exclude = nil, nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the package comment says %+v, the defaults are %+v", got, want)
	}
}

// TestManual checks that the manual page shows every key with its default.
func TestManual(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/git-agent-turn.1")
	gittest.Must(t, err)
	_, text, _ := strings.Cut(string(page), "\n.Sh CONFIGURATION\n")
	_, text, _ = strings.Cut(text, "\n.Bd -literal -offset indent\n")
	text, _, _ = strings.Cut(text, "\n.Ed\n")
	got, errs, _ := load(t, text, "")
	if errs != nil {
		t.Fatalf("Load: %q", errs)
	}
	for i, v := range got.Values() {
		if want := Default().Values()[i]; v.Key != want.Key || v.Value != want.Value || v.Origin == "default" {
			t.Errorf("the manual says %s = %s (origin %s), the default is %s = %s", v.Key, v.Value, v.Origin, want.Key, want.Value)
		}
	}
}

// TestRules: what is wrong in the user's file lets no text through if it is about their rules, or if
// these can't be known; anything else does not matter to them, and nothing in a repository's file.
func TestRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, user, repo string
		want             string // of "Anna"
		err              string // of CheckRules
	}{
		{name: "none", want: "Anna"},
		{name: "one", user: "[redact]\nnames = ['Anna']", want: "[redacted:name]"},
		{name: "another mistake", user: "[capture]\nx = 1\n[redact]\nnames = ['Anna']", want: "[redacted:name]"},
		{name: "another mistake, and none", user: "[capture]\nx = 1", want: "Anna"},
		{name: "a wrong key", user: "[redact]\nname = ['Anna']", want: "[redacted:unchecked]", err: "user.toml:2: redact.name: unknown key, did you mean redact.names?"},
		{name: "a wrong table", user: "[Redaction]\nnames = ['Anna']", want: "[redacted:unchecked]", err: "user.toml:2: Redaction.names: unknown key, did you mean redact.names?"},
		{name: "a wrong value", user: "[redact]\nnames = 'Anna'", want: "[redacted:unchecked]", err: "user.toml:2: redact.names: want a list of texts, not a text"},
		{name: "no table", user: "redact = ['Anna']", want: "[redacted:unchecked]", err: "user.toml:1: redact: this is a table"},
		{name: "after many mistakes", user: "[capture]\n" + manyKeys(20) + "[redact]\nname = ['Anna']", want: "[redacted:unchecked]", err: "user.toml: 11 more mistakes"},
		{name: "a wrong pattern", user: "[redact]\npatterns = ['x', 'Anna(']", want: "[redacted:unchecked]", err: "user.toml: redact.patterns: pattern 2: missing closing )"},
		{name: "not TOML", user: "[redact]\nnames = ['Anna'", want: "[redacted:unchecked]", err: "user.toml:2: redact.names: expected a comma (',') or array terminator (']'), but got end of file"},
		{name: "not TOML, and none", user: "[capture]\nexclude = [", want: "Anna"},
		{name: "too large", user: strings.Repeat("#", maxUserFile+1), want: "[redacted:unchecked]", err: `user.toml: larger than "256KiB"`},
		{name: "a repository's", repo: "[redact]\nnames = ['Anna']\npatterns = ['(']", want: "Anna"},
		{name: "a repository's beside the user's", user: "[redact]\nnames = ['Anna']", repo: "[redact]\nnames = []\npeople = 1", want: "[redacted:name]"},
	} {
		c, _, dir := load(t, tt.user, tt.repo)
		if got := c.Rules().String("Anna"); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		if got := strings.Join(problems(c.CheckRules(), dir), "; "); got != tt.err {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.err)
		}
	}
	if err := (*Config)(nil).CheckRules(); err != nil {
		t.Errorf("without a configuration: %v", err)
	}
}

// manyKeys returns n keys that do not exist.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "x%d = 1\n", i)
	}
	return b.String()
}

func TestWrong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		text string
		want string // problems, one a line
	}{
		{"[capture]\nmax_file_size = true", `user.toml:2: capture.max_file_size: want a size such as "10MiB", not true or false`},
		{"[capture]\nmax_file_size = 1.5", `user.toml:2: capture.max_file_size: want a size such as "10MiB", not 1.5`},
		{"[capture]\n\n\nmax_file_size = '10 miles'", `user.toml:4: capture.max_file_size: want a size such as 4096 or "10MiB", not "10 miles"`},
		{"[capture]\nmax_file_size = -1", `user.toml:2: capture.max_file_size: want a size, not -1`},
		{"[capture]\nmax_untracked_files = '5'", `user.toml:2: capture.max_untracked_files: want a number, not a text`},
		{"[capture]\nmax_untracked_files = -5", `user.toml:2: capture.max_untracked_files: want a number from 0 to 2147483647, not -5`},
		{"[capture]\nexclude = '*.iso'", `user.toml:2: capture.exclude: want a list of patterns such as ["*.iso"], not a text`},
		{"[capture]\nexclude = ['a', 1]", `user.toml:2: capture.exclude: want patterns that are texts, not 1`},
		{"[capture]\nexclude = ['']", `user.toml:2: capture.exclude: "" is not a pattern`},
		{"[capture]\nexclude = [\"a\\nb\"]", `user.toml:2: capture.exclude: "a\nb" is not a pattern`},
		{"[capture]\nbranch_prefix = 'a b/'", `user.toml:2: capture.branch_prefix: "a b/" does not begin a valid branch name`},
		{"[capture]\nbranch_prefix = 3", `user.toml:2: capture.branch_prefix: want a text, not 3`},
		{"[capture]\nsubject_prompt = 'no'", `user.toml:2: capture.subject_prompt: want true or false, not a text`},
		{"[redact]\npatterns = 'x'", `user.toml:2: redact.patterns: want a list of texts, not a text`},
		{"[redact]\npatterns = ['x', 1]", `user.toml:2: redact.patterns: want a list of texts, not 1`},
		{"[redact]\npatterns = ['x', '']", `user.toml:2: redact.patterns: number 2 is empty or has more than 1000 bytes`},
		{"[redact]\npatterns = [" + strings.Repeat("'x',", 101) + "]", `user.toml:2: redact.patterns: want at most 100, not 101`},
		{"[redact]\nnames = ['Anna', '-']", `user.toml:2: redact.names: number 2 is empty or has more than 100 bytes`},
		{"[redact]\nnames = ['" + strings.Repeat("x", 101) + "']", `user.toml:2: redact.names: number 1 is empty or has more than 100 bytes`},
		{"[redact]\npeople = 1", `user.toml:2: redact.people: want true or false, not 1`},
		{"[redact]\nname = ['Anna']", `user.toml:2: redact.name: unknown key, did you mean redact.names?`},
		{"[handoff]\nclean_grace = 5", `user.toml:2: handoff.clean_grace: want a duration such as "90s" or "5m", not 5`},
		{"[handoff]\nclean_grace = '5 minutes'", `user.toml:2: handoff.clean_grace: want a duration such as "90s" or "5m", not "5 minutes"`},
		{"[handoff]\nclean_grace = '-5m'", `user.toml:2: handoff.clean_grace: want a duration such as "90s" or "5m", not "-5m"`},
		{"[handoff]\nclean_grace = 2026-11-20", `user.toml:2: handoff.clean_grace: want a duration such as "90s" or "5m", not a date`},
		{"[context]\nwarning = 0.5", `user.toml:2: context.warning: want tokens such as 100000 or a part of the window such as "50%", not 0.5`},
		{"[context]\nwarning = '0%'", `user.toml:2: context.warning: want tokens such as 100000 or a part of the window such as "50%", not "0%"`},
		{"[context]\nwarning = '101%'", `user.toml:2: context.warning: want tokens such as 100000 or a part of the window such as "50%", not "101%"`},
		{"[context]\nwarning = 'NaN%'", `user.toml:2: context.warning: want tokens such as 100000 or a part of the window such as "50%", not "NaN%"`},
		{"[context]\ncritical = '100000'", `user.toml:2: context.critical: want tokens such as 100000 or a part of the window such as "50%", not "100000"`},
		{"[context]\ncritical = 0", `user.toml:2: context.critical: want tokens such as 100000 or a part of the window such as "50%", not 0`},
		{"[context]\ncheck_frequency = 0", `user.toml:2: context.check_frequency: want a number from 1 to 2147483647, not 0`},
		{"[context]\nenabled = {}", `user.toml:2: context.enabled: want true or false, not a table`},
		{"[context.windows]\n\"a[\" = 5", `user.toml:2: context.windows."a[": "a[" is not a pattern`},
		{"[context.windows]\nb = '5'", `user.toml:2: context.windows.b: want a number, not a text`},
		{"[retry]\nsession_tail_size = []", `user.toml:2: retry.session_tail_size: want a size such as "10MiB", not a list`},
		{"[housekeeping]\narchive_after = '90 days'", `user.toml:2: housekeeping.archive_after: age "90 days": it is a number and one of h, d, w`},
		{"[housekeeping]\nartifacts_age = 90", `user.toml:2: housekeeping.artifacts_age: want an age such as "90d", not 90`},
		{"[housekeeping]\nlog_size = '2MiB'", `user.toml:2: housekeeping.log_size: want a size from 1 byte to 1MiB`},
		{"[housekeeping]\nlog_size = 0", `user.toml:2: housekeeping.log_size: want a size from 1 byte to 1MiB`},
		// Keys that do not exist.
		{"[capture]\nmax_files_size = 1", `user.toml:2: capture.max_files_size: unknown key, did you mean capture.max_file_size?`},
		{"[capture]\ncolour = 1", `user.toml:2: capture.colour: unknown key`},
		{"[captur]\nexclude = ['x']", `user.toml:2: captur.exclude: unknown key, did you mean capture.exclude?`},
		{"max_file_size = 1", `user.toml:1: max_file_size: unknown key`},
		{"[capture.exclude]\nx = 1", `user.toml:2: capture.exclude.x: unknown key, did you mean capture.exclude?`},
		{"[sync]\n", `user.toml:1: sync: unknown key`},
		{"[context.windows.x]\ny = 1", `user.toml:2: context.windows.x.y: unknown key, did you mean context.windows?`},
		// Not TOML, or not a table.
		{"capture = 1", `user.toml:1: capture: this is a table`},
		{"[[capture]]\nexclude = []", `user.toml:1: capture: this is a table`},
		{"[context]\nwindows = 3", `user.toml:2: context.windows: this is a table`},
		{"[capture]\nmax_file_size = \n", "user.toml:2: capture.max_file_size: expected value but found '\\n' instead"},
		{"[capture]\nexclude = []\nexclude = []", `user.toml:3: capture.exclude: Key 'capture.exclude' has already been defined.`},
		{"\xff", `user.toml:1: invalid UTF-8 byte: 0xff`},
		{strings.Repeat("#", maxUserFile+1), `user.toml: larger than "256KiB"`},
		// Several, in order; tables may be written inline or dotted.
		{
			"retry = {include_session_tail = 1}\ncapture.exclude = 2\n[context]\nenabled = 3",
			"user.toml:1: retry.include_session_tail: want true or false, not 1\n" +
				"user.toml:2: capture.exclude: want a list of patterns such as [\"*.iso\"], not 2\n" +
				"user.toml:4: context.enabled: want true or false, not 3",
		},
	} {
		c, errs, _ := load(t, tt.text, "")
		if got := strings.Join(errs, "\n"); got != tt.want {
			t.Errorf("%.60q:\ngot  %s\nwant %s", tt.text, got, tt.want)
		}
		if c.rules, c.Recording.Err = nil, nil; !reflect.DeepEqual(c, Default()) { // TestRules, TestRecord
			t.Errorf("%.60q changed something: %+v", tt.text, c)
		}
	}
}

// TestValidRest checks that a mistake affects one setting only, as a hook needs it.
func TestValidRest(t *testing.T) {
	t.Parallel()
	c, errs, _ := load(t, "[capture]\nnope = 1\nmax_file_size = 'x'\nmax_untracked_files = 3\n[retry]\nsession_tail_size = 1\n", "")
	if len(errs) != 2 || c.Capture.MaxUntrackedFiles != 3 || c.Retry.SessionTailSize != 1 || c.Capture.MaxFileSize != 10<<20 {
		t.Errorf("got %+v, problems %q", c, errs)
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "user.toml")
	gittest.Must(t, os.WriteFile(path, []byte("\n[capture]\nnope = 1\n"), 0o666))
	_, err := Load(path, "")
	e := (*Error)(nil)
	if !errors.As(err, &e) || e.Path != path || e.Line != 3 || e.Key != "capture.nope" {
		t.Fatalf("got %#v", err)
	}
	if got, want := err.Error(), "read configuration "+path+":3: capture.nope: unknown key"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRepo(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, user, repo string
		want             func(c *Config) // what differs from the defaults
		errs             []string
	}{
		{
			name: "everything that captures less",
			repo: "[capture]\nmax_file_size = '1MiB'\nmax_untracked_files = 10\nmax_untracked_size = 0\nexclude = ['/data', '#x']\nsubject_prompt = false\n",
			want: func(c *Config) {
				c.Capture = Capture{MaxFileSize: 1 << 20, MaxUntrackedFiles: 10, Exclude: []string{"/data", "#x"}, BranchPrefix: "agent/mission/", TellDestroyed: true}
			},
		},
		{
			name: "the same as the defaults",
			repo: "[capture]\nmax_file_size = '10MiB'\nmax_untracked_files = 5000\nmax_untracked_size = '100MiB'\nexclude = []\nsubject_prompt = true\n",
		},
		{
			name: "the smaller value rules, whoever wrote it",
			user: "[capture]\nmax_file_size = '1MiB'\nmax_untracked_files = 9000\n",
			repo: "[capture]\nmax_file_size = '5MiB'\nmax_untracked_files = 8000\n",
			want: func(c *Config) { c.Capture.MaxFileSize, c.Capture.MaxUntrackedFiles = 1<<20, 8000 },
		},
		{
			name: "more than the default",
			repo: "[capture]\nmax_file_size = '11MiB'\nmax_untracked_files = 5001\nmax_untracked_size = '1GiB'\n",
			errs: []string{
				`repo.toml:2: capture.max_file_size: a repository may capture less, not more: "11MiB" is above "10MiB"`,
				`repo.toml:3: capture.max_untracked_files: a repository may capture less, not more: 5001 is above 5000`,
				`repo.toml:4: capture.max_untracked_size: a repository may capture less, not more: "1GiB" is above "100MiB"`,
			},
		},
		{
			name: "the prompt stays out of the subjects",
			user: "[capture]\nsubject_prompt = false\n",
			repo: "[capture]\nsubject_prompt = true\n",
			want: func(c *Config) { c.Capture.SubjectPrompt = false },
		},
		{
			name: "excludes add up, and cannot be taken back",
			user: "[capture]\nexclude = ['*.pem', '*.key']\n",
			repo: "[capture]\nexclude = ['*.iso']\n",
			want: func(c *Config) { c.Capture.Exclude = []string{"*.pem", "*.key", "*.iso"} },
		},
		{
			name: "not even one",
			user: "[capture]\nexclude = ['*.pem']\n",
			repo: "[capture]\nexclude = ['*.iso', '!*.pem']\n",
			want: func(c *Config) { c.Capture.Exclude = []string{"*.pem"} },
			errs: []string{`repo.toml:2: capture.exclude: a repository may exclude more, not less: "!*.pem"`},
		},
		{
			name: "nothing else",
			repo: "context.windows.x = 1\n[capture]\nbranch_prefix = 'main/'\n[handoff]\nclean_grace = '0s'\n[context]\nenabled = false\n[retry]\ninclude_session_tail = true\n[sync]\npush = 'all'\n",
			errs: []string{
				`repo.toml:1: context.windows.x: only the user's file may set this`,
				`repo.toml:3: capture.branch_prefix: only the user's file may set this`,
				`repo.toml:5: handoff.clean_grace: only the user's file may set this`,
				`repo.toml:7: context.enabled: only the user's file may set this`,
				`repo.toml:9: retry.include_session_tail: only the user's file may set this`,
				`repo.toml:11: sync.push: unknown key`,
			},
		},
		{
			name: "wrong types",
			repo: "[capture]\nmax_file_size = {}\nexclude = 1\n",
			errs: []string{
				`repo.toml:2: capture.max_file_size: want a size such as "10MiB", not a table`,
				`repo.toml:3: capture.exclude: want a list of patterns such as ["*.iso"], not 1`,
			},
		},
		{
			name: "an empty table",
			repo: "[capture]\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, errs, _ := load(t, tt.user, tt.repo)
			if !slices.Equal(errs, tt.errs) {
				t.Errorf("got problems\n%s\nwant\n%s", strings.Join(errs, "\n"), strings.Join(tt.errs, "\n"))
			}
			want := Default()
			if tt.want != nil {
				tt.want(want)
			}
			want.origins = got.origins
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got  %+v\nwant %+v", got, want)
			}
		})
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	c, _, dir := load(t,
		"[capture]\nexclude = ['a']\nmax_file_size = '1MiB'\nmax_untracked_files = 1\n",
		"[capture]\nexclude = ['b']\nmax_file_size = '2MiB'\nmax_untracked_size = 5\n")
	user, repo := filepath.Join(dir, "user.toml"), filepath.Join(dir, "repo.toml")
	want := map[string]string{
		"capture.exclude":             user + ", " + repo,
		"capture.max_file_size":       user,
		"capture.max_untracked_files": user,
		"capture.max_untracked_size":  repo,
		"capture.subject_prompt":      "default",
	}
	for _, v := range c.Values() {
		if origin, ok := want[v.Key]; ok && v.Origin != origin {
			t.Errorf("%s comes from %q, want %q", v.Key, v.Origin, origin)
		}
	}
}

// TestHostileRepoFile checks what a stranger's repository could have in place of the file.
func TestHostileRepoFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, "elsewhere.toml")
	gittest.Must(t, os.WriteFile(elsewhere, []byte("[capture]\nmax_file_size = 1\n"), 0o666))
	path := filepath.Join(dir, RepoFile)
	check := func(what string, errs ...string) {
		t.Helper()
		c, err := Load("", path)
		if got := problems(err, dir); !slices.Equal(got, errs) {
			t.Errorf("%s: got problems %q, want %q", what, got, errs)
		}
		if !reflect.DeepEqual(c, Default()) {
			t.Errorf("%s: got %+v, want the defaults", what, c)
		}
		gittest.Must(t, os.RemoveAll(path))
	}
	check("nothing")
	gittest.Must(t, os.Symlink(elsewhere, path))
	check("a link", RepoFile+": not a regular file")
	gittest.Must(t, os.Symlink(filepath.Join(dir, "gone"), path))
	check("a dangling link", RepoFile+": not a regular file")
	gittest.Must(t, os.Mkdir(path, 0o777))
	check("a directory", RepoFile+": not a regular file")
	gittest.Must(t, os.WriteFile(path, []byte("a="+strings.Repeat("[", maxFile-2)), 0o666))
	check("many brackets", RepoFile+`:1: a: unexpected EOF; expected value`)
	gittest.Must(t, os.WriteFile(path, []byte(strings.Repeat("x", maxFile)+"x=1"), 0o666))
	check("too large", RepoFile+`: larger than "16KiB"`)
	gittest.Must(t, os.WriteFile(path, []byte("#\n"+strings.Repeat("a.", 7000)+"a = 1"), 0o666))
	check("a key of many parts", RepoFile+": too many dots in line 2")
	gittest.Must(t, os.WriteFile(path, []byte(strings.Repeat("a = {", 3000)), 0o666))
	check("deep inline tables", RepoFile+": too many inline tables")
	var many strings.Builder
	var want []string
	for i := range 1000 {
		fmt.Fprintf(&many, "k%d = 1\n", i)
		if i < maxErrors {
			want = append(want, fmt.Sprintf("%s:%d: k%d: unknown key", RepoFile, i+1, i))
		}
	}
	gittest.Must(t, os.WriteFile(path, []byte(many.String()), 0o666))
	check("many mistakes", append(want, RepoFile+": 990 more mistakes")...)
}

// TestUserLink checks that the user's file may be a link, as people often have it.
func TestUserLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "dotfiles.toml")
	gittest.Must(t, os.WriteFile(path, []byte("[retry]\nsession_tail_size = 1\n"), 0o666))
	link := filepath.Join(dir, "config.toml")
	gittest.Must(t, os.Symlink(path, link))
	c, err := Load(link, "")
	if err != nil || c.Retry.SessionTailSize != 1 {
		t.Errorf("got %d, %v", c.Retry.SessionTailSize, err)
	}
}

func TestUserPath(t *testing.T) {
	for _, tt := range []struct{ xdg, home, want string }{
		{"/xdg", "/home/dev", "/xdg/git-agent/config.toml"},
		{"", "/home/dev", "/home/dev/.config/git-agent/config.toml"},
		{"relative", "/home/dev", "/home/dev/.config/git-agent/config.toml"},
		{"", "", ""},
	} {
		t.Setenv("XDG_CONFIG_HOME", tt.xdg)
		t.Setenv("HOME", tt.home)
		if got := UserPath(); got != filepath.FromSlash(tt.want) {
			t.Errorf("XDG_CONFIG_HOME=%s HOME=%s: got %q, want %q", tt.xdg, tt.home, got, tt.want)
		}
	}
}

func TestWindow(t *testing.T) {
	t.Parallel()
	c := Default().Context
	c.Windows["claude-opus-4-5-2026*"] = 300_000
	c.Windows["claude-opus-4-5-20261101"] = 400_000
	for _, tt := range []struct {
		model string
		want  int
	}{
		{"claude-sonnet-4-5", 200_000},
		{"claude-sonnet-4-5-20250929", 200_000},
		{"claude-opus-4-8", 1_000_000},
		{"", 1_000_000},
		{"claude-opus-4-5-20251101", 200_000},
		{"claude-opus-4-5-20260101", 300_000},
		{"claude-opus-4-5-20261101", 400_000},
	} {
		if got := c.Window(tt.model); got != tt.want {
			t.Errorf("Window(%q) = %d, want %d", tt.model, got, tt.want)
		}
	}
}

func TestLimitOf(t *testing.T) {
	t.Parallel()
	c := Default().Context
	if got := c.Warning.Of(200_000); got != 100_000 {
		t.Errorf("the warning limit is %d tokens of 200,000, want 100,000", got)
	}
	if got := c.Critical.Of(200_000); got != 130_000 {
		t.Errorf("the critical limit is %d tokens of 200,000, want 130,000", got)
	}
	if got := (Limit{Tokens: 7}).Of(200_000); got != 7 {
		t.Errorf("a limit of 7 tokens is %d", got)
	}
}

func FuzzLoad(f *testing.F) {
	f.Add(everyKey)
	f.Add("[capture]\nexclude = ['a', \"b\\n\"]\n[[context]]\n")
	f.Add("a.b.c = {x = [1, {y = 2}]}\n\"\" = 1")
	f.Add("retry = {include_session_tail = true}")
	path := filepath.Join(f.TempDir(), "x.toml")
	f.Fuzz(func(t *testing.T, text string) {
		write := func(text string) {
			gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
		}
		write(text)
		c, err := Load(path, "")
		var again strings.Builder
		for _, v := range c.Values() {
			fmt.Fprintf(&again, "%s = %s\n", v.Key, v.Value)
		}
		repo, _ := Load("", path)
		write(again.String())
		same, _ := Load(path, "")
		for i, v := range same.Values() {
			if was := c.Values()[i]; was.Key != v.Key || was.Value != v.Value {
				t.Fatalf("%q (%v) gives %s = %s, read again %s", text, err, was.Key, was.Value, v.Value)
			}
		}
		// In a repository's file it never captures more.
		d := Default()
		if repo.Capture.MaxFileSize > d.Capture.MaxFileSize || repo.Capture.MaxUntrackedFiles > d.Capture.MaxUntrackedFiles ||
			repo.Capture.MaxUntrackedSize > d.Capture.MaxUntrackedSize || repo.Capture.BranchPrefix != d.Capture.BranchPrefix ||
			!reflect.DeepEqual(repo.Handoff, d.Handoff) || !reflect.DeepEqual(repo.Context, d.Context) || repo.Retry != d.Retry {
			t.Fatalf("as a repository's file %q gives %+v", text, repo)
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	path := filepath.Join(dir, "config.toml")
	for _, text := range []string{"", everyKey} {
		if text != "" {
			gittest.Must(b, os.WriteFile(path, []byte(text), 0o666))
		}
		b.Run(fmt.Sprintf("%dbytes", len(text)), func(b *testing.B) {
			for b.Loop() {
				if _, err := Load(path, filepath.Join(dir, RepoFile)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
