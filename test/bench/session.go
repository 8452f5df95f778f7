package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
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
func (r *repository) newSession() *session {
	r.sessions++
	id := fmt.Sprintf("5b603d06-8528-4d54-8275-dceb%08x", 0x10000000+r.sessions)
	dir := filepath.Join(r.lab.dir, "home", ".claude", "projects", filepath.Base(r.dir))
	check(os.MkdirAll(dir, 0o700))
	return &session{
		repo: r, id: id, mission: must(record.OfSession(id, 8)), transcript: filepath.Join(dir, id+".jsonl"),
		env: []string{
			"CLAUDECODE=1", "CLAUDE_PROJECT_DIR=" + r.dir, "CLAUDE_CODE_SESSION_ID=" + id, "CLAUDE_CODE_ENTRYPOINT=cli",
			fmt.Sprintf("CLAUDE_PID=%d", os.Getpid()),
		},
		agent: playedClaude, writer: newWriter(r.dir, id, r.sessions),
	}
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
	return s.hook(s.payload("UserPromptSubmit", map[string]any{"prompt": s.writer.prompt}))
}

// write appends the turn to the transcript, 20 KB.
func (s *session) write() {
	f := must(os.OpenFile(s.transcript, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600))
	_, err := f.Write(s.agent.turn(&s.writer, turnSize))
	check(errors.Join(err, f.Close()))
}

// stop ends the turn.
func (s *session) stop() sample {
	return s.hook(s.payload("Stop", map[string]any{
		"stop_hook_active": false, "last_assistant_message": s.writer.reply,
		"background_tasks": []any{}, "session_crons": []any{},
	}))
}

func (s *session) payload(event string, more map[string]any) []byte {
	p := map[string]any{
		"session_id": s.id, "transcript_path": s.transcript, "cwd": s.repo.dir, s.agent.id: s.writer.promptID,
		"permission_mode": "bypassPermissions", "hook_event_name": event,
	}
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
		case files >= 0 && t.Files != files:
			check(fmt.Errorf("turn %d of mission %s has changed %d files, not %d: %s", number, s.mission, t.Files, files, line))
		}
	}
}
