package remote

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"gitagent/internal/git"
)

// environ returns the environment of git's transport. Where no person has typed
// the command on a terminal, it never asks one, who may be elsewhere or in the
// middle of a word. Credential helpers and ssh agents still answer.
func environ(conf git.Config, asks bool) []string {
	env := []string{"GIT_NO_LAZY_FETCH=0"} // a push from a partial clone may need what only the remote has
	if asks {
		return append(env, "GIT_TERMINAL_PROMPT="+cmp.Or(os.Getenv("GIT_TERMINAL_PROMPT"), "1"))
	}
	env = append(env, "GCM_INTERACTIVE=never", "SSH_ASKPASS_REQUIRE=never")
	if hasWindows() {
		env = append(env, "GIT_ASKPASS=") // and so none of core.askPass or SSH_ASKPASS
	}
	if ssh := sshCommand(conf); ssh != "" {
		env = append(env, "GIT_SSH_COMMAND="+ssh)
	}
	return env
}

// hasWindows reports whether a program could show a person a window, or an
// editor a field. Where none can, GIT_ASKPASS is a program that answers by
// itself, as on unattended machines.
func hasWindows() bool {
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "VSCODE_GIT_IPC_HANDLE"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return (runtime.GOOS == "darwin" || runtime.GOOS == "windows") && os.Getenv("CI") == ""
}

// Environ returns the environment of a git that reaches the remote, see [Open].
func (r *Remote) Environ() []string { return environ(r.conf, r.asks) }

// sshCommand returns the user's ssh in batch mode, or "" if it is not OpenSSH.
func sshCommand(conf git.Config) string {
	command := cmp.Or(os.Getenv("GIT_SSH_COMMAND"), conf.Get("core.sshcommand"))
	variant := cmp.Or(os.Getenv("GIT_SSH_VARIANT"), conf.Get("ssh.variant"))
	switch {
	case variant != "" && variant != "ssh" && variant != "auto":
		return ""
	case command == "" && os.Getenv("GIT_SSH") != "":
		return ""
	case command == "":
		command = "ssh"
	case strings.Contains(command, "plink"):
		return ""
	}
	return command + " -o BatchMode=yes"
}

// Options returns the options of every git that reaches this remote, besides
// those of the table of settings: a mirror would be forced, and a program may
// ask for a password.
func (r *Remote) Options() []string {
	options := []string{"-c", "remote." + r.Name + ".mirror=false", "-c", "remote." + r.Name + ".followRemoteHEAD=never"}
	if !r.asks {
		options = append(options, "-c", "core.askPass=")
		if hasWindows() { // helpers are told, too, since git 2.46
			options = append(options, "-c", "credential.interactive=false")
		}
	}
	return append(options, r.options...)
}

// reaching returns options, and the repository with their variables, by which
// git reaches a URL the way that is configured for the remote.
func (r *Remote) reaching(u string) (options []string, repo *git.Repo) {
	var env []string
	for _, key := range []string{"proxy", "proxyauthmethod", "receivepack", "uploadpack", "vcs"} {
		for i, value := range r.conf["remote."+r.Name+"."+key] {
			name := fmt.Sprint("GIT_AGENT_REMOTE_", strings.ToUpper(key), "_", i)
			env = append(env, name+"="+value)
			options = append(options, "--config-env=remote."+u+"."+key+"="+name) // -c would end the key at a "="
		}
	}
	return options, r.Repo.With(git.Env(env...))
}

// Run runs a git command that reaches the remote, with Progress. A push runs
// the user's hook pre-push only if agent.prepush says so.
func (r *Remote) Run(ctx context.Context, stdin, command string, args ...string) ([]byte, error) {
	repo, all := r.Repo, slices.Concat(r.Options(), []string{command})
	if command == "push" && r.conf.Bool("agent.prepush") {
		repo = repo.With(git.Hooked)
	}
	if r.Progress == nil {
		return repo.Output(ctx, strings.NewReader(stdin), append(all, args...)...)
	}
	var out bytes.Buffer
	err := repo.Run(ctx, strings.NewReader(stdin), &out, r.Progress, append(append(all, "--progress"), args...)...)
	return out.Bytes(), err
}

// Reach is Run that also reports whether the remote was reached: git's trace,
// unlike its output, tells whether a protocol version was agreed on.
func (r *Remote) Reach(ctx context.Context, command string, args ...string) (out []byte, reached bool, err error) {
	trace := r.name("trace.json") // one process pushes at a time
	if err := r.state().WriteFile(trace, nil); err != nil {
		return nil, false, err
	}
	defer func() { _ = r.state().Remove(trace) }()
	traced := *r
	traced.Repo = r.Repo.With(git.Env("GIT_TRACE2_EVENT="+r.state().Path(trace), "GIT_TRACE2_EVENT_NESTING=9"))
	out, err = traced.Run(ctx, "", command, args...)
	events, readErr := r.state().ReadFile(trace)
	return out, readErr != nil || bytes.Contains(events, []byte(`"key":"negotiated-version"`)), err
}
