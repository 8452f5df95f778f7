package agenttest

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/hooks"
	"gitagent/test/gittest"
)

// Settings checks which settings get our hooks: the project's in /r, and the
// user's by the environment, as in "HOME=/home/dev VARIABLE=value".
func Settings(t *testing.T, setup hooks.Setup, configDir func(getenv func(string) string) string, project string, users map[string]string) {
	t.Helper()
	for env, want := range users {
		vars := make(map[string]string)
		for _, v := range strings.Fields(env) {
			name, value, _ := strings.Cut(v, "=")
			vars[name] = value
		}
		places := hooks.Places{Config: configDir(func(name string) string { return vars[name] }), Project: "/r"}
		if got := filepath.ToSlash(setup.Path(places, false)); got != want {
			t.Errorf("with %s: got %s, want %s", env, got, want)
		}
		if got := filepath.ToSlash(setup.Path(places, true)); got != project {
			t.Errorf("a project's: got %s, want %s", got, project)
		}
	}
}

// Installs checks that our hooks go into the user's and a project's settings,
// which turn off hooks, as is told, and out of them again.
func Installs(t *testing.T, setup hooks.Setup, before string) {
	t.Helper()
	for _, project := range []bool{false, true} {
		places := hooks.Places{Config: t.TempDir(), Project: t.TempDir()}
		path := setup.Path(places, project)
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		gittest.Must(t, os.WriteFile(path, []byte(before), 0o600))
		apply := func(edit *hooks.Edit, err error) string {
			t.Helper()
			gittest.Must(t, err)
			gittest.Must(t, edit.Apply())
			data, err := os.ReadFile(path)
			gittest.Must(t, err)
			return string(data)
		}
		installed := apply(setup.Install(places, project))
		for _, e := range setup.Entries {
			if !strings.Contains(installed, fmt.Sprintf("%q", e.Command)) || !strings.Contains(installed, fmt.Sprintf("%d", e.Timeout)) {
				t.Errorf("%s is not in %s", e.Event, installed)
			}
		}
		r := setup.Inspect(places)
		if len(r.Installed) != len(setup.Entries) || len(r.Findings) != 1 || r.Findings[0].Problem != hooks.Disabled {
			t.Errorf("inspected: %+v", r)
		}
		if got := apply(setup.Remove(places, project)); got != before {
			t.Errorf("removed: %s", got)
		}
	}
}

// Event returns what a payload of the client's, testdata/payloads/<name>.json,
// is in the common words, without its time.
func Event(t *testing.T, event func(io.Reader) (*hooks.Payload, error), name string) *hooks.Payload {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "payloads", name+".json"))
	gittest.Must(t, err)
	defer f.Close()
	e, err := event(f)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	e.Timestamp = ""
	return e
}

// Client checks that a hook learns the project's directory and the session's id
// from these variables, and believes neither if it can't be one.
func Client(t *testing.T, client func(getenv func(string) string) hooks.Environment, projectDir, sessionID string) {
	t.Helper()
	const session = "dce4c8cb-d598-4fe6-91f4-bf638b231f2e"
	vars := map[string]string{projectDir: "/home/dev/repo", sessionID: session}
	if c := client(func(name string) string { return vars[name] }); c.ProjectDir != "/home/dev/repo" || c.SessionID != session {
		t.Errorf("got %+v", c)
	}
	if c := client(func(string) string { return "../x" }); c.ProjectDir != "" || c.SessionID != "" {
		t.Errorf("not believed: got %+v", c)
	}
}
