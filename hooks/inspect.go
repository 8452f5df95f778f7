package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Places are where an agent's client has hooks. Empty ones are skipped.
type Places struct {
	Config  string // the user's own configuration
	Project string // where the client is launched
}

// Settings are a file that a client reads its hooks from.
type Settings struct {
	Path    string
	Managed bool // by an administrator, for all users
	Sent    bool // by their server, for the user who has signed in there
	Team    bool // in the repository, for its team
}

// A Problem is a reason why hooks don't run properly.
type Problem string

const (
	Unreadable  Problem = "unreadable"   // a settings file cannot be read
	NotJSON     Problem = "not JSON"     // the client drops the whole file
	WrongType   Problem = "wrong type"   // the client drops the event
	Disabled    Problem = "disabled"     // disableAllHooks in one file silences all
	ManagedOnly Problem = "managed only" // only an administrator's hooks run
	Elsewhere   Problem = "elsewhere"    // an administrator's settings that can't be read from here, which may say either
	Missing     Problem = "missing"      // no hook of ours for an event
	Twice       Problem = "twice"        // two hooks of ours in settings for an event: recorded once at twice the cost
	Changed     Problem = "changed"      // runs our program by another command than we install
	Untrusted   Problem = "untrusted"    // the client asks the user first, or the user has disabled it
)

// A Finding is one problem.
type Finding struct {
	Problem Problem
	Path    string   // at fault, a file or plugin; "" for Missing
	Events  []string // none means all
	Text    string   // what is wrong, for a person
	Managed bool     // only an administrator can change it
}

func (f Finding) String() string {
	text := f.Text
	if len(f.Events) > 0 {
		text = strings.Join(f.Events, ", ") + ": " + text
	}
	switch {
	case f.Path == "" || f.Problem == Unreadable: // the text names the file
		return text
	case f.Problem == NotJSON || f.Problem == WrongType: // the text starts with line:column:
		return f.Path + ":" + text
	}
	return f.Path + ": " + text
}

// An Installed is a hook in settings that runs one of our programs.
type Installed struct {
	Event   string
	Program string // git-agent-turn or git-agent-handoff
	Command string // with its arguments if it is in exec form
	Path    string
	Line    int
	form    string // equal hooks run once, in any files
}

// A Plugin is a copy of our plugin, with hooks for all events.
type Plugin struct {
	Name    string // in the client, or else its path
	Version string // "" if unknown
	Update  string // the client's command to update it to our version, or ""
	Remove  string // the command to remove it; "" if the agent's Remove does
}

// A Report is the result of [Inspect].
type Report struct {
	Installed []Installed
	Plugins   []Plugin // that the client runs
	Off       []string // the disabled ones
	Findings  []Finding
}

// Other returns the name of a plugin with our hooks, not at path, or "".
func (r *Report) Other(path string) string {
	for _, p := range r.Plugins {
		if p.Name != path {
			return p.Name
		}
	}
	return ""
}

// Inspect reports which of our entries a client will run with the settings in
// files, in rising precedence, and what is wrong. plugins are copies of our
// plugin that no settings name. An unreadable file is a finding, a missing one
// is not.
func Inspect(entries []Entry, files []Settings, plugins ...Plugin) *Report {
	r := new(Report)
	enabled := map[string]bool{}
	// In the home directory, the user's and the project's are the same.
	for _, f := range slices.CompactFunc(files, func(a, b Settings) bool { return a.Path == b.Path }) {
		if d := r.read(f.Path); d != nil {
			r.settings(f, d, entries)
			for _, p := range d.root.member("enabledPlugins").members() { // later files win
				// A team can disable a plugin, but can't install it.
				if on := p.value.isTrue(); !on || !f.Team {
					enabled[p.key] = on
				}
			}
		}
	}
	for _, plugin := range slices.Sorted(maps.Keys(enabled)) {
		name, _, _ := strings.Cut(plugin, "@")
		switch {
		case !strings.Contains(name, "git-agent"):
		case enabled[plugin]:
			r.Plugins = append(r.Plugins, Plugin{Name: plugin})
		default:
			r.Off = append(r.Off, plugin)
		}
	}
	r.Plugins = append(r.Plugins, plugins...)
	for _, e := range entries {
		r.event(e)
	}
	return r
}

