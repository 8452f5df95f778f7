package turns

import (
	"fmt"
	"slices"
	"strings"

	"gitagent/hooks"
	"gitagent/internal/agent"
	"gitagent/internal/evidence"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Evidence returns the word for what a turn's checks come to; none if nobody
// looked for them.
func (t *Turn) Evidence() evidence.Word {
	if t.Checks == nil {
		return ""
	}
	return t.wordOf(t.checks())
}

// wordOf returns the word for some of the turn's checks: it is not known to be
// untested if some were left out.
func (t *Turn) wordOf(checks []evidence.Check) evidence.Word {
	word := evidence.WordOf(checks, t.Changed(), t.ChangedAfter)
	if word == evidence.Untested && t.ChecksLeft > 0 {
		return evidence.Unclear
	}
	return word
}

func (t *Turn) checks() (checks []evidence.Check) {
	for _, c := range t.newest() {
		checks = append(checks, evidence.Check{Kind: c.Kind, Command: c.Command, In: c.In, Outcome: c.Outcome, Call: c.Call})
	}
	return checks
}

// Denies reports whether what is recorded of a turn denies that tests pass after
// it, and whether it says anything of that. It denies nothing that may have run
// tests which are not recorded.
func (t *Turn) Denies() (denies, known bool) {
	if t.Checks == nil || t.obscure() {
		return false, true
	}
	tests := slices.DeleteFunc(t.checks(), func(c evidence.Check) bool { return c.Kind != evidence.Test })
	switch t.wordOf(tests) {
	case "":
		return false, false
	case evidence.Untested, evidence.EditedSince:
		return true, true
	case evidence.Failing: // another one may have passed since
		return tests[len(tests)-1].Outcome == evidence.Failed, true
	}
	return false, true
}

// obscure reports whether a turn may have run tests in a way that is not read: by
// a server's tool, a sub-agent whose conversation is missing, or the user's shell.
func (t *Turn) obscure() bool {
	for tool := range t.Tools {
		if name := strings.ToLower(tool); strings.Contains(name, "mcp") || strings.Contains(name, "__") || strings.Contains(name, "test") {
			return true
		}
	}
	return strings.HasPrefix(t.Prompt, "!") || slices.ContainsFunc(t.Agents, func(s record.Subagent) bool { return s.Missing != "" })
}

// newest returns the checks that are looked at: a stranger's record may have more.
func (t *Turn) newest() []record.Check {
	return t.Checks[max(0, len(t.Checks)-record.MaxChecks):]
}

// Checked is Evidence as a text.
func (t *Turn) Checked() string { return string(t.Evidence()) }

// Changed reports whether a turn changed files, as far as that is known.
func (t *Turn) Changed() bool {
	if c := t.Change(); c.Files > 0 || c.Unsure() {
		return true
	}
	for _, w := range t.Worktrees {
		if w.Files > 0 {
			return true
		}
	}
	if t.CodeKnown() == nil {
		return false
	}
	effects := agent.Of(t.Agent).Effects
	for tool := range t.Tools {
		if effects(tool) == hooks.Edits {
			return true
		}
	}
	return false
}

// placed returns a check's command with where it ran.
func placed(c record.Check) string {
	if c.In == "" {
		return c.Command
	}
	return c.Command + " in " + c.In
}

// Bounds of a text about checks, and of a command in it, in runes.
const (
	maxTold      = 5
	maxToldCheck = 60
)

// ChecksText describes the checks of a turn and what they come to, the newest
// of each command, and of many those that did not pass.
func (t *Turn) ChecksText() string {
	text := string(t.Evidence())
	var list []string // the newest first
	seen := make(map[string]bool)
	for _, c := range slices.Backward(t.newest()) {
		command := placed(c)
		if !seen[command] {
			list = append(list, ledger.Head(command, maxToldCheck)+" "+ledger.Head(string(c.Outcome), maxToldCheck))
		}
		seen[command] = true
	}
	more := t.ChecksLeft + max(0, len(list)-maxTold)
	for i := len(list) - 1; i >= 0 && len(list) > maxTold; i-- {
		if strings.HasSuffix(list[i], " "+string(evidence.Passed)) {
			list = slices.Delete(list, i, i+1)
		}
	}
	list = list[:min(len(list), maxTold)]
	slices.Reverse(list)
	if more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	if len(list) > 0 {
		text += ": " + strings.Join(list, ", ")
	}
	return text
}

// CheckedText is ChecksText with what the reply says without it.
func (t *Turn) CheckedText() string {
	text := t.ChecksText()
	if t.Unproven {
		text = strings.TrimPrefix(text+"; "+UnprovenText, "; ")
	}
	return text
}

// Passed returns the commands of the tests that passed, each once, if the turn
// is tested.
func (t *Turn) Passed() (commands []string) {
	if t.Evidence() != evidence.Tested {
		return nil
	}
	for _, c := range t.Checks {
		if command := placed(c); c.Kind == evidence.Test && c.Outcome == evidence.Passed && !slices.Contains(commands, command) {
			commands = append(commands, command)
		}
	}
	return commands
}

// UnprovenText says of a reply what the record lacks.
const UnprovenText = "says that tests pass; no such run is recorded"
