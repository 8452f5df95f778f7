package hook

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gitagent/handoffstore"
	"gitagent/hooks"
	"gitagent/internal/cmdline"
	"gitagent/internal/fetcher"
	"gitagent/internal/git"
	"gitagent/internal/gitdiff"
	"gitagent/internal/limit"
	"gitagent/internal/missionstore"
	"gitagent/internal/purge"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/session"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
)

// prompt records a prompt, and with it the turn before if nothing said that it
// has ended. A wake that the agent asked for is off: the user was faster.
func prompt(ctx context.Context, h *hook) error {
	w, s := h.open(), h.signal(recorder.Prompted)
	s.ClientLock = session.ReadClientLock(h.event.Lock)
	result, err := recordPrompt(ctx, w, s)
	_, off := w.Store.TakeWake(ctx, s.Session)
	h.logError(off)
	if err != nil {
		return err
	}
	h.follow(ctx, w, result, len(result.Turns) > 0)
	h.atHome(result)
	h.leave(ctx, recorder.Halted, result)
	h.notify(ctx, w, result)
	h.waiting(w)
	h.stuck(w)
	h.logError(h.arrive(w))
	return nil
}

// waiting tells the user, once in a session, which purges of others wait for
// them to decide: a background process has no other way to.
func (h *hook) waiting(w *workspace.Workspace) {
	held, err := purge.AllHeld(w.Store)
	h.logError(err)
	for i := range held {
		if m := &held[i]; m.Here && !m.Away && !m.Kept && m.Missions[0] == m.Mission {
			h.offer("held-"+string(m.Mission), fetcher.Asks(m)+"; it stays as it is, and is sent nowhere, until you decide on a terminal of your own", "git agent-turn fetch "+m.From)
		}
	}
}

// stuck tells the user, once in a session, how to go on if the model's service
// refuses its conversation. A prompt is the first event after a failure in which
// every client shows what a hook tells.
func (h *hook) stuck(w *workspace.Workspace) {
	last := w.Store.Load(h.event.SessionID).Last
	if last == nil || !last.Refused.Lasts() {
		return
	}
	good := record.TurnID{Mission: last.Mission, Turn: last.Refused.After}
	h.offer("stuck", fmt.Sprintf("the model's service has refused this conversation after turn %s, and is likely to refuse every prompt; go on from that turn, in a worktree of its own, with", good),
		cmdline.Shell([]string{"git", "agent-fork", good.String()}))
}

// recordPrompt removes what our dead processes left, and records a prompt.
func recordPrompt(ctx context.Context, w *workspace.Workspace, s recorder.Signal) (*recorder.Result, error) {
	clearing, done := limit.Within(ctx, limit.Of(ctx).Record)
	missionstore.ClearDead(clearing, w)
	done()
	return recorder.Record(ctx, w, s)
}

// stopped returns the handler of a turn's end, by one of the events for it.
func stopped(event recorder.SignalKind) handler {
	return func(ctx context.Context, h *hook) error { return stop(ctx, h, event) }
}

// stop records the turn that has ended.
func stop(ctx context.Context, h *hook, event recorder.SignalKind) error {
	w, s := h.open(), h.signal(event)
	result, err := recorder.Record(ctx, w, s)
	if event == recorder.Stopped {
		h.logError(wake(ctx, w, s.Session))
	}
	h.leave(ctx, event, result)
	if err != nil {
		return err
	}
	h.follow(ctx, w, result, len(result.Turns) > 0)
	h.atHome(result)
	h.notify(ctx, w, result)
	return nil
}

// end records the end of the session, and waits for the push of its mission.
func end(ctx context.Context, h *hook) error {
	w := h.open()
	result, handedOff, err := recordEnd(ctx, w, h.signal(recorder.Ended))
	if err != nil {
		return err
	}
	h.leave(ctx, recorder.Halted, result)
	if result == nil { // a duplicate; the other process may end before its push
		return h.awaitOther(ctx, w)
	}
	h.logError(session.PresenceIn(w.Repo.GitDir).Leave(h.event.SessionID))
	news := len(result.Turns) > 0 || handedOff
	h.follow(ctx, w, result, news)
	h.awaitPush(ctx, w, result.Config, result.Mission, news)
	h.notify(ctx, w, result)
	return nil
}

