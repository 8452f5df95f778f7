package workspace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"gitagent/internal/config"
	"gitagent/internal/except"
	"gitagent/internal/git"
	"gitagent/internal/places"
	"gitagent/internal/recording"
)

const recordKey = "agent.record"

// Switched reports whether the user has switched recording on in the repository
// itself. In one of somebody else's what its files say of that is their word, and
// the user's own is elsewhere.
func (w *Workspace) Switched() bool {
	return w.Store.Enabled() && (w.Repo.Own() || places.Of(os.Getenv).Switched(w.Repo.CommonDir))
}

// Switch switches recording on or off in the repository itself, and reports
// whether that changed it.
func (w *Workspace) Switch(on bool) (changed bool, err error) {
	changed = w.Switched() != on
	if !w.Repo.Own() {
		if err := places.Of(os.Getenv).Switch(w.Repo.CommonDir, on); err != nil {
			return false, err
		}
	}
	stored, err := w.Store.Enable(on)
	return changed || stored, err
}

// Enabled reports whether turns are recorded here. given is what the agent's
// client calls the directory that it works in. It runs one git process if
// recording is not enabled for the repository itself.
func (w *Workspace) Enabled(ctx context.Context, given ...string) (bool, error) {
	v, err := w.Recording(ctx, given...)
	return v.On, err
}

// Recording is [Workspace.Enabled] with the reason. Nothing that it goes by is
// kept: a remote counts from when it is there.
func (w *Workspace) Recording(ctx context.Context, given ...string) (recording.Verdict, error) {
	init := w.Switched()
	if init && !w.mayForbid() {
		return recording.Decide(recording.Facts{Init: true}), nil
	}
	lines, err := w.Repo.ConfigLines(ctx)
	if err != nil {
		return recording.Verdict{}, err
	}
	facts := recording.Facts{Init: init}
	for _, l := range lines {
		if l.Key == recordKey {
			facts.Record = append(facts.Record, l)
		}
	}
	set := w.userSettings()
	facts.Everywhere, facts.Unread = set.Recording.Everywhere, set.Recording.Err
	if facts.Everywhere || facts.Unread != nil || len(facts.Record) > 0 {
		w.look(&facts, excepting(set), git.ConfigOf(lines), given)
	}
	return recording.Decide(facts), nil
}

// look finds out what keeps the repository from being one of all.
func (w *Workspace) look(facts *recording.Facts, sets []*config.Config, conf git.Config, given []string) {
	own := w.Repo.Own()
	home, _ := os.UserHomeDir()
	facts.Foreign, facts.Never = !own, recording.Unfit(w.Repo, own, home, recording.TemporaryDirs(os.Getenv))
	if facts.Never != "" {
		return
	}
	at := sync.OnceValue(func() except.Place {
		return except.Place{
			Paths:      recording.Paths(w.Repo, conf.Get("core.worktree"), append(given, os.Getenv("PWD"))...),
			URLs:       recording.URLs(conf, w.oldRemotes()...),
			IgnoreCase: conf.Bool("core.ignorecase"),
		}
	})
	for _, set := range sets {
		patterns, err := set.Patterns()
		if err = cmp.Or(set.Recording.Err, err); err != nil && facts.Unread == nil {
			facts.Unread = err
		}
		for i, p := range patterns {
			if p.Matches(at()) {
				facts.Except = set.Recording.Except[i]
				return
			}
		}
	}
}

// Because returns a verdict's reason, with the line that says so; "" if nobody
// has said anything.
func (w *Workspace) Because(v recording.Verdict) string {
	set := w.userSettings()
	switch v.Reason {
	case recording.Init:
		return "by init: .git/agent/enabled"
	case recording.Record:
		return fmt.Sprintf("by %s = %s, %s", v.Line.Key, v.Line.Value, lineOf(v.Line))
	case recording.Everywhere:
		return "by record.everywhere = true, " + set.EverywhereLine()
	case recording.Never:
		return "of all repositories, never this one: " + v.Text
	case recording.Unread:
		return "since the exceptions can't be read: " + v.Text
	case recording.Except:
		for _, s := range excepting(set) {
			if slices.Contains(s.Recording.Except, v.Text) {
				return fmt.Sprintf("by the exception %s, %s", v.Text, s.ExceptLine(v.Text))
			}
		}
	}
	return ""
}

// lineOf returns where a value of agent.record is: file:line if that can be
// told, since git tells the file alone.
func lineOf(l git.ConfigLine) string {
	text, err := os.ReadFile(l.Origin)
	at := 0
	for n, line := range strings.Split(string(text), "\n") {
		name, _, _ := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); strings.EqualFold(name, "record") {
			if at > 0 {
				return l.Origin // it is there twice
			}
			at = n + 1
		}
	}
	if err != nil || at == 0 {
		return l.Origin
	}
	return fmt.Sprintf("%s:%d", l.Origin, at)
}

func (w *Workspace) userSettings() *config.Config {
	if w.Settings != nil {
		return w.Settings
	}
	set, _ := config.Load(config.UserPath(), "") // Recording.Err is what matters here
	return set
}

// excepting returns the settings of which exceptions count: also those of the home
// directory where XDG_CONFIG_HOME, perhaps in one shell alone, names another.
func excepting(set *config.Config) []*config.Config {
	sets := []*config.Config{set}
	if at := config.HomePath(); at != config.UserPath() {
		home, _ := config.Load(at, "")
		sets = append(sets, home)
	}
	return sets
}

// mayForbid reports whether the repository's own configuration may say that
// nothing is recorded: whether git has to be asked.
func (w *Workspace) mayForbid() bool {
	for _, file := range []string{filepath.Join(w.Repo.CommonDir, "config"), filepath.Join(w.Repo.GitDir, "config.worktree")} {
		text, err := os.ReadFile(file)
		text = bytes.ToLower(text)
		if err == nil && (bytes.Contains(text, []byte("record")) || bytes.Contains(text, []byte("include"))) {
			return true
		}
	}
	return false
}

// oldRemotes returns the URLs in files of remotes from before git's configuration
// had them, which git reads still.
func (w *Workspace) oldRemotes() []string {
	var urls []string
	for _, file := range append(w.Repo.Glob("remotes/*"), w.Repo.Glob("branches/*")...) {
		text, _ := os.ReadFile(file)
		for line := range strings.Lines(string(text)) {
			line = strings.TrimSpace(line)
			if _, rest, ok := strings.Cut(line, ": "); ok {
				line = strings.TrimSpace(rest)
			}
			line, _, _ = strings.Cut(line, "#") // a branch
			urls = append(urls, line)
		}
	}
	return urls
}
