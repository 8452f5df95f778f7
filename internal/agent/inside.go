package agent

import (
	"slices"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/session"
)

// Inside returns the agent that runs this command of ours, and its client, by
// default the default agent. getenv is [os.Getenv] or a stand-in.
func Inside(getenv func(string) string) (*Agent, hooks.Environment) {
	return inside(getenv, all, session.Ancestors)
}

// inside is [Inside] for some agents. An agent inherits the variables of one
// that runs it, so the nearest process counts.
func inside(getenv func(string) string, among []*Agent, ancestors func() []session.Process) (*Agent, hooks.Environment) {
	var found []*Agent
	for _, a := range among {
		if a.Client(getenv).SessionID != "" {
			found = append(found, a)
		}
	}
	if len(found) == 0 {
		return among[0], among[0].Client(getenv)
	}
	if len(found) > 1 {
		for _, p := range ancestors() {
			for _, a := range found {
				if c := a.Client(getenv); p.PID == c.PID || slices.Contains(a.Programs, p.Name) {
					return a, c
				}
			}
		}
	}
	return found[0], found[0].Client(getenv)
}

// Borrower returns the agent whose client runs a hook that names none, if that
// is not the default one: it found our hooks where they are for the default
// agent. getenv is [os.Getenv] or a stand-in.
func Borrower(getenv func(string) string) (a *Agent, ok bool) {
	return borrower(getenv, all, session.Ancestors)
}

// borrower is [Borrower] for some agents. Here, too, the nearest process counts.
func borrower(getenv func(string) string, among []*Agent, ancestors func() []session.Process) (*Agent, bool) {
	own := among[0]
	for _, a := range among[1:] {
		if a.Borrows == nil || !a.Borrows(getenv) {
			continue
		}
		theirs, ours := a.Client(getenv), own.Client(getenv)
		for _, p := range ancestors() {
			switch {
			case p.PID == theirs.PID || slices.Contains(a.Programs, p.Name):
				return a, true
			case p.PID == ours.PID || slices.Contains(own.Programs, p.Name):
				return nil, false
			}
		}
		return a, ours.SessionID == "" // its hooks would have that
	}
	return nil, false
}

// Marks of clients that are not recorded. Their agents must not give a person's
// consent, either.
var (
	otherVariables = []string{"CURSOR_AGENT", "AI_AGENT"} // the last is common to several
	otherPrograms  = []string{"cursor-agent"}
)

// Marks returns the variables of an environment, as of [os.Environ], that say
// that an agent runs here. One that is empty, 0 or false says nothing.
func Marks(environ []string) []string {
	names := otherVariables
	for _, a := range all {
		names = slices.Concat(names, a.Variables)
	}
	var marks []string
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if slices.Contains(names, name) && !slices.Contains([]string{"", "0", "false"}, strings.ToLower(value)) {
			marks = append(marks, name)
		}
	}
	return marks
}

// IsClient reports whether a program's name is that of an agent's client.
func IsClient(name string) bool {
	return slices.Contains(otherPrograms, name) || slices.ContainsFunc(all, func(a *Agent) bool { return slices.Contains(a.Programs, name) })
}