// recordEnd records the end of a session, which then hands off. The result is
// nil if it was handled already. If this process dies, the next session's start
// does the rest.
func recordEnd(ctx context.Context, w *workspace.Workspace, s recorder.Signal) (result *recorder.Result, handedOff bool, err error) {
	store := &handoffstore.Store{Workspace: w}
	held, err := w.Store.LockSessions(ctx, w.Repo.GitDir)
	if err != nil {
		return nil, false, err
	}
	defer held.Release()
	done, err := store.Ending(ctx, s.Session)
	if done || err != nil {
		return nil, false, err
	}
	result, g, err := finish(ctx, store, s, handoffstore.Request{
		At: s.At, Exit: record.Clean, Ended: true,
		Session: s.Session, Agent: s.Agent, Transcript: s.Transcript,
	})
	return result, g != nil, err
}

// follow starts what follows a recorded event in the background: housekeeping,
// and with news, the push.
func (h *hook) follow(ctx context.Context, w *workspace.Workspace, r *recorder.Result, news bool) {
	for _, warning := range r.Warnings {
		h.log(warning)
	}
	h.logError(Housekeep(w))
	if news {
		_, err := remote.Background(ctx, w, r.Config, r.Mission)
		h.logError(err) // the turn is recorded in any case
	}
}

func (h *hook) notify(ctx context.Context, w *workspace.Workspace, r *recorder.Result) {
	if !w.Settings.Capture.TellDestroyed {
		r.Gone = nil
	}
	for _, n := range notices(r, purge.Unfinished(w.Store)) {
		if n.logged {
			h.log(n.text)
		}
		h.offer(n.kind, n.text, n.command)
	}
	h.tellLeftOut(ctx, w, r.Skipped)
}

// tellLeftOut tells what turns leave out, once in a session for each reason. Of
// what patterns exclude that is only that they exclude most.
func (h *hook) tellLeftOut(ctx context.Context, w *workspace.Workspace, skipped []record.Skip) {
	for _, l := range w.LeftOut(skipped) {
		h.tell("left-"+l.Why, l.Text)
	}
	const all = "left-" + record.WhyExcluded
	if h.store.WasTold(h.session(), all) {
		return
	}
	l, err := w.ShutOut(ctx, skipped)
	h.logError(err)
	if l != nil {
		h.tell(all, l.Text)
	}
}

// signal returns the hook's event as the recorder takes it.
func (h *hook) signal(event recorder.SignalKind) recorder.Signal {
	s := signalOf(event, h.event)
	s.At, s.Agent, s.Asked, s.Client = h.at, h.agent.Name, h.asked(), session.ReadClient(h.client.PID)
	return s
}

func signalOf(event recorder.SignalKind, e *hooks.Payload) recorder.Signal {
	return recorder.Signal{
		Event: event, Session: e.SessionID, PromptID: e.PromptID, Prompt: e.Prompt, Reply: e.LastAssistantMessage,
		Again: e.StopHookActive, Transcript: e.TranscriptPath, FlushWait: recorder.FlushWait,
	}
}

// A notice is for the user after an event was recorded.
type notice struct {
	kind   string
	text   string
	logged bool // too

	command string // that is offered, or ""
}

const (
	maxTold = 3  // steps with destroyed work that an event tells of, the newest
	maxGone = 10 // files that a command names that brings them back
)

// notices returns the notices after an event. purging: a purge is unfinished.
func notices(r *recorder.Result, purging bool) (list []notice) {
	if r.Quarantined != "" {
		list = append(list, notice{kind: "aside", text: fmt.Sprintf("mission %s contained turns that are not signed by a key you trust; "+
			"they are now mission %s, and yours continues without them", r.Mission, r.Quarantined), logged: true})
	}
	if purging { // none runs, as recording waits for it
		list = append(list, notice{kind: "purge", text: "a purge was begun and has not ended; the next fetch or push completes it, or now: git agent-turn purge"})
	}
	earlier := max(0, len(r.Gone)-maxTold)
	if earlier > 0 {
		turn := r.Gone[earlier-1].Step.Turn.After().String()
		list = append(list, notice{
			kind: "gone-more-" + strings.ReplaceAll(turn, "/", "-"), command: cmdline.Shell([]string{"git", "agent-turn", "show", "--steps", turn}),
			text: fmt.Sprintf("work was made and destroyed in turn %s at %s, too; see them with", turn, cmdline.Plural(earlier, "earlier step")),
		})
	}
	for _, g := range r.Gone[earlier:] {
		name := g.Step.String()
		command := []string{"git", "agent-turn", "restore", name, "--"}
		for _, path := range g.Paths[:min(len(g.Paths), maxGone)] {
			command = append(command, gitdiff.FromTop(path))
		}
		what := "it"
		if n := len(g.Paths); n > maxGone {
			what = fmt.Sprintf("%d of them", maxGone)
		}
		list = append(list, notice{
			kind: "gone-" + strings.ReplaceAll(name, "/", "-"), command: cmdline.Shell(command),
			text: fmt.Sprintf("work was made and destroyed in turn %s, in %s; bring %s back with", g.Step.Turn.After(), cmdline.Plural(len(g.Paths), "file"), what),
		})
	}
	if r.Damaged != "" {
		list = append(list, notice{kind: "damaged", text: fmt.Sprintf("mission %s is damaged, and this session is recorded as mission %s; "+
			"see what is missing, and get it where a remote has it: git agent-turn doctor --repair", r.Damaged, r.Mission), logged: true})
	}
	if r.Stayed != nil {
		list = append(list, notice{kind: "branch", text: fmt.Sprintf("the branch of mission %s was left where it is: %v; "+
			"if no git is at work, remove that lock", r.Mission, r.Stayed), logged: false})
	}
	return list
}

