package lint

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// unreleased is the plugin's version before the first release.
const unreleased = "0.0.0"

// TestPluginVersion: the plugin and the marketplace say the version of the newest release, by which clients decide
// whether there is something to update.
func TestPluginVersion(t *testing.T) {
	t.Parallel()
	changes, err := os.ReadFile(filepath.Join(top, "CHANGELOG.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := unreleased
	if m := regexp.MustCompile(`(?m)^## \[(\d+\.\d+\.\d+)\]`).FindSubmatch(changes); m != nil {
		want = string(m[1])
	}
	type plugin struct{ Name, Description, Version, Source string }
	var own plugin
	var market struct{ Plugins []plugin }
	for file, v := range map[string]any{"plugin/.claude-plugin/plugin.json": &own, ".claude-plugin/marketplace.json": &market} {
		data, err := os.ReadFile(filepath.Join(top, file))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(data, v); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	if own.Version != want {
		t.Errorf("plugin.json has version %s, CHANGELOG.md %s", own.Version, want)
	}
	own.Source = "./plugin"
	if len(market.Plugins) != 1 || market.Plugins[0] != own {
		t.Errorf("the marketplace has %+v, want %+v", market.Plugins, own)
	}
}

var (
	// called is a command of ours in a text: program, its command, and the rest.
	called = regexp.MustCompile("git (agent-[a-z]+)((?: [^\\s`)]+)*)")
	flags  = regexp.MustCompile(`(?:^| )--([a-z-]+)`)
	name   = regexp.MustCompile(`^ ([a-z]+)`)
)

// TestPluginCommands: what skills and commands tell an agent to run is in the manual.
func TestPluginCommands(t *testing.T) {
	t.Parallel()
	found := 0
	err := filepath.WalkDir(filepath.Join(top, "plugin"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".md" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range called.FindAllStringSubmatch(string(text), -1) {
			found++
			page, args := "git-"+m[1], strings.ReplaceAll(m[2], ":*", "")
			if n := name.FindStringSubmatch(args); n != nil {
				page += "-" + n[1]
			}
			section, err := os.ReadFile(filepath.Join(top, "docs", page+".1"))
			if err != nil {
				t.Errorf("%s: %q: there is no such command", path, m[0])
				continue
			}
			for _, f := range flags.FindAllStringSubmatch(args, -1) {
				if !strings.Contains(string(section), "Fl -"+f[1]+" ") && !strings.Contains(string(section), "Fl -"+f[1]+"\n") {
					t.Errorf("%s: %q: there is no --%s", path, m[0], f[1])
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 20 {
		t.Errorf("found only %d commands", found)
	}
}

// allowed is what an agent with the plugin runs without asking the user: what only reads, and the handoff, which it
// writes before its context is lost. Where no word varies it is the whole command, without a flag, and nothing that runs
// or sends anything is among it: above all not git agent-fork, whose --setup runs anything. What the client makes of each
// is TestPermissions.
var allowed = []string{
	"Bash(git agent-turn list --trusted)",
	"Bash(git agent-turn show --trusted:*)",
	"Bash(git agent-turn search --trusted:*)",
	"Bash(git agent-turn why:*)",
	"Bash(git agent-turn recall:*)",
	"Bash(git agent-handoff show:*)",
	"Bash(git agent-handoff write -)",
	"Bash(git agent-handoff write /*/git-agent/handoffs/*.md)",
}

func TestPluginAllowed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(top, "plugin", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	skills, err := filepath.Glob(filepath.Join(top, "plugin", "skills", "*", "SKILL.md"))
	if err != nil || len(files) != 4 || len(skills) != 3 {
		t.Errorf("commands %q, skills %q, %v", files, skills, err)
	}
	for _, path := range append(files, skills...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			list, ok := strings.CutPrefix(line, "allowed-tools: ")
			if !ok {
				continue
			}
			for tool := range strings.SplitSeq(strings.TrimSpace(list), ", ") {
				if !slices.Contains(allowed, tool) {
					t.Errorf("%s allows %q", path, tool)
				}
			}
		}
	}
}
