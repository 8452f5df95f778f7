// Package agent knows the coding agents that are supported. All that belongs to
// one of them is in a folder of its own below this one, and nothing outside of
// these folders names an agent; what they share, and what is the same for all, is
// in the packages that they import. docs/agents.md says how to add one.
package agent

import (
	"context"
	"io"

	"gitagent/hooks"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
	"gitagent/internal/transcript"
)

// An Agent is a coding agent, by the client that runs it. The names of events, and
// of what is in their payloads, are common to all: see package hooks. A function
// whose comment says "nil if ..." is one that some agents do not have.
type Agent struct {
	Name    string // what records call it: "claude-code". It never changes.
	Program string // the client's program, and what --agent takes: "claude"
	Title   string // what people call it: "Claude Code"
	Tested  string // the newest version of the client that the tests ran

	// ConfigDir returns the directory of the user's own configuration of the client,
	// "" if the environment has neither it nor a home directory. getenv is
	// [os.Getenv] or a stand-in.
	ConfigDir func(getenv func(string) string) string
	// Install plans how to add our hooks to the user's settings, or with project to
	// those that a team shares; Remove plans how to take them out. Nothing is
	// written. A client without settings for projects gives an error that wraps
	// [errors.ErrUnsupported].
	Install, Remove func(places hooks.Places, project bool) (*hooks.Edit, error)
	// Inspect reports which of our hooks the client will run, and what is wrong with
	// them.
	Inspect func(places hooks.Places) *hooks.Report
	// Plugin returns the client's command that installs our plugin from what came
	// with our programs, below the directory share; "" if that is not there. It is
	// nil if there is no plugin for the client.
	Plugin func(share string) string
	// Notice is a sentence that a user must read after an installation, or "".
	Notice string

	// Event decodes a payload into the common words. Errors are those of
	// [hooks.Parse].
	Event func(r io.Reader) (*hooks.Payload, error)
	// Client returns what environment and processes say about the client that started
	// this process, a hook or a command that the agent runs; the zero Client if it is
	// not this one.
	Client    func(getenv func(string) string) hooks.Environment
	Variables []string // that the client sets for what its agent runs
	Programs  []string // the names that its processes have

	// Running lists the sessions that clients have said they run, those of dead
	// clients among them; config is the client's ConfigDir, and not empty. See
	// [session.Registration]. It is nil if clients do not say that.
	Running func(config string) ([]session.Registration, error)
	// Files lists the conversations on this machine whose session begins with a
	// prefix.
	Files func(config, prefix string) ([]transcript.File, error)
	// History lists the conversations that may have been begun in one of some
	// directories, or below one, in order of their ids. It is nil if the client's
	// files can't tell.
	History func(config string, dirs []string) ([]transcript.File, error)

	// Reader reads a conversation from the beginning of a segment.
	Reader func() transcript.Reader
	// Late says that the client runs the hook at the end of a turn before it has
	// written the turn's end, so that it is worth waiting for.
	Late bool
	// Subagents lists the sub-agents of the conversation at path whose files are not as
	// long as read says, by their ids. segment is what the conversation has become
	// longer by; running says that a sub-agent still ran before. If neither tells of
	// any, that costs next to nothing. It is nil if they are not recorded.
	Subagents func(path string, segment []byte, read map[string]int64, running bool) ([]transcript.SubagentFile, error)
	// Continues returns the prompt's id of the last turn that the file at path has in
	// common with the one that it goes on from, "" if it begins a conversation. It is
	// nil if clients do not begin a new file when a person goes back in the
	// conversation, or repeat in it what was before.
	Continues func(path string) (promptID string, err error)

	// NewSession returns an id for a new session, as the client wants them.
	NewSession func() string
	// Rebuild makes the file of a new session of a conversation cut at a turn. The
	// error wraps [transcript.ErrEmpty] if nothing was said in it, or
	// [errors.ErrUnsupported].
	Rebuild func(c transcript.Cut) (*transcript.Rebuilt, error)
	// Command returns the command that starts the client in a directory, with a
	// session to take up and a first prompt, either of which may be empty.
	Command func(dir, session, prompt string) []string
	// WithSession adds an id for its session to a command that starts the client; ok
	// is false if the command has one. It is nil if the id can't be chosen
	// beforehand.
	WithSession func(command []string, id string) (with []string, ok bool)
	// Interactive reports whether a command that starts the client talks to a person.
	Interactive func(command []string) bool

	// Wake clears the context of the client in a pane of tmux and gives it a prompt;
	// pid is its process, 0 for any, and self the session that calls, "" for none. It
	// is nil if that can't be done.
	Wake func(ctx context.Context, pane terminal.Pane, config string, pid int, self, prompt string) error
}
