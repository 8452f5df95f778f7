package lint

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gitagent/internal/power"
)

// TestPowers: SECURITY.md prints the table that decides.
func TestPowers(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(top, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	var table strings.Builder
	table.WriteString("| who |")
	for _, d := range power.Deeds {
		table.WriteString(" " + string(d) + " |")
	}
	table.WriteString("\n|" + strings.Repeat(" --- |", len(power.Deeds)+1) + "\n")
	for _, a := range power.Actors {
		table.WriteString("| " + string(a) + " |")
		for _, d := range power.Deeds {
			table.WriteString(" `")
			for _, w := range power.All {
				table.WriteByte(byte(power.Of(a, d, w)))
			}
			table.WriteString("` |")
		}
		table.WriteString("\n")
	}
	if !strings.Contains(string(text), table.String()) {
		t.Errorf("SECURITY.md lacks the table:\n%s", table.String())
	}
}

// rule is what the plugin allows an agent to run without asking its user: a command, and with ":*" whatever follows.
var rule = regexp.MustCompile(`Bash\(git (agent-[a-z]+(?: [a-z]+)?)([^:)]*)(:\*)?\)`)

// TestPluginPowers: what the plugin allows unasked, with any flag that a rule lets follow, is what the table grants it, or our
// programs refuse it to an agent.
func TestPluginPowers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(top, "plugin", "*", "*.md"))
	skills, e := filepath.Glob(filepath.Join(top, "plugin", "skills", "*", "SKILL.md"))
	if err != nil || e != nil {
		t.Fatal(err, e)
	}
	found := 0
	for _, path := range append(files, skills...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range rule.FindAllStringSubmatch(string(text), -1) {
			found++
			does, ok := power.Commands()[m[1]]
			if !ok {
				t.Errorf("%s: %s is in no table of powers", path, m[0])
			}
			all := []string{""}
			for flag := range does.With {
				if m[3] != "" || strings.Contains(m[2], "--"+flag) {
					all = append(all, flag)
				}
			}
			for _, flag := range all {
				uses := does.Uses([]string{flag}, power.On{})
				if _, barred := power.Refused(power.Agent, uses); barred {
					continue
				}
				if use, refused := power.Refused(power.Plugin, uses); refused {
					t.Errorf("%s: %s allows with %q to %s what is %s", path, m[0], flag, use.Deed, use.Whose)
				}
			}
		}
	}
	if found < 10 {
		t.Errorf("found only %d rules", found)
	}
}
