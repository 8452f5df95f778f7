//go:build unix

package npm

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"gitagent/internal/agent"
)

// A Client is an agent's client as the registry has it.
type Client struct {
	Packages []string // the client's is the first; the others, of the same version or their own, it would fetch by itself or needs
	binary   string   // a pattern below node_modules
}

// Clients are the clients that are run, by what --agent calls them.
var Clients = map[string]Client{
	"claude":   {[]string{"@anthropic-ai/claude-code"}, "@anthropic-ai/claude-code-*/claude"},
	"codex":    {[]string{"@openai/codex"}, "@openai/codex-*/vendor/*/bin/codex"},
	"opencode": {[]string{"opencode-ai", "@opencode-ai/plugin"}, "opencode-ai/bin/opencode.exe"},
	"copilot":  {[]string{"@github/copilot"}, "@github/copilot-*/copilot"},
	"droid":    {[]string{"@factory/cli-" + platform()}, "@factory/cli-*/bin/droid"},
	"kilo":     {[]string{"@kilocode/cli-linux-x64"}, "@kilocode/cli-linux-x64/bin/kilo"},
	"gemini":   {[]string{"@google/gemini-cli"}, "@google/gemini-cli/bundle/gemini.js"},
	"qwen":     {[]string{"@qwen-code/qwen-code"}, "@qwen-code/qwen-code/cli.js"},
	"pi":       {[]string{"@earendil-works/pi-coding-agent", Node() + "@22.23.3"}, "@earendil-works/pi-coding-agent/dist/bundle/cli.js"},
}

// Node is the package of Node.js for this platform, with bin/node in it: for clients that need a newer one than Debian has.
func Node() string { return "node-" + platform() }

// platform is what packages for one are called.
func platform() string {
	return runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
}

// Keep names the variable with the directory in which tests leave what the clients wrote: for each client and test a folder
// with its hooks' payloads and its conversations.
const Keep = "E2E_KEEP"

// Variable names the variable that has another version of a client run than the one that all facts were seen with.
func Variable(name string) string { return "E2E_" + strings.ToUpper(name) }

// Version is the version of a client that is run: the agent's Tested, or what [Variable] says.
func Version(name string) string {
	a, _ := agent.Find(name)
	return cmp.Or(os.Getenv(Variable(name)), a.Tested)
}

// Installation is the name of the installation of a client's version, for [Dir].
func Installation(name, version string) string { return name + "-" + version }

// InstallClient is [Install] for a version of a client. One that comes without its program, since the registry lacks the
// package of this platform, is no installation.
func InstallClient(ctx context.Context, name, version string) error {
	var packages []string
	for _, p := range Clients[name].Packages {
		if !strings.Contains(p[1:], "@") {
			p += "@" + version
		}
		packages = append(packages, p)
	}
	err := Install(ctx, Installation(name, version), packages...)
	if err != nil {
		return err
	}
	if _, err = Executable(name, version); err != nil {
		if dir, err := Dir(Installation(name, version)); err == nil {
			_ = os.RemoveAll(dir) // the registry may have it later
		}
	}
	return err
}

// Executable is the path of the program of a client's version.
func Executable(name, version string) (string, error) {
	dir, err := Dir(Installation(name, version))
	if err != nil {
		return "", err
	}
	found, err := filepath.Glob(filepath.Join(dir, "node_modules", Clients[name].binary))
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no program in %s: the registry lacks the package of this platform", dir)
	}
	if err != nil {
		return "", err
	}
	return found[0], nil
}
