package agent

import (
	"slices"

	"gitagent/internal/agent/claude"
	"gitagent/internal/agent/codex"
	"gitagent/internal/agent/gemini"
	"gitagent/internal/agent/opencode"
)

// all are the agents that are supported. The first is the one of hooks that don't say whose they are, and of
// records that don't.
var all = []Agent{claude.Agent{}, codex.Agent{}, opencode.Agent{}, gemini.Agent{}}

// All returns the agents that are supported.
func All() []Agent { return slices.Clone(all) }

// Default returns the agent of hooks and records that don't say whose they are.
func Default() Agent { return all[0] }

// Find returns the agent with a name, that of records or that of its program; ok is false for any other.
func Find(name string) (a Agent, ok bool) {
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name() == name || a.Program() == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// Of returns the agent that a record names, the default one for any other name: a conversation that a
// person gives us by hand is tried as one of its kind.
func Of(name string) Agent {
	if a, ok := Find(name); ok {
		return a
	}
	return Default()
}

// Programs returns what the flag --agent takes.
func Programs() []string {
	var names []string
	for _, a := range all {
		names = append(names, a.Program())
	}
	return names
}
