// Package hooks knows payloads, answers and settings: it parses what agents'
// clients send to their hooks, writes what hooks answer, and installs ours. What
// ours do is in package internal/hook, and what one client does differently in its
// folder below internal/agent.
//
// A hook is a command that the client of an agent runs at an event of a session: a prompt was
// submitted, a turn ended, the session ended. It gets one JSON object on standard input, the
// payload, and some of the client's environment. Its output may go to the model, so ours print
// nothing but, rarely, a message to the user; see [Answer].
//
// # What arrives
//
// [Parse] decodes a payload into an [Event] and checks the parts that will become part of a path.
// The common shape of payloads is this one, and so are the names of events:
//
//	{"session_id":"5b60...","transcript_path":"/home/dev/sessions/5b60.jsonl",
//	 "cwd":"/home/dev/repo","prompt_id":"c600...","hook_event_name":"Stop",
//	 "stop_hook_active":false,"last_assistant_message":"done"}
//
// A [Client] is what the client's environment says.
//
// # What is installed
//
// Hooks are entries of the client's settings, JSON that people edit:
//
//	{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"git-agent-turn hook || true"}]}]}}
//
// [Install] and [Remove] edit such a text and leave every other byte unchanged;
// [Plan] and [Edit.Apply] do so with a file; [Inspect] says where our hooks are and
// what keeps them from running. A [Setup] does all of that for the files of one
// client. The text of a command never changes, so there is no list of old texts.
// Entries that a user has changed (a timeout, a matcher, a longer command around
// ours) count as installed; only an entry with exactly our command is removed.
package hooks
