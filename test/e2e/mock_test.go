//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gitagent/test/gittest"
)

// A mock is a process that plays the service of an agent's model on the loopback interface.
// It reads its scenario anew at every request.
type mock struct {
	t    testing.TB
	url  string
	dir  string // holds scenario.json and the log of requests
	log  string
	base scenario
}

// A request is one call that the client made.
type request struct {
	Rule        string `json:"rule"` // the rule that answered it
	Step        int    `json:"step"`
	Status      int    `json:"status"`
	ClosedEarly bool   `json:"closed_early"` // the client hung up before the answer was complete

	Body  json.RawMessage `json:"body"` // the conversation, among other things
	Reply struct {
		Usage struct {
			Output int `json:"output_tokens"`
		} `json:"usage"`
	} `json:"reply"`

	// What the mocks that share mock.mjs make of it:
	Said []said `json:"said"`
	Side bool   `json:"side"` // it is about the conversation, not a part of it
}

// newMock starts a script of testdata with the rules of a scenario there.
// It ends with the test.
func newMock(t testing.TB, dir, script, scenario string) *mock {
	t.Helper()
	m := &mock{t: t, dir: dir, log: filepath.Join(dir, "requests"), base: readScenario(t, scenario)}
	gittest.Must(t, os.MkdirAll(m.log, 0o777))
	m.play()
	cmd := exec.Command("node", filepath.Join("testdata", script), "--scenario", m.scenarioFile(), "--log", m.log)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	gittest.Must(t, err)
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the mock: %v", err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if !found {
		t.Fatalf("start the mock: %q, %v", line, err)
	}
	m.url = "http://" + address
	return m
}

func (m *mock) scenarioFile() string { return filepath.Join(m.dir, "scenario.json") }

// play puts rules in front of the scenario's own, from the next request on.
func (m *mock) play(rules ...rule) {
	m.t.Helper()
	s := m.base
	s.Rules = append(rules[:len(rules):len(rules)], s.Rules...)
	b, err := json.Marshal(s)
	gittest.Must(m.t, err)
	replaceFile(m.t, m.scenarioFile(), b)
}

// requests returns what the client asked so far, in order of arrival.
func (m *mock) requests() []request {
	m.t.Helper()
	names, err := filepath.Glob(filepath.Join(m.log, "[0-9]*.json"))
	gittest.Must(m.t, err)
	var all []request
	for _, name := range names {
		b, err := os.ReadFile(name)
		gittest.Must(m.t, err)
		var q request
		if json.Unmarshal(b, &q) != nil {
			continue // the mock is writing it
		}
		all = append(all, q)
	}
	return all
}

// asked says whether a request was answered by the rule whose match is the given one.
func (m *mock) asked(match string) bool {
	for _, q := range m.requests() {
		if q.Rule == match {
			return true
		}
	}
	return false
}

// index is the mock's own log: a line per request with a digest of the conversation.
func (m *mock) index() string {
	b, _ := os.ReadFile(filepath.Join(m.log, "index.txt"))
	return string(b)
}

// replaceFile writes a file that another process may be reading.
func replaceFile(t testing.TB, path string, content []byte) {
	t.Helper()
	gittest.Must(t, os.WriteFile(path+".new", content, 0o666))
	gittest.Must(t, os.Rename(path+".new", path))
}
