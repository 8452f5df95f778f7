// Package command finds what a command works on if the command line does not
// say: repository, mission, turn, remotes.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/agent"
	"gitagent/internal/cmdline"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/purge"
	"gitagent/internal/record"
	"gitagent/internal/remote"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// MissionFlag returns the flag --mission; its value is for [Mission].
func MissionFlag() cli.Flag {
	return &cmdline.CompletedFlag{DocGenerationFlag: &cli.StringFlag{Name: "mission", Usage: "of the mission `<id>`"}, Values: CompleteMissions}
}

// AgentFlag returns the flag --agent of hooks.
func AgentFlag() cli.Flag {
	names := agent.Programs()
	return cmdline.OneOf(&cli.StringFlag{Name: "agent", Usage: "the agent is `<name>`: " + OneOf(names), Value: names[0]}, names...)
}

// TrustedFlag returns the flag --trusted of commands that an agent reads, and
// which is set if one runs them.
func TrustedFlag() cli.Flag {
	return &cli.BoolFlag{Name: trustedFlag, Usage: "leave out what is untrusted"}
}

const trustedFlag = "trusted"

// OneOf lists words of which one is meant: "a, b or c".
func OneOf(words []string) string {
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " or " + words[last]
	}
	return strings.Join(words, "")
}

// JSONFlag returns the flag --json of commands that print lists or records.
func JSONFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"}
}

// DryRunFlag returns the flag --dry-run of commands that change something.
func DryRunFlag() cli.Flag {
	return &cli.BoolFlag{Name: "dry-run", Aliases: []string{"n"}, Usage: "only show what would change"}
}

// Workspace opens the repository of the current directory, see [Open]. It first
// follows a filter of the user's, see [purge.FollowFilter].
func Workspace(ctx context.Context) (*workspace.Workspace, error) {
	w, err := Unfollowed(ctx)
	if err != nil || !purge.FilterPending(w) {
		return w, err
	}
	done, err := purge.FollowFilter(ctx, w)
	if err != nil {
		cmdline.Warn(err) // what can be read is of use
	}
	for _, line := range slices.Concat(done.Mended(), done.Missing()) {
		cmdline.Warn(errors.New(line))
	}
	return w, nil
}

// Unfollowed opens the repository of the current directory as it is.
func Unfollowed(ctx context.Context) (*workspace.Workspace, error) {
	if was, paged := ctx.Value(openedKey{}).(opened); paged {
		return Open(was.repo)
	}
	repo, err := git.Open(ctx)
	if errors.Is(err, git.ErrNotFound) {
		return nil, cmdline.Hint(errors.New("not in a git repository"), "change into one, or name it with -C <dir>")
	}
	if err != nil {
		return nil, err
	}
	return Open(repo)
}

// Open opens a repository. With an error about the user's settings, which
// commands require to be valid, it also returns a workspace of the valid ones.
// Invalid settings of the repository cause a warning.
func Open(repo *git.Repo) (*workspace.Workspace, error) {
	w, err := workspace.Open(repo)
	if w != nil {
		w.Say = func(text, done string) {
			cmdline.Warn(cmdline.Hint(errors.New(workspace.Said(text, done)), "see what may have done that: git agent-turn doctor"))
		}
	}
	if errors.As(err, new(*config.UntrustedError)) {
		cmdline.Warn(err)
		err = nil
	}
	if w != nil && err == nil {
		err = w.Settings.CheckRules()
	}
	return w, err
}

// Checkout is [Workspace] for commands that need a worktree to what: "record".
func Checkout(ctx context.Context, what string) (*workspace.Workspace, error) {
	w, err := Workspace(ctx)
	if err != nil || w.Repo.Top != "" {
		return w, err
	}
	return nil, NoWorktree(ctx, w.Repo, what)
}

// NoWorktree is the error about a repository without a worktree here.
func NoWorktree(ctx context.Context, repo *git.Repo, what string) error {
	if conf, err := repo.Config(ctx); err == nil && !conf.Bool("core.bare") { // in a git directory, or GIT_DIR is set
		return fmt.Errorf("the current directory is in no worktree to %s", what)
	}
	return fmt.Errorf("a bare repository has no worktree to %s", what)
}

// Mission returns the mission that a command works on, or "": [Here], else that
// of the worktree's last session, else the one written last. It is announced on
// talk if there are several. A session's mission counts from its first turn on,
// before it has a ledger; see [Begins].
func Mission(ctx context.Context, w *workspace.Workspace, named string, talk io.Writer) (record.ID, error) {
	id, err := mission(ctx, w, named, talk, func() (map[string]object.Hash, error) { return ledger.Refs(ctx, w.Repo) })
	if err == nil && id != "" {
		err = Readable(ctx, w, id)
	}
	return id, err
}

