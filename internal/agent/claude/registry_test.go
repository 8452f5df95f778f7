package claude

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gitagent/internal/session"
	"gitagent/test/gittest"
)

// register writes a file of the client's, as version 2.1.329 does, and returns the configuration
// directory.
func register(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	gittest.Must(t, os.Mkdir(filepath.Join(dir, "sessions"), 0o700))
	for name, content := range files {
		gittest.Must(t, os.WriteFile(filepath.Join(dir, "sessions", name), []byte(content), 0o600))
	}
	return dir
}

const registered = `{"pid":24922,"sessionId":"97f4b419-eebe-449d-a344-c7f03b980e23","cwd":"/home/dev/repo","startedAt":1795222060089,` +
	`"procStart":"396479","version":"2.1.329","kind":"interactive","entrypoint":"cli","pidDomain":"linux:0123:pid:[4026531836]",` +
	`"asksForConvertedSkills":null,"tmux":"m:@0.%0","status":"waiting","waitingFor":"permission prompt","updatedAt":1795222079438}`

func TestRegistration(t *testing.T) {
	t.Parallel()
	dir := register(t, map[string]string{
		"24922.json":       registered,
		"24922.5a5a5a.key": "not to be read",
		"24923.json":       `{"pid":24923,"sess`,
		"24924.json":       `{"pid":24924}`,
		"24925.json":       registered, // copied
	})
	want := registration{session.Registration{
		PID: 24922, Session: "97f4b419-eebe-449d-a344-c7f03b980e23", Start: "396479",
		Domain: "linux:0123:pid:[4026531836]", Status: "waiting",
	}, "permission prompt"}
	got, err := readRegistration(dir, 24922)
	if err != nil || got != want {
		t.Errorf("readRegistration = %+v, %v; want %+v", got, err, want)
	}
	for _, pid := range []int{24923, 24924, 24925} {
		if got, err := readRegistration(dir, pid); err == nil {
			t.Errorf("readRegistration(%d) = %+v, want an error", pid, got)
		}
	}
	if _, err := readRegistration(dir, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("readRegistration without a file: %v, want %v", err, fs.ErrNotExist)
	}
	all, err := Running(dir)
	if err != nil || !slices.Equal(all, []session.Registration{want.Registration}) {
		t.Errorf("Running = %+v, %v; want the one that is whole", all, err)
	}
	if all, err := Running(t.TempDir()); err != nil || len(all) > 0 {
		t.Errorf("Running of a client that was never started = %+v, %v", all, err)
	}
}
