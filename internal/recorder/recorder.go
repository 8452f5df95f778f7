package recorder

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"gitagent/hooks"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/limit"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A Result is the outcome of a signal.
type Result struct {
	Mission record.ID     // empty if there was nothing to record
	Turns   []*turns.Turn // recorded by this signal, in order
	// Config is git's configuration as the recording read it, to spare a hook a
	// second read; nil if there was nothing to record.
	Config git.Config
	// Quarantined is what the untrusted part of Mission became, if there was
	// one.
	Quarantined record.ID
	// Damaged is the mission that the signal was for, if its ledger lost an
	// object. Then Mission, the session's own, has the turn.
	Damaged record.ID
	// Gone is work that was made and destroyed within the turns, but by editing.
	Gone []Gone
	// Elsewhere are the calls of the last turn that edited files outside of the
	// worktree, by the conversation, if that had to be read.
	Elsewhere []hooks.Call
	// Stayed is the reason why the branch did not move with the turn, or nil.
	Stayed error
	// Skipped is what the worktree has that the state leaves out.
	Skipped []record.Skip
	// Warnings are problems, for the log, that did not prevent the recording.
	Warnings []string
}

// A Gone is work that a turn's end lacks, and the step that has it.
type Gone struct {
	Step  *turns.State
	Paths []string // the files, in order
}

// Record records a signal. When it returns, the repository holds everything.
func Record(ctx context.Context, w *workspace.Workspace, s Signal) (*Result, error) {
	most := limit.Of(ctx).Record
	if most > 0 {
		most += 2 * s.FlushWait
	}
	ctx, cancel := limit.Within(ctx, most)
	defer cancel()
	s.At = s.At.UTC().Truncate(time.Millisecond)
	name := s.Session
	if name == "" {
		name = byHand(w) // turns recorded by hand form a sequence, too
	}
	done := new(Result)
	err := w.Store.Update(ctx, name, func(st *session.Known) error {
		if known(s, st) {
			return session.ErrUnchanged
		}
		return ledgertx.Worktree(ctx, w, func() error { return recordOnce(ctx, w, s, st, done) })
	})
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", s.Event, err)
	}
	return done, nil
}

func recordOnce(ctx context.Context, w *workspace.Workspace, s Signal, st *session.Known, done *Result) error {
	meant := record.ID("")
	err := recordTo(ctx, w, s, st, done, func(ctx context.Context) (ledgertx.Job, error) {
		var err error
		meant, err = missionOf(ctx, w, s, st)
		return ledgertx.Job{Mission: meant}, err
	})
	if !s.ownInstead(err, meant) {
		return err
	}
	instead, e := ownMission(ctx, w, s.Session, s.seed(w))
	if e == nil && instead == meant {
		instead, e = record.OfSession(s.seed(w), 12)
	}
	if e != nil {
		return err
	}
	if e := recordTo(ctx, w, s, st, done, ledgertx.Of(ledgertx.Job{Mission: instead, Instead: true})); e != nil {
		if errors.Is(e, session.ErrUnchanged) {
			return e
		}
		if instead == meant {
			return err
		}
		return errors.Join(err, e)
	}
	if instead != meant { // else it may just be archived, and it begins
		done.Damaged = meant
	}
	return nil
}

// ownInstead reports whether a signal goes to the session's own mission because
// the meant one lost an object. Until that comes back nothing continues there,
// and the turn is not lost. A mission that the signal names is not replaced.
func (s Signal) ownInstead(err error, meant record.ID) bool {
	return git.Lost(err) && s.Session != "" && meant != "" && s.Mission == ""
}

func recordTo(ctx context.Context, w *workspace.Workspace, s Signal, st *session.Known, done *Result, mission func(context.Context) (ledgertx.Job, error)) error {
	choose := func(ctx context.Context) (ledgertx.Job, error) {
		j, err := mission(ctx)
		j.At, j.What, j.Warm = s.At, string(s.Event), headBefore(st)
		return j, err
	}
	state, ok := turnTo(s, *st, session.Client.Live)
	if !ok {
		return session.ErrUnchanged
	}
	return ledgertx.Run(ctx, w, choose, func(ctx context.Context, tx *ledgertx.Tx) error {
		rec := &recording{
			Workspace: w, tx: tx, result: Result{Mission: tx.ID},
			inputs: inputs{Signal: s, id: tx.ID, worktree: w.Repo.GitDir, top: w.Repo.Top, rules: w.Settings.Rules(), state: state},
		}
		changed, err := rec.run(ctx)
		if err != nil {
			return err
		}
		*done = rec.result
		done.Config, _ = tx.Config() // code that needs it has reported the error
		if !changed {
			return session.ErrUnchanged
		}
		*st = rec.state
		return nil
	})
}

// byHand returns the session name for turns recorded by hand in this worktree.
func byHand(w *workspace.Workspace) string { return session.ByHand + filepath.Base(w.Repo.GitDir) }