// Current is [Mission] of a situation, without a name and without a word.
func (s Situation) Current(ctx context.Context, w *workspace.Workspace) (record.ID, error) {
	id, err := mission(ctx, w, "", io.Discard, func() (map[string]object.Hash, error) { return s.refs, nil })
	if err == nil && id != "" {
		err = Readable(ctx, w, id)
	}
	return id, err
}

// Open opens the ledger of a mission, as the situation has it.
func (s Situation) Open(ctx context.Context, w *workspace.Workspace, objects *git.Objects, id record.ID) (*ledger.Ledger, error) {
	if tip, live := s.refs[id.Ref()]; live {
		return ledger.At(objects, id, tip)
	}
	return ledger.Open(ctx, w.Repo, objects, id)
}

// Readable returns an error if an agent asks for an untrusted mission, of which
// no agent is told anything; see [Trusted].
func Readable(ctx context.Context, w *workspace.Workspace, id record.ID) error {
	if !ByAgent(ctx) {
		return nil
	}
	return Trusted(ctx, w, id)
}

func mission(ctx context.Context, w *workspace.Workspace, named string, talk io.Writer, read func() (map[string]object.Hash, error)) (record.ID, error) {
	id, err := Here(ctx, w, named)
	if id != "" || err != nil {
		return id, err
	}
	id = lastHere(w, func(m record.ID, st *session.Known) bool { return begun(ctx, w, m, st) })
	if id != "" && talk == io.Discard {
		return id, nil
	}
	refs, err := read()
	if id == "" && err == nil {
		id, err = w.NewestOf(ctx, refs)
	}
	if talk != io.Discard && ledger.Count(refs) > 1 {
		fmt.Fprintf(talk, "mission %s\n", id)
	}
	return id, err
}

// Here returns the mission that a command names, perhaps by a prefix, else the
// branch's, else that of the session whose agent runs the command, or "".
func Here(ctx context.Context, w *workspace.Workspace, named string) (record.ID, error) {
	if named != "" {
		return Named(ctx, w.Repo, named)
	}
	if id, err := w.Mission(ctx); id != "" || err != nil {
		return id, err
	}
	if st := Agent(w); st != nil {
		if m, err := record.ParseID(st.Mission); err == nil {
			return m, nil
		}
	}
	return "", nil
}

// Own returns the mission to which a command writes, or "": [Here], that of the
// worktree's last session, even if killed in its first turn, or the only one.
func Own(ctx context.Context, w *workspace.Workspace, named string) (record.ID, error) {
	id, err := Here(ctx, w, named)
	if id != "" || err != nil {
		return id, err
	}
	if id = lastHere(w, func(record.ID, *session.Known) bool { return true }); id != "" {
		return id, nil
	}
	newest, among, err := w.Newest(ctx)
	if among == 1 {
		id = newest
	}
	return id, err
}

// Named returns the mission of an id or a prefix in any case. A full id need
// not exist here: it may be remote, or yet to begin.
func Named(ctx context.Context, repo *git.Repo, name string) (record.ID, error) {
	id, err := ledger.Expand(ctx, repo, name)
	if !record.IsPrefix(name) {
		return "", cmdline.Usagef("%w", err)
	}
	if !errors.Is(err, git.ErrNotFound) {
		return id, err
	}
	if id, err := record.ParseID(name); err == nil {
		return id, nil
	}
	return "", cmdline.Hint(err, "list the missions with: git agent-turn missions")
}

// lastHere returns the mission of the worktree's last session that counts.
func lastHere(w *workspace.Workspace, counts func(record.ID, *session.Known) bool) (id record.ID) {
	w.Store.Last(func(st *session.Known) bool {
		m, err := record.ParseID(st.Mission)
		if err != nil || st.Worktree != w.Repo.GitDir || !counts(m, st) {
			return false
		}
		id = m
		return true
	})
	return id
}

// begun reports whether a mission has a ledger, or its first turn runs.
func begun(ctx context.Context, w *workspace.Workspace, id record.ID, st *session.Known) bool {
	if _, err := ledger.Tip(ctx, w.Repo, id); !errors.Is(err, git.ErrNotFound) || st.Open == nil {
		return err == nil
	}
	live, err := Live(ctx, w, time.Now())
	return err == nil && first(live, string(id)) == id
}

// Live returns the sessions that live now, see [turns.LiveSessions].
func Live(ctx context.Context, w *workspace.Workspace, now time.Time) ([]turns.Live, error) {
	registry, err := agent.Running(os.Getenv)
	if err != nil {
		return nil, err
	}
	return turns.LiveSessions(ctx, w, registry, now)
}

