package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
)

// register writes a file of the client's, as version 2.1.329 does, and returns the configuration
// directory.
func register(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sessions"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, "sessions", name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const registered = `{"pid":24922,"sessionId":"97f4b419-eebe-449d-a344-c7f03b980e23","cwd":"/home/dev/repo","startedAt":1795222060089,` +
	`"procStart":"396479","version":"2.1.329","kind":"interactive","entrypoint":"cli","pidDomain":"linux:0123:pid:[4026531836]",` +
	`"asksForConvertedSkills":null,"tmux":"m:@0.%0","status":"waiting","waitingFor":"permission prompt","updatedAt":1795222079438}`

func TestReadRegistration(t *testing.T) {
	t.Parallel()
	dir := register(t, map[string]string{
		"24922.json":       registered,
		"24922.5a5a5a.key": "not to be read",
		"24923.json":       `{"pid":24923,"sess`,
		"24924.json":       `{"pid":24924}`,
		"24925.json":       registered, // copied
	})
	want := Registration{
		PID: 24922, Session: "97f4b419-eebe-449d-a344-c7f03b980e23", Start: "396479",
		Domain: "linux:0123:pid:[4026531836]", Status: "waiting", WaitingFor: "permission prompt",
	}
	got, err := ReadRegistration(dir, 24922)
	if err != nil || got != want {
		t.Errorf("ReadRegistration = %+v, %v; want %+v", got, err, want)
	}
	for _, pid := range []int{24923, 24924, 24925} {
		if got, err := ReadRegistration(dir, pid); err == nil {
			t.Errorf("ReadRegistration(%d) = %+v, want an error", pid, got)
		}
	}
	if _, err := ReadRegistration(dir, 1); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("ReadRegistration without a file: %v, want %v", err, fs.ErrNotExist)
	}
	all, err := Registrations(dir)
	if err != nil || !slices.Equal(all, []Registration{want}) {
		t.Errorf("Registrations = %+v, %v; want the one that is whole", all, err)
	}
	if all, err := Registrations(t.TempDir()); err != nil || len(all) > 0 {
		t.Errorf("Registrations of a client that was never started = %+v, %v", all, err)
	}
}

func TestHere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		domain string
		want   bool
	}{
		{Domain(), true},
		{"", true}, // a client that doesn't say
		{"linux:0123:pid:[1]", Domain() == ""},
	} {
		if got := (Registration{Domain: tt.domain}).Here(); got != tt.want {
			t.Errorf("Here with domain %q = %v, want %v", tt.domain, got, tt.want)
		}
	}
}

func TestRuns(t *testing.T) {
	t.Parallel()
	me := ReadClient(os.Getpid())
	dir := register(t, map[string]string{
		strconv.Itoa(me.PID) + ".json": fmt.Sprintf(`{"pid":%d,"sessionId":"a","procStart":%q}`, me.PID, me.Start),
	})
	r, err := ReadRegistration(dir, me.PID)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := r.Runs(), me.Start != ""; got != want {
		t.Errorf("Runs of this process = %v, want %v", got, want)
	}
	r.Start += "1" // the pid was used again
	if r.Runs() {
		t.Error("Runs of a process that had our pid = true")
	}
}
