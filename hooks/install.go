package hooks

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An Entry is a hook that we install: a command for one event.
type Entry struct {
	Event   string
	Command string   // never changes once released; see the package comment
	Timeout int      // seconds
	Matcher string   // the tool that the event must be about; "" for any event
	If      []string // rules of the client's, of which the event must match one; nil for any
}

// program returns the name of the executable that e runs.
func (e Entry) program() string { return strings.Fields(e.Command)[0] }

// made starts a settings file of ours. Its unique ending identifies that.
var made = []byte("{}\n\n")

// Install returns settings with the entries that they lack.
//
// Every existing byte stays, and additions follow the file's own indentation
// and line ends. An entry counts as installed if any hook of its event runs its
// program, so installing twice changes nothing. Empty or nil settings become an
// object. If settings are not strict JSON, or have a wrong type that makes the
// client skip an event of entries, the error is a [*SettingsError].
func Install(settings []byte, entries []Entry) ([]byte, error) {
	switch {
	case settings == nil:
		settings = made
	case blank(settings):
		settings = []byte("{}\n")
	}
	for _, e := range entries {
		d, err := parse(settings)
		if err != nil {
			return nil, err
		}
		if err := d.check(e.Event); err != nil {
			return nil, err
		}
		settings = d.add(e)
	}
	return settings, nil
}

// Remove returns settings without the hooks of any event that have exactly a
// command of entries, and without arrays and objects that become empty, unless
// they existed before [Install]: Remove after Install restores the original
// bytes.
func Remove(settings []byte, entries []Entry) ([]byte, error) {
	if blank(settings) {
		return settings, nil
	}
	for {
		d, err := parse(settings)
		if err != nil {
			return nil, err
		}
		path := d.find(entries)
		if path == nil {
			return settings, nil
		}
		settings = d.cut(path)
	}
}

// The shape of an entry, in the order in which the client writes it.
type (
	hookGroup struct {
		Matcher string        `json:"matcher,omitempty"`
		Hooks   []hookCommand `json:"hooks"`
	}
	hookCommand struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		If      string `json:"if,omitempty"`
		Timeout int    `json:"timeout,omitempty"`
	}
)

// group returns the entry as settings have it: a hook for each rule.
func (e Entry) group() hookGroup {
	g := hookGroup{Matcher: e.Matcher}
	for _, rule := range e.If {
		g.Hooks = append(g.Hooks, hookCommand{"command", e.Command, rule, e.Timeout})
	}
	if e.If == nil {
		g.Hooks = append(g.Hooks, hookCommand{"command", e.Command, "", e.Timeout})
	}
	return g
}

// add returns the text of d with e. [document.check] must have passed.
func (d *document) add(e Entry) []byte {
	group := e.group()
	groups := []hookGroup{group}
	hooks := d.root.member("hooks")
	event := hooks.member(e.Event)
	switch {
	case hooks == nil:
		return d.insert(d.root, "hooks", map[string][]hookGroup{e.Event: groups})
	case event == nil:
		return d.insert(hooks, e.Event, groups)
	}
	for _, g := range event.items() {
		for _, h := range g.value.member("hooks").elements() {
			if runs(h.value) == e.program() {
				return d.data
			}
		}
	}
	return d.insert(event, "", group)
}

// commandOf returns h's command line, or "". Exec form has separate arguments.
func commandOf(h *node) string {
	command := h.member("command")
	if command == nil {
		return ""
	}
	line := command.text
	for _, arg := range h.member("args").elements() {
		line += " " + arg.value.text
	}
	return line
}

// program matches a command that runs one of our hooks, by any path and with
// anything around it. Hooks, which start often, never compile it.
var program = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[^\w.-])git[ -]agent-(turn|handoff)(?:\.exe)?["']?\s+hook(?:$|[^\w-])`)
})

// runs returns which of our programs the hook h runs, or "".
func runs(h *node) string {
	if m := program().FindStringSubmatch(commandOf(h)); m != nil {
		return "git-agent-" + m[1]
	}
	return ""
}

func isOurs(h *node, entries []Entry) bool {
	command := h.member("command")
	return command != nil && h.member("args") == nil &&
		slices.ContainsFunc(entries, func(e Entry) bool { return command.text == e.Command })
}

type step struct {
	in    *node
	index int
}

// find returns the items on the way to our first hook, from the root, or nil.
func (d *document) find(entries []Entry) []step {
	for i, hooks := range d.root.items() {
		if hooks.key != "hooks" {
			continue
		}
		for j, event := range hooks.value.members() {
			for k, group := range event.value.elements() {
				list := group.value.member("hooks")
				for l, h := range list.elements() {
					if isOurs(h.value, entries) {
						return []step{{d.root, i}, {hooks.value, j}, {event.value, k}, {list, l}}
					}
				}
			}
		}
	}
	return nil
}

// cut returns the text of d without the hook at path and what becomes empty.
func (d *document) cut(path []step) []byte {
	for i, s := range slices.Backward(path) {
		if len(s.in.items()) > 1 {
			return d.delete(s)
		}
		if i == len(path)-1 {
			continue // a group goes with its last hook
		}
		if inner, kept := d.emptied(s.in); kept {
			return d.splice(s.in.start+1, s.in.end-1, inner)
		}
	}
	return d.splice(d.root.start+1, d.root.end-1, "")
}

// check returns the reason why a client can't run a hook of event, or nil.
func (d *document) check(event string) error {
	name := "hooks." + event
	hooks := d.root.member("hooks")
	if err := d.want("an object", "hooks", hooks); err != nil {
		return err
	}
	groups := hooks.member(event)
	if err := d.want("an array", name, groups); err != nil {
		return err
	}
	for _, group := range groups.elements() {
		if err := d.want("an object", "an element of "+name, group.value); err != nil {
			return err
		}
		list := group.value.member("hooks")
		if list == nil {
			return d.fault(group.start, "an element of %s has no hooks", name)
		}
		if err := d.want("an array", "hooks in "+name, list); err != nil {
			return err
		}
		for _, hook := range list.elements() {
			if err := d.want("an object", "a hook in "+name, hook.value); err != nil {
				return err
			}
			for _, field := range []struct{ kind, key string }{{"a string", "type"}, {"a string", "command"}, {"a number", "timeout"}} {
				if err := d.want(field.kind, field.key+" in "+name, hook.value.member(field.key)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// want returns an error if n, which is called what, exists with another kind.
func (d *document) want(kind, what string, n *node) error {
	if n == nil || kindOf(n.kind) == kind {
		return nil
	}
	return d.fault(n.start, "%s is %s, want %s", what, kindOf(n.kind), kind)
}
