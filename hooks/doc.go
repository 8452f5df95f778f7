// Package hooks parses what agents' clients send to their hooks, writes what
// hooks answer, and installs ours. Package internal/hook has what ours do, and
// the folders of internal/agent have the differences of clients.
//
// A hook is a command that an agent's client runs when a prompt was submitted,
// a turn or the session ended. It gets a JSON object on standard input, the
// payload, and some of the client's environment. Its output may go to the
// model, so ours print nothing but, rarely, a message to the
// user; see [Answer].
//
// # What arrives
//
// [Parse] decodes a payload into a [Payload] and checks the parts that will
// become part of a path. Most payloads and names of events are like these:
//
//	{"session_id":"5b60...",
//	 "transcript_path":"/home/dev/sessions/5b60.jsonl",
//	 "cwd":"/home/dev/repo","prompt_id":"c600...","hook_event_name":"Stop",
//	 "stop_hook_active":false,"last_assistant_message":"done"}
//
// # What is installed
//
// Hooks are entries of the client's settings, JSON that people edit:
//
//	{"hooks":{"Stop":[{"hooks":[
//	  {"type":"command","command":"git-agent-turn hook || true"}]}]}}
//
// [Install] and [Remove] leave every other byte of settings unchanged; [Plan]
// and [Edit.Apply] edit files; [Inspect] finds our hooks and what keeps them
// from running. A [Setup] does all of that for one client's files. The text of
// a command never changes, so there is no list of old texts. Entries that a
// user has changed (a timeout, a matcher, a longer command around ours) count
// as installed; only an entry with exactly our command is removed.
package hooks