// read returns the settings in path, or nil.
func (r *Report) read(path string) *document {
	data, err := readSettings(path)
	if err != nil {
		r.add(Unreadable, path, "", err.Error())
	}
	if blank(data) {
		return nil
	}
	d, err := parse(data)
	if err != nil {
		r.add(NotJSON, path, "", err.Error())
	}
	return d // nil after an error
}

func (r *Report) settings(f Settings, d *document, entries []Entry) {
	path := f.Path
	for key, problem := range map[string]Problem{"disableAllHooks": Disabled, "allowManagedHooksOnly": ManagedOnly} {
		if f.Managed && !f.Sent && d.root.member(key) != nil { // the last of an administrator's files wins
			r.Findings = slices.DeleteFunc(r.Findings, func(f Finding) bool { return f.Problem == problem && f.Managed })
		}
	}
	if d.root.member("disableAllHooks").isTrue() {
		r.add(Disabled, path, "", "disableAllHooks turns off every hook, whichever file it is in").Managed = f.Managed
	}
	if f.Managed && d.root.member("allowManagedHooksOnly").isTrue() {
		r.add(ManagedOnly, path, "", "allowManagedHooksOnly turns off the hooks of all other files and of plugins").Managed = true
	}
	for _, e := range entries {
		if err := d.check(e.Event); err != nil {
			r.add(WrongType, path, "", err.Error())
			continue
		}
		for _, group := range d.root.member("hooks").member(e.Event).elements() {
			for _, h := range group.value.member("hooks").elements() {
				if runs(h.value) != e.program() {
					continue
				}
				command := commandOf(h.value)
				line, _ := d.position(h.start)
				form := strconv.FormatBool(h.value.member("args") != nil) + command
				i := Installed{e.Event, e.program(), command, path, line, form}
				if rule := h.value.member("if"); rule == nil || !r.lists(i) { // of several rules the first counts
					r.Installed = append(r.Installed, i)
				}
				if !isOurs(h.value, []Entry{e}) {
					r.add(Changed, path, e.Event, fmt.Sprintf("the command is %q, not %q", command, e.Command))
				}
			}
		}
	}
}

// lists reports whether the report has a hook like this one, in the same file.
func (r *Report) lists(i Installed) bool {
	return slices.ContainsFunc(r.Installed, func(have Installed) bool {
		return have.Event == i.Event && have.Path == i.Path && have.form == i.form
	})
}

// event adds findings about e's event. A plugin and settings may both have
// hooks: events are recorded once, and the plugin has skills, too.
func (r *Report) event(e Entry) {
	var places []string
	forms := map[string]bool{}
	for _, i := range r.Installed {
		if i.Event == e.Event && i.Program == e.program() && !forms[i.form] {
			forms[i.form] = true
			places = append(places, i.Path)
		}
	}
	switch {
	case len(places)+len(r.Plugins) == 0:
		r.add(Missing, "", e.Event, "no hook runs "+e.program())
	case len(places) > 1:
		r.add(Twice, places[0], e.Event, e.program()+" runs twice, the other hook is in "+strings.Join(places[1:], ", "))
	}
}

// Silenced adds a finding if a setting in the file at path, names with dots
// between, is off: that turns off every hook. A missing or damaged file doesn't.
func (r *Report) Silenced(path, setting string, off bool) {
	data, err := os.ReadFile(path)
	if value := gjson.GetBytes(data, setting); err == nil && json.Valid(data) && value.IsBool() && value.Bool() == off {
		r.add(Disabled, path, "", setting+" turns off every hook, whichever file it is in")
	}
}

// add adds a finding, or only its event to an equal one, and returns it.
func (r *Report) add(p Problem, path, event, text string) *Finding {
	i := slices.IndexFunc(r.Findings, func(f Finding) bool { return f.Problem == p && f.Path == path && f.Text == text })
	if i < 0 {
		i = len(r.Findings)
		r.Findings = append(r.Findings, Finding{Problem: p, Path: path, Text: text})
	}
	if event != "" {
		r.Findings[i].Events = append(r.Findings[i].Events, event)
	}
	return &r.Findings[i]
}