// missionOf returns a signal's mission, by default the session's own.
func missionOf(ctx context.Context, w *workspace.Workspace, s Signal, st *session.Known) (record.ID, error) {
	here, err := w.Mission(ctx)
	if err != nil {
		return "", err
	}
	id, err := named(s, here, st, func(id record.ID) (bool, error) { return turns.Exists(ctx, w.Repo, id) })
	if err != nil || id != "" {
		return id, err
	}
	if s.Session == "" {
		return "", errors.New("there is neither a session nor a mission to record to")
	}
	return ownMission(ctx, w, s.Session, s.seed(w))
}

// seed is what the session's own mission is named by. A visited repository may be
// another clone of home, with the same remote: its mission must not be home's.
func (s Signal) seed(w *workspace.Workspace) string {
	if s.Away {
		return s.Session + " in " + w.Repo.CommonDir
	}
	return s.Session
}

// named returns the mission that a signal belongs to, the first of these:
//
//  1. the one that the signal names;
//  2. the one whose branch HEAD is on, or will be on after the current rebase;
//  3. the one that this session already records to;
//  4. the one that the environment names, if its ledger exists here.
func named(s Signal, here record.ID, st *session.Known, exists func(record.ID) (bool, error)) (record.ID, error) {
	if id := cmp.Or(s.Mission, here, st.Mission); id != "" {
		return id, nil
	}
	asked, err := record.ParseID(s.Asked)
	if err != nil {
		return "", nil
	}
	if there, err := exists(asked); err != nil || !there {
		return "", err
	}
	return asked, nil
}

// ownMission returns a session's passive mission. Its id has 12 digits if the
// mission with its 8 is another session's, or damaged.
func ownMission(ctx context.Context, w *workspace.Workspace, name, seed string) (record.ID, error) {
	short, err := record.OfSession(seed, 8)
	if err != nil {
		return "", err
	}
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, w.Repo, objects, short)
	if errors.Is(err, git.ErrNotFound) {
		return short, nil
	}
	if err == nil && slices.Contains(l.Mission.Sessions, name) || err != nil && !git.Lost(err) {
		return short, err
	}
	return record.OfSession(seed, 12) // another session's, or damaged
}

func headBefore(st *session.Known) object.Hash {
	switch {
	case st.Open != nil:
		return st.Open.Head
	case st.Last != nil:
		return st.Last.Head
	}
	return object.Hash{}
}

// A SignalKind is what a client reports about a session.
type SignalKind string

// The kinds of signals.
const (
	Prompted SignalKind = "prompted" // a prompt was given; the turn begins, or the prompt waits in a running one
	Stopped  SignalKind = "stopped"  // the agent finished its turn
	Erred    SignalKind = "erred"    // the turn ended in an error of the model's service
	Halted   SignalKind = "halted"   // the user interrupted the turn
	Ended    SignalKind = "ended"    // the session is over
)

// FlushWait is how long a turn's end waits for the transcript of a client that
// lives: clients write it up to 100 ms late.
const FlushWait = 2 * time.Second

// A Signal is one event of one session: a hook's payload, or a command by hand.
type Signal struct {
	Event   SignalKind
	At      time.Time
	Agent   string    // its name in records
	Session string    // safe as a file name; empty if there is no client
	Mission record.ID // by hand: record to this one, and begin it if it does not exist
	Asked   string    // GIT_AGENT_MISSION; used if it names a mission of this repository

	PromptID   string         // the turn's id in the client; empty in clients that have none
	Prompt     string         // Prompted, and by hand
	Reply      string         // Stopped: the last assistant message; Erred: the text of the error
	Again      bool           // Stopped: the turn went on after its first Stop
	Transcript string         // path of the session's file; empty if the client keeps none
	Outcome    record.Outcome // by hand: how the turn ended; "" for the event's own
	Strict     bool           // by hand: an unreadable transcript is an error; a hook would record the turn without it

	// Away says that the session only visits this repository, and Home which turn
	// at home has the conversation, if any has. A turn that changed nothing here is
	// dropped if IfChanged. Began is when the calls began that have run before a
	// visit's Prompted, and at its end when the last ones had run, zero if that is
	// unknown. Started is when the turn had begun at home. Untold are calls of the
	// turn of which the journal may lack some.
	Away           bool
	Home           *record.TurnID
	IfChanged      bool
	Began, Started time.Time
	Untold         []hooks.Call

	FlushWait  time.Duration // how long the turn's end waits for the transcript; see [FlushWait]
	Client     session.Client
	ClientLock session.ClientLock // Prompted: the file that the client has locked for the session
}

// key identifies an event; it comes twice with both settings and plugin.
func (s Signal) key() string {
	h := sha256.New()
	for _, part := range []string{string(s.Event), s.Session, s.PromptID, strconv.FormatBool(s.Again), s.Reply} {
		h.Write([]byte(strconv.Itoa(len(part)) + ":" + part))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func (s Signal) outcome() record.Outcome {
	switch {
	case s.Outcome != "":
		return s.Outcome
	case s.Event == Erred:
		return record.Failed
	case s.Event == Stopped:
		return record.Done
	}
	return record.Interrupted
}
