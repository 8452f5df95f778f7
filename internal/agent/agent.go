// Package agent knows the supported coding agents. Each has its own folder
// below this one, and nothing outside these names an agent; common code is in
// the packages that they import. docs/agents.md says how to add one.
package agent

import (
	"context"
	"io"

	"gitagent/hooks"
	"gitagent/internal/redact"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
	"gitagent/internal/transcript"
)

// An Agent is a coding agent with its client. Events and payload fields have
// common names: see package hooks. Functions documented as "nil if ..." are
// missing from some agents.
type Agent struct {
	Name    string // in records: "claude-code". It never changes.
	Program string // the client's program, and the value of --agent: "claude"
	Title   string // for people: "Claude Code"
	Tested  string // the newest version of the client in tests

	// ConfigDir returns the directory of the client's user configuration, or ""
	// if getenv, [os.Getenv] or a stand-in, names none.
	ConfigDir func(getenv func(string) string) string
	// Install plans to add our hooks to the user's or, with project, a team's
	// settings; Remove plans to remove them. Neither writes. The error wraps
	// [errors.ErrUnsupported] if the client has no project settings.
	Install, Remove func(places hooks.Places, project bool) (*hooks.Edit, error)
	// Inspect reports which of our hooks the client will run, and what is
	// wrong.
	Inspect func(places hooks.Places) *hooks.Report
	// Plugin returns the client's command to install our plugin from share, or
	// "" if it lacks that. It is nil if the client has no plugin.
	Plugin func(share string) string
	// Notice is a sentence for the user after an installation, or "".
	Notice string

	// Event decodes a payload. Errors are those of [hooks.Parse].
	Event func(r io.Reader) (*hooks.Payload, error)
	// Reported returns what a prompt says that the client itself gives when what it
	// runs in the background has ended, which has more of the conversation and of
	// the disk. It returns a user's as it is, and is nil if all are users'.
	Reported func(prompt string) string
	// Flat says that the client takes what a hook tells the model at the top of
	// its answer; see [hooks.Answer].
	Flat bool
	// Ignored is the event of which the client ignores what a hook prints, or "".
	Ignored string
	// Effects tells what a tool of the client may do to files, by its name; one
	// that it does not know may do anything.
	Effects func(tool string) hooks.Effect
	// Client returns what environment and processes say about the client of
	// this process, a hook or an agent's command; zero for another client.
	Client func(getenv func(string) string) hooks.Environment
	// Borrows reports whether a process's environment is that of a client that
	// also runs hooks that were installed for the default agent; see
	// [Borrower]. It is nil if clients run none but their own.
	Borrows   func(getenv func(string) string) bool
	Variables []string // that the client sets for its agent's commands
	Programs  []string // the names of its processes

	// Running lists the sessions that clients, even dead ones, have registered.
	// config is ConfigDir, and not empty. See [session.Registration]. It is nil
	// if clients do not register.
	Running func(config string) ([]session.Registration, error)
	// Registered returns what the client of a process has registered, without a
	// look at the others. It is nil if clients do not register by process.
	Registered func(config string, pid int) (session.Registration, error)
	// Path returns where the client keeps a session's conversation, for payloads
	// that don't say. It is nil if all do.
	Path func(config, session string) string
	// Files lists this machine's conversations by a prefix of the session.
	Files func(config, prefix string) ([]transcript.File, error)
	// History lists, by id, the conversations that may have begun in or below
	// dirs, as [transcript.Near] says, or beside them with a commit that the
	// client noted. It is nil if the client's files can't tell.
	History func(config string, dirs []string) ([]transcript.File, error)
	// Worktrees is where in a repository the client makes worktrees, with
	// slashes; "" if it makes none.
	Worktrees string

	// Reader reads a conversation from the start of a segment.
	Reader func() transcript.Reader
	// Quoter is Reader, with a faster way to what lines say. It is nil if there
	// is none.
	Quoter func() (transcript.Reader, transcript.Quoter)
	// Structure says what holds a conversation together in its records, which
	// a user's rules of redaction leave alone.
	Structure redact.Structure
	// Late says that the client writes a turn's end only after it has started
	// the hook, so it is worth waiting for.
	Late bool
	// EndsUntold says that clients may end a session without an event: one whose
	// client is gone between turns has ended as it should.
	EndsUntold bool
	// Subagents lists the sub-agents of the conversation at path whose files
	// are not as long as read says, by their ids. segment is what the
	// conversation has become longer by; running says that a sub-agent still
	// ran before. If neither tells of any, that costs next to nothing. It is
	// nil if they are not recorded.
	Subagents func(path string, segment []byte, read map[string]int64, running bool) ([]transcript.SubagentFile, error)
	// Spent returns what the last request of the session at path sent, and what
	// all of them took: for a client that keeps that beside the conversation.
	// Errors are those of [transcript.LastUsage]. It is nil if the file tells.
	Spent func(path string) (last transcript.ContextUse, all transcript.Tokens, err error)
	// Claims returns the calls of tools that a part of a conversation's file
	// tells of. Those that a hook told of are among them. It is nil if the file
	// tells no more than hooks do.
	Claims func(segment []byte) []hooks.Ran
	// Continues returns, of the turn whose lines begin at an offset of the file
	// at path, the prompt's id of the last turn that it goes on from, "" if it
	// begins a conversation. jumps is false, and the id empty, if it goes on from
	// what is before it in the file, as most do. It is nil for clients that
	// neither keep a tree in a file nor refer to another one: what a file
	// repeats is found without.
	Continues func(path string, at int64) (promptID string, jumps bool, err error)

	// NewSession returns an id for a new session in the client's form.
	NewSession func() string
	// Rebuild makes a new session's file from a conversation cut at a turn. The
	// error wraps [transcript.ErrEmpty] if nothing was said in it, or
	// [errors.ErrUnsupported].
	Rebuild func(c transcript.Cut) (*transcript.Rebuilt, error)
	// Within says that a client goes on with a conversation that Rebuild cut
	// within a turn, after the answer to a call of a tool.
	Within bool
	// Command returns the command that starts the client in a directory. The
	// session to resume and the first prompt may be empty.
	Command func(dir, session, prompt string) []string
	// WithSession adds a session's id to a command that starts the client; ok
	// is false if it has one. It is nil if the id can't be chosen.
	WithSession func(command []string, id string) (with []string, ok bool)
	// Interactive reports whether a client's command talks to a person.
	Interactive func(command []string) bool

	// Wake clears the context of the client in a pane of tmux and gives it a
	// prompt. pid is its process, or 0 for any, and self the calling session,
	// or "". It is nil if that is impossible.
	Wake func(ctx context.Context, pane terminal.Pane, config string, pid int, self, prompt string) error
}
