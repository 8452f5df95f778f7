//go:build unix

package kill

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gitagent/test/gittest"
)

// helps lets a sub-agent do something: each of its lines is a message of ten tokens.
func (l *lab) helps(id string) {
	l.t.Helper()
	dir := filepath.Join(strings.TrimSuffix(l.c.Path, ".jsonl"), "subagents")
	gittest.Must(l.t, os.MkdirAll(dir, 0o700))
	f, err := os.OpenFile(filepath.Join(dir, "agent-"+id+".jsonl"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	gittest.Must(l.t, err)
	l.said++
	_, err = fmt.Fprintf(f, `{"type":"assistant","uuid":"u%[1]d","agentId":%[2]q,"isSidechain":true,"message":{"id":"m%[1]d","role":"assistant","model":"haiku",`+
		`"stop_reason":"tool_use","content":[{"type":"tool_use","id":"t%[1]d","name":"Grep","input":{}}],"usage":{"input_tokens":7,"output_tokens":3}}}`+"\n", l.said, id)
	gittest.Must(l.t, err)
	gittest.Must(l.t, f.Close())
}

// delegating is the end of a turn with two sub-agents, of which one runs on and on.
func delegating(l *lab) command {
	if l.enter(); !l.c.Busy() {
		l.undisturbed("UserPromptSubmit", l.prompted())
	}
	delegate := func() {
		l.c.Tool("Agent")
		l.helps("on")
		l.helps(fmt.Sprintf("a%d", l.n))
	}
	delegate()
	c := l.stopped()
	c.then = func(l *lab, _ result) {
		l.turn()
		l.undisturbed("UserPromptSubmit", l.prompted())
		delegate()
		l.undisturbed("Stop", l.stopped())
		l.sides()
	}
	return c
}

// sides checks that of each sub-agent everything is recorded, once, and so are its tokens.
func (l *lab) sides() {
	l.t.Helper()
	ref := "refs/agent/missions/" + l.mission()
	to, stored, spent := make(map[string]int64), make(map[string]string), 0
	turns, err := l.main.Try("ls-tree", "-r", "--name-only", ref, "turns/")
	if err != nil {
		l.find("git ls-tree fails", "%v", err)
		return
	}
	for path := range strings.FieldsSeq(turns) { // in order of their numbers
		var t struct {
			Turn    int
			Session string
			Agents  []struct {
				ID       string
				From, To int64
				Missing  string
				Tokens   map[string]struct{ Input, Output int }
			}
		}
		data, err := l.main.Try("cat-file", "blob", ref+":"+path)
		if err == nil {
			err = json.Unmarshal([]byte(data), &t)
		}
		if err != nil {
			l.find("a record can't be read", "%s: %v", path, err)
			return
		}
		for _, a := range t.Agents {
			for _, tokens := range a.Tokens {
				spent += tokens.Input + tokens.Output
			}
			if t.Session != l.c.Session {
				continue
			}
			if a.From != to[a.ID] || a.Missing != "" {
				l.find("parts of a sub-agent don't adjoin", "turn %d has %+v, want from %d on", t.Turn, a, to[a.ID])
			}
			to[a.ID] = a.To
			part, err := l.main.Try("cat-file", "blob", fmt.Sprintf("%s:transcript/%04d/%06d/%s.jsonl", ref, t.Turn/100, t.Turn, a.ID))
			if err != nil {
				l.find("a part of a sub-agent is lost", "turn %d, %s: %v", t.Turn, a.ID, err)
			}
			stored[a.ID] += part + "\n"
		}
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSuffix(l.c.Path, ".jsonl"), "subagents", "*.jsonl"))
	gittest.Must(l.t, err)
	for _, path := range files {
		id := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "agent-"), ".jsonl")
		if data, err := os.ReadFile(path); err != nil || stored[id] != string(data) {
			l.find("a sub-agent is not stored once", "%s: %v, stored is\n%s\nwant\n%s", id, err, stored[id], data)
		}
	}
	var m struct {
		Tokens struct {
			Agents map[string]struct{ Input, Output int }
		}
	}
	data, err := l.main.Try("cat-file", "blob", ref+":mission.json")
	if err == nil {
		err = json.Unmarshal([]byte(data), &m)
	}
	sum := 0
	for _, tokens := range m.Tokens.Agents {
		sum += tokens.Input + tokens.Output
	}
	if err != nil || sum != spent {
		l.find("a mission's tokens are not those of its turns", "%v: %d, want %d", err, sum, spent)
	}
}
