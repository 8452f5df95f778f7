package remote

import (
	"runtime"
	"slices"
	"testing"
	"time"

	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/workspace"
)

func TestPlain(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://host.example/me/repo.git":            "https://host.example/me/repo.git",
		"https://token@host.example/me/repo.git":      "https://host.example/me/repo.git",
		"https://me:not-a-secret@host.example:8443/r": "https://host.example:8443/r",
		"https://a@b@host.example/r":                  "https://host.example/r",
		"HTTPS://me@host.example/r":                   "HTTPS://host.example/r",
		"http://me@host.example":                      "http://host.example",
		"https://host.example/a@b":                    "https://host.example/a@b",
		"ssh://git@host.example/repo":                 "ssh://git@host.example/repo",
		"ssh://git:not-a-secret@host.example/repo":    "ssh://git@host.example/repo",
		"git@host.example:repo":                       "git@host.example:repo",
		"../host":                                     "../host",
		"/home/dev/a@b":                               "/home/dev/a@b",
		"ext::sh -c x":                                "ext::sh -c x",
		"":                                            "",
	} {
		if got := Plain(in); got != want {
			t.Errorf("Plain(%q) = %q, want %q", in, got, want)
		}
		if got := Plain(Plain(in)); got != want {
			t.Errorf("Plain(Plain(%q)) = %q, want %q", in, got, want)
		}
	}
}

func TestConsent(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.example/r", "https://b.example/r"
	for _, tt := range []struct {
		name string
		conf git.Config
		urls []string
		want Consent
	}{
		{"nothing said", nil, []string{a}, ""},
		{"all", git.Config{"agent." + a + ".push": {"all"}}, []string{a}, All},
		{"code", git.Config{"agent." + a + ".push": {"code"}}, []string{a}, Code},
		{"the last one counts", git.Config{"agent." + a + ".push": {"all", "none"}}, []string{a}, ""},
		{"of another", git.Config{"agent." + b + ".push": {"all"}}, []string{a}, ""},
		{"one of two", git.Config{"agent." + a + ".push": {"all"}}, []string{a, b}, ""},
		{"the least of two", git.Config{"agent." + a + ".push": {"all"}, "agent." + b + ".push": {"code"}}, []string{a, b}, Code},
		{"both", git.Config{"agent." + a + ".push": {"all"}, "agent." + b + ".push": {"all"}}, []string{b, a}, All},
		{"written with a user", git.Config{"agent.https://me@a.example/r.push": {"all"}}, []string{"https://token@a.example/r"}, All},
		{"said twice", git.Config{"agent.https://me@a.example/r.push": {"code"}, "agent." + a + ".push": {"all"}}, []string{a}, Code},
		{"another user of ssh", git.Config{"agent.ssh://me@a.example/r.push": {"all"}}, []string{"ssh://you@a.example/r"}, ""},
		{"a level that is none", git.Config{"agent." + a + ".push": {"ALL"}}, []string{a}, ""},
		{"for no URL", git.Config{"agent.push": {"all"}, "agent..push": {"all"}}, []string{""}, ""},
		{"no URL", git.Config{"agent." + a + ".push": {"all"}}, nil, ""},
		{"other keys", git.Config{"agent." + a + ".pushurl": {"all"}, "branch." + a + ".push": {"all"}}, []string{a}, ""},
	} {
		if got := consent(tt.conf, tt.urls); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestSSHCommand(t *testing.T) {
	for _, tt := range []struct {
		name string
		env  map[string]string
		conf git.Config
		want string
	}{
		{"plain", nil, nil, "ssh -o BatchMode=yes"},
		{"configured", nil, git.Config{"core.sshcommand": {"ssh -i key"}}, "ssh -i key -o BatchMode=yes"},
		{"the environment comes first", map[string]string{"GIT_SSH_COMMAND": "ssh -v"}, git.Config{"core.sshcommand": {"ssh -i key"}}, "ssh -v -o BatchMode=yes"},
		{"another program", map[string]string{"GIT_SSH": "wrapper"}, nil, ""},
		{"another program, but a command", map[string]string{"GIT_SSH": "wrapper"}, git.Config{"core.sshcommand": {"ssh -i key"}}, "ssh -i key -o BatchMode=yes"},
		{"another variant", nil, git.Config{"ssh.variant": {"putty"}, "core.sshcommand": {"x"}}, ""},
		{"another variant by its name", nil, git.Config{"core.sshcommand": {"C:/putty/plink.exe"}}, ""},
		{"the same variant", map[string]string{"GIT_SSH_VARIANT": "ssh"}, git.Config{"ssh.variant": {"putty"}}, "ssh -o BatchMode=yes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, name := range []string{"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT"} {
				t.Setenv(name, tt.env[name])
			}
			if got := sshCommand(tt.conf); got != tt.want {
				t.Errorf("sshCommand = %q, want %q", got, tt.want)
			}
		})
	}
}

// TestAsks: only a person who has typed the command on a terminal is asked. A program that answers
// by itself is used where it can't ask.
func TestAsks(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Setenv("CI", "true")
	}
	all := []string{"DISPLAY", "WAYLAND_DISPLAY", "VSCODE_GIT_IPC_HANDLE", "GIT_TERMINAL_PROMPT"}
	for _, tt := range []struct {
		set             string
		asks            bool
		prompts, askers bool
	}{
		{"", false, false, true},
		{"DISPLAY", false, false, false},
		{"WAYLAND_DISPLAY", false, false, false},
		{"VSCODE_GIT_IPC_HANDLE", false, false, false},
		{"", true, true, true},
		{"DISPLAY", true, true, true},
	} {
		for _, name := range all {
			t.Setenv(name, map[bool]string{true: "x"}[name == tt.set])
		}
		env, options := environ(nil, tt.asks), (&Remote{Workspace: &workspace.Workspace{Settings: config.Default()}, Name: "origin", asks: tt.asks}).Options()
		if slices.Contains(env, "GIT_TERMINAL_PROMPT=1") != tt.prompts || slices.Contains(env, "GCM_INTERACTIVE=never") == tt.prompts ||
			slices.Contains(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes") == tt.prompts || slices.Contains(options, "core.askPass=") == tt.prompts {
			t.Errorf("asks %t: %q %q", tt.asks, env, options)
		}
		if slices.Contains(env, "GIT_ASKPASS=") == tt.askers || slices.Contains(options, "credential.interactive=false") == tt.askers {
			t.Errorf("with %q, asks %t: %q %q", tt.set, tt.asks, env, options)
		}
	}
}

// TestRest: the pause grows up to a limit.
func TestRest(t *testing.T) {
	t.Parallel()
	now := time.Now()
	for failures, want := range map[int]time.Duration{0: 0, 1: time.Second, 2: 2 * time.Second, 6: 32 * time.Second, 7: time.Minute, 100: time.Minute} {
		if got := restAfter(Learned{Failures: failures, Failed: now}, now); got != want {
			t.Errorf("after %d failures: %v, want %v", failures, got, want)
		}
	}
	if got := restAfter(Learned{Failures: 3, Failed: now.Add(-time.Hour)}, now); got > 0 {
		t.Errorf("an hour later: %v", got)
	}
	if got := restAfter(Learned{Failures: 3, Failed: now.Add(time.Hour)}, now); got > time.Minute {
		t.Errorf("when the clock was set back: %v", got)
	}
}
