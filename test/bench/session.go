package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/record"
	"gitagent/turns"
)

// A session plays the agent's client: it writes a transcript and runs the hooks.
type session struct {
	repo       *repository
	id         string
	mission    record.ID
	transcript string // path of the file
	agent      played
	env        []string
	shell      bool // run the hooks through a shell

	writer     writer
	prompts    []string      // their ids, one per turn that has to be in the list
	background time.Duration // of the CPUs, that what the hooks have left running took
}

// newSession begins a session whose mission is its own.
func (r *repository) newSession() *session { return r.newSessionOf(playedClaude) }

// newSessionOf is newSession for a client of any kind.
func (r *repository) newSessionOf(p played) *session {
	r.sessions++
	id := fmt.Sprintf("5b603d06-8528-4d54-8275-dceb%08x", 0x10000000+r.sessions)
	s := &session{repo: r, id: id, mission: must(record.OfSession(id, 8)), agent: p, writer: newWriter(r.dir, id, r.sessions)}
	s.transcript = filepath.Join(r.lab.dir, "home", s.expand(p.file))
	s.writer.file = s.transcript
	check(os.MkdirAll(filepath.Dir(s.transcript), 0o700))
	for _, variable := range p.env {
		s.env = append(s.env, s.expand(variable))
	}
	return s
}

// expand puts the session, the repository's path and name, and the client's process in the place of $session, $dir,
// $project and $pid.
func (s *session) expand(text string) string {
	return os.Expand(text, func(name string) string {
		return map[string]string{
			"session": s.id, "dir": s.repo.dir, "project": filepath.Base(s.repo.dir), "pid": strconv.Itoa(os.Getpid()),
		}[name]
	})
}

// turn is a whole turn that changes files.
func (s *session) turn() (prompt, stop sample) {
	prompt = s.prompt()
	s.repo.change()
	s.write()
	return prompt, s.stop()
}

// prompt begins a turn and runs the UserPromptSubmit hook. As with the real client, the transcript
// does not have the prompt yet.
func (s *session) prompt() sample {
	s.writer.begin(len(s.prompts) + 1)
	s.prompts = append(s.prompts, s.writer.promptID)
	prompt, _ := s.agent.payloads(&s.writer)
	return s.hook(s.payload("UserPromptSubmit", prompt))
}

// write appends the turn to the transcript, 20 KB.
func (s *session) write() {
	f := must(os.OpenFile(s.transcript, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600))
	_, err := f.Write(s.agent.turn(&s.writer, turnSize))
	check(errors.Join(err, f.Close()))
}

// stop ends the turn.
func (s *session) stop() sample {
	_, stop := s.agent.payloads(&s.writer)
	return s.hook(s.payload("Stop", stop))
}

// payload is that of an event, which more may call by the client's own name.
func (s *session) payload(event string, more fields) []byte {
	p := fields{"session_id": s.id, "transcript_path": s.transcript, "cwd": s.repo.dir, "hook_event_name": event}
	maps.Copy(p, more)
	return must(json.Marshal(p))
}

// hook runs a hook as the client does and fails if the hook has logged anything.
func (s *session) hook(payload []byte) sample {
	argv := []string{s.repo.program, "hook", "--agent", s.agent.name}
	if s.shell {
		argv = []string{"sh", "-c", "'" + s.repo.program + "' hook --agent " + s.agent.name + " || true"}
	}
	x := s.repo.measure(s.repo.dir, s.env, payload, argv[0], argv[1:]...)
	s.background += settle()
	log, err := os.ReadFile(filepath.Join(s.repo.dir, ".git", "agent", "log"))
	if err == nil && len(log) > 0 {
		check(fmt.Errorf("the hook has logged: %s", log))
	}
	return x
}

// check fails unless every turn is in the list, in order, done and with its segment, and with that
// many changed files; files -1 is any number.
func (s *session) check(files int) {
	lines := strings.Split(s.repo.feed(s.repo.dir, nil, s.repo.program, "list", "--json", "--mission", string(s.mission)), "\n")
	if len(lines) != len(s.prompts) {
		check(fmt.Errorf("mission %s has %d turns, %d were played", s.mission, len(lines), len(s.prompts)))
	}
	for i, line := range lines { // newest first
		number := len(lines) - i
		t := must(turns.Parse([]byte(line), s.repo.format()))
		switch {
		case t.Turn != number, t.PromptID != s.prompts[number-1], t.Outcome != record.Done:
			check(fmt.Errorf("turn %d of mission %s is not the one that was played: %s", number, s.mission, line))
		case t.Transcript == nil || t.Transcript.Bytes == 0:
			check(fmt.Errorf("turn %d of mission %s has no segment: %s", number, s.mission, line))
		case !strings.HasPrefix(t.Reply, fmt.Sprintf("A%d done", number)) || len(t.Tools) == 0 || t.Tokens.Sum().Output == 0:
			check(fmt.Errorf("turn %d of mission %s lacks its answer, tools or tokens: %s", number, s.mission, line))
		case files >= 0 && t.Files != files:
			check(fmt.Errorf("turn %d of mission %s has changed %d files, not %d: %s", number, s.mission, t.Files, files, line))
		}
	}
}
