package main

// A played agent is one whose client the benchmark can play.
type played struct {
	name string   // what --agent takes
	file string   // of a conversation, in the home directory; see [session.expand]
	env  []string // of hooks, likewise

	// payloads returns what the payloads of a turn's prompt and of its end have beside what all have.
	payloads func(w *writer) (prompt, stop fields)
	turn     func(w *writer, size int) []byte
}

type fields = map[string]any

var (
	playedClaude = played{
		"claude", ".claude/projects/$project/$session.jsonl",
		[]string{"CLAUDECODE=1", "CLAUDE_PROJECT_DIR=$dir", "CLAUDE_CODE_SESSION_ID=$session", "CLAUDE_CODE_ENTRYPOINT=cli", "CLAUDE_PID=$pid"},
		(*writer).payloads, (*writer).turn,
	}
	playedAgents = []played{
		{
			"codex", ".codex/sessions/2026/11/22/rollout-2026-11-22T01-22-37-$session.jsonl", nil,
			(*writer).codexPayloads, (*writer).codexTurn,
		},
		{
			"opencode", ".local/share/git-agent/opencode/$session.jsonl",
			[]string{"GIT_AGENT_OPENCODE_PID=$pid", "GIT_AGENT_OPENCODE_SESSION=$session"},
			(*writer).openCodePayloads, (*writer).openCodeTurn,
		},
		{
			"gemini", ".gemini/tmp/$project/chats/session-2026-11-22T01-22-5b603d06.jsonl",
			[]string{"GEMINI_PROJECT_DIR=$dir", "GEMINI_SESSION_ID=$session"},
			(*writer).geminiPayloads, (*writer).geminiTurn,
		},
		{
			"pi", ".pi/agent/sessions/--$project--/2026-11-22T01-22-37-000Z_$session.jsonl",
			[]string{"GIT_AGENT_PI_PID=$pid", "PI_SESSION_ID=$session"},
			(*writer).piPayloads, (*writer).piTurn,
		},
		{
			"copilot", ".copilot/session-state/$session/events.jsonl",
			[]string{"COPILOT_CLI=1", "COPILOT_PROJECT_DIR=$dir"},
			(*writer).copilotPayloads, (*writer).copilotTurn,
		},
		{
			"qwen", ".qwen/projects/$project/chats/$session.jsonl",
			[]string{"QWEN_CODE=1", "QWEN_PROJECT_DIR=$dir", "QWEN_CODE_SESSION_ID=$session"},
			(*writer).qwenPayloads, (*writer).qwenTurn,
		},
		{
			"droid", ".factory/sessions/$project/$session.jsonl",
			[]string{"FACTORY_PROJECT_DIR=$dir"},
			(*writer).droidPayloads, (*writer).droidTurn,
		},
		{
			"kilo", ".local/share/git-agent/kilo/$session.jsonl",
			[]string{"GIT_AGENT_KILO_PID=$pid", "GIT_AGENT_KILO_SESSION=$session"},
			(*writer).openCodePayloads, (*writer).openCodeTurn,
		},
	}
)

// agents measures the Stop hook of every agent over the same turns, one after the other in each round, so
// that other work on the machine slows all of them.
func agents(l *lab) {
	claude := l.newTwins("agent-"+playedClaude.name, smallFiles).hook.newSession()
	var sessions []*session
	for _, p := range playedAgents {
		sessions = append(sessions, l.newTwins("agent-"+p.name, smallFiles).hook.newSessionOf(p))
	}
	var base series
	stops := make([]series, len(sessions))
	for range warmUp + l.times(smallTimes/2) {
		_, stop := claude.turn()
		base = append(base, stop)
		for i, s := range sessions {
			_, stop := s.turn()
			stops[i] = append(stops[i], stop)
		}
	}
	heading()
	for i, p := range playedAgents {
		compare("stop ("+p.name+") against stop (claude)", stops[i][warmUp:], base[warmUp:], "1.10")
	}
	claude.check(2)
	for _, s := range sessions {
		s.check(2)
	}
}