// Begins returns the mission that err calls missing although its first turn is
// running, or "".
func Begins(ctx context.Context, w *workspace.Workspace, err error) record.ID {
	var m *turns.MissingError
	if !errors.As(err, &m) || m.Mission == "" {
		return ""
	}
	if st := Agent(w); st != nil && string(st.Mission) == m.Mission { // what a client runs for its user is a turn, too
		return record.ID(m.Mission)
	}
	live, unknown := Live(ctx, w, time.Now())
	if unknown != nil {
		return ""
	}
	return first(live, m.Mission)
}

// first returns the mission with that prefix in any case whose first turn runs.
func first(live []turns.Live, name string) record.ID {
	for _, l := range live {
		if l.Open != nil && l.Number == 1 && strings.HasPrefix(string(l.Mission), strings.ToLower(name)) {
			return l.Mission
		}
	}
	return ""
}

// Agent returns the session whose agent runs the command; nil for a person.
func Agent(w *workspace.Workspace) *session.Known {
	if _, client := agent.Inside(os.Getenv); client.SessionID != "" {
		return w.Store.Load(client.SessionID)
	}
	return nil
}

// State returns the named state, see [turns.Find], or the end of the last turn.
// A number, or no name, is about the mission that [Mission] gives.
func State(ctx context.Context, w *workspace.Workspace, mission, name string, talk io.Writer) (*turns.State, error) {
	if strings.Contains(name, "..") {
		return nil, cmdline.Usagef("%q names two states, and one is needed", name)
	}
	here, err := current(ctx, w, mission, name, talk)
	if err != nil {
		return nil, err
	}
	s, err := turns.Find(ctx, w, here, name)
	if err == nil {
		return s, Readable(ctx, w, s.In)
	}
	return nil, noState(ctx, w, err)
}

// Range returns the two states of a range, see [turns.Range]. For another name
// isRange is false, and to is its [State].
func Range(ctx context.Context, w *workspace.Workspace, mission, name string, talk io.Writer) (from, to *turns.State, isRange bool, err error) {
	here, err := current(ctx, w, mission, name, talk)
	if err != nil {
		return nil, nil, false, err
	}
	from, to, isRange, err = turns.Range(ctx, w, here, name)
	if err == nil && !isRange {
		to, err = turns.Find(ctx, w, here, name)
	}
	if err == nil {
		return from, to, isRange, Readable(ctx, w, to.In)
	}
	return nil, nil, isRange, noState(ctx, w, err)
}

// current returns the mission of a state's name that does not say it.
func current(ctx context.Context, w *workspace.Workspace, mission, name string, talk io.Writer) (record.ID, error) {
	if _, says := turns.MissionOf(name); says {
		return "", nil
	}
	unsaid := turns.OfCurrent(name)
	if !unsaid {
		talk = io.Discard // it is looked for in all missions
	}
	here, err := Mission(ctx, w, mission, talk)
	if err == nil && here == "" && unsaid {
		err = NoMission(ctx, w)
	}
	return here, err
}

// noState is [Missing], or the error that a mission has no turn yet.
func noState(ctx context.Context, w *workspace.Workspace, err error) error {
	if id := Begins(ctx, w, err); id != "" {
		return cmdline.Hint(cmdline.NotFoundf("mission %s has no turn yet: its first one is running", id), "list the turns with: git agent-turn list --all")
	}
	return Missing(err)
}

// Missing adds to an error that something is missing what there is instead.
func Missing(err error) error {
	var m *turns.MissingError
	if !errors.As(err, &m) {
		return err
	}
	near := strings.Join(m.Nearest, ", ")
	switch {
	case m.At != "":
		return cmdline.Hintf(err, "it is in the archive of %[1]s; bring it with: git agent-turn fetch --mission %[2]s %[1]s", cmdline.Escape(m.At), m.Mission)
	case near == "":
		return cmdline.Hint(err, "list the turns with: git agent-turn list --all")
	case strings.Contains(near, "/"):
		return cmdline.Hintf(err, "nearest: %s; list the turns with: git agent-turn list --all", near)
	}
	return cmdline.Hintf(err, "nearest: %s; list the missions with: git agent-turn missions", near)
}

// Remotes returns the remotes that anything may be sent to, or an error.
func Remotes(ctx context.Context, w *workspace.Workspace) ([]*remote.Remote, error) {
	conf, err := w.Repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	remotes, err := remote.Consenting(ctx, w, conf)
	if err == nil && len(remotes) == 0 {
		err = cmdline.Hint(errors.New("there is no remote that anything may be sent to"), "name one with: git agent-turn init --push <remote>")
	}
	return remotes, err
}

// NotPushed says why a mission that was just made was not pushed. That is no
// error, as the mission exists.
func NotPushed(talk io.Writer, id record.ID, why iter.Seq[error]) {
	for err := range why {
		fmt.Fprintf(talk, "mission %s was not pushed: %s\n", id, cmdline.OneLine(err.Error()))
	}
}