// finish ends a session: it records the last turn, hands off, and notes that in
// the session's state. A session without a record leaves nothing. The caller
// must hold the lock of sessions.
func finish(ctx context.Context, s *handoffstore.Store, last recorder.Signal, r handoffstore.Request) (*recorder.Result, *handoffstore.Gathered, error) {
	result, err := recorder.Record(ctx, s.Workspace, last)
	if err != nil {
		return nil, nil, fmt.Errorf("the end of session %s: %w", last.Session, err)
	}
	if r.Mission, err = record.ParseID(s.Workspace.Store.Load(last.Session).Mission); err != nil {
		return result, nil, nil // nothing was ever recorded
	}
	g, err := s.Gather(ctx, r)
	if err != nil && !errors.Is(err, git.ErrNotFound) { // not found: the mission has no ledger
		return result, nil, err
	}
	return result, g, s.HandedOff(ctx, last.Session)
}

// wake starts the process that clears the agent's context, if the agent asked
// for it in the turn that ends. The process waits until the client is ready.
func wake(ctx context.Context, w *workspace.Workspace, id string) error {
	asked, err := w.Store.TakeWake(ctx, id)
	if err != nil || asked == nil {
		return err
	}
	return terminal.DetachOwn(w.Repo.Top, "git-agent-handoff", "wake", "--tmux", asked.Pane)
}

// Housekeep starts, in the background, a process that keeps packs few, and does
// other housekeeping once a day.
func Housekeep(w *workspace.Workspace) error {
	if !git.RollUpDue(w.Repo) && !w.Store.Due(time.Now()) {
		return nil
	}
	return terminal.DetachOwn(w.Repo.Top, "git-agent-turn", "housekeep")
}

// awaitOther waits for the push of a session's end that another process has
// recorded: clients wait longer for a hook from settings than for a plugin's.
func (h *hook) awaitOther(ctx context.Context, w *workspace.Workspace) error {
	mission, err := record.ParseID(w.Store.Load(h.event.SessionID).Mission)
	if err != nil {
		return nil // it has recorded nothing
	}
	conf, err := w.Repo.Config(ctx)
	if err != nil {
		return err
	}
	h.awaitPush(ctx, w, conf, mission, true)
	return nil
}

// awaitPush waits at a session's end until its mission is pushed, or can't be,
// since the machine may vanish, and tells the user if it is not pushed. started
// says that a background process was just started; an earlier one may have
// given up.
func (h *hook) awaitPush(ctx context.Context, w *workspace.Workspace, conf git.Config, id record.ID, started bool) {
	if h.event.Reason == "clear" {
		return // the client lives on
	}
	wait, waits, err := pushWait(conf.Get("agent.pushwait"), limit.Of(ctx).Push)
	h.logError(err)
	if !waits {
		return
	}
	remotes, err := remote.Consenting(ctx, w, conf)
	h.logError(err)
	waiting, cancel := limit.Within(ctx, wait)
	defer cancel()
	var late []string
	for _, r := range remotes {
		if !started && r.Waits(id) {
			h.logError(r.Start(ctx))
		}
		if !r.Await(waiting, id) && waiting.Err() != nil {
			late = append(late, r.String())
		}
	}
	if len(late) > 0 {
		text := fmt.Sprintf("git-agent-turn: mission %s is still being pushed to %s", id, strings.Join(late, ", "))
		h.add(hooks.Answer{User: text})
	}
}

// pushWait returns how long a session's end waits for its push: the setting, or
// most if it is empty or invalid. waits is false for no wait; 0 is no limit.
func pushWait(setting string, most time.Duration) (wait time.Duration, waits bool, err error) {
	if setting == "" {
		return most, true, nil
	}
	d, err := time.ParseDuration(setting)
	if err != nil {
		return most, true, fmt.Errorf("agent.pushWait: %w", err)
	}
	return d, d > 0, nil
}
