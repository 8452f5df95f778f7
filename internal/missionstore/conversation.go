package missionstore

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"gitagent/internal/agent"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A forkConversation is the conversation that a fork starts with.
type forkConversation struct {
	rebuilt *transcript.Rebuilt // for the client; nil if there is none
	until   int                 // its last turn in the ledger of the mission that continues it; 0 if none
	size    int64               // of the part of the file up to that turn, if more follows; else 0
	why     error               // why there is none
	file    unplaced
	failed  error // the file could not be written
}

// none is the conversation of a fork that has none, and why.
func none(why error) *forkConversation { return &forkConversation{why: why} }

// retell writes the conversation of a fork to a file beside the one that it
// becomes; the caller places or discards it. Without one and why, none was
// asked for, or the fork begins before its first turn.
func retell(ctx context.Context, w *workspace.Workspace, f ForkPlan) *forkConversation {
	if f.Session == "" {
		return none(nil)
	}
	until := f.Source
	if f.Source.Away() {
		if f.Home == nil {
			return none(fmt.Errorf("it is %w", cmp.Or(f.Lost, turns.ErrAway)))
		}
		var err error
		w = f.Home.Workspace
		if until, err = turns.Usable(ctx, w, f.Home.Turn); err != nil {
			return none(err)
		}
	}
	ends := until // the conversation with this turn, or before it
	if f.Before {
		seg := ends.Transcript
		switch {
		case seg == nil:
			return none(fmt.Errorf("no transcript of turn %s was recorded", ends.ID()))
		case seg.After == 0:
			return none(nil)
		}
		var err error
		if until, err = turnBefore(ctx, w, ends); err != nil {
			return none(err)
		}
	}
	client, known := agent.Find(until.Agent)
	switch {
	case until.Agent == "":
		return none(fmt.Errorf("turn %s was recorded by hand, or for an unknown client", until.ID()))
	case !known:
		return none(fmt.Errorf("sessions of %q can't be taken up again at a turn", until.Agent))
	case client.Name != f.agent():
		return none(fmt.Errorf("it was had with %s, and %s goes on", client.Title, titleOf(f.agent())))
	}
	lines := func(own func(io.Reader) (io.Reader, error)) iter.Seq2[[]byte, error] {
		return linesUntil(ctx, w.Repo, until, own)
	}
	if f.Call != "" {
		return retellWithin(f, client, ends, lines)
	}
	told := f.rebuild(client, lines(nil))
	told.until = until.Turn
	return told
}

// linesUntil returns the lines of a conversation up to a turn, as they are read.
// own is nil, or returns what to take of the turn's own segment.
func linesUntil(ctx context.Context, repo *git.Repo, until *turns.Turn, own func(io.Reader) (io.Reader, error)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var in transcript.LineReader
		err := turns.Conversation(ctx, repo, until, func(segment io.Reader, last bool) (err error) {
			if last && own != nil {
				if segment, err = own(segment); err != nil {
					return err
				}
			}
			return in.Each(segment, func(line []byte) error {
				if !yield(line, nil) {
					return errEnough
				}
				return nil
			})
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

// errEnough ends a walk whose lines nobody takes any more.
var errEnough = errors.New("enough was read")

func (f *ForkPlan) cut(lines iter.Seq2[[]byte, error]) transcript.Cut {
	return transcript.Cut{
		Lines: lines, Foreign: f.Foreign, Session: f.Session, At: f.At, Config: f.Config, Dir: resolved(cmp.Or(f.Worktree, f.top)),
	}
}

// rebuild writes the client's file, under a name of its own until it is placed.
func (f *ForkPlan) rebuild(client *agent.Agent, lines iter.Seq2[[]byte, error]) *forkConversation {
	rebuilt, err := client.Rebuild(f.cut(lines))
	if errors.Is(err, errors.ErrUnsupported) {
		err = fmt.Errorf("sessions of %s can't be taken up again at a turn", client.Title)
	}
	if err != nil {
		return none(err)
	}
	told := &forkConversation{rebuilt: rebuilt, file: unplaced{path: rebuilt.Path + ".tmp"}}
	out := bufio.NewWriterSize(&told.file, 1<<16)
	if err := rebuilt.Write(out); err != nil {
		_ = told.file.Close()
		told.file.discard()
		return none(err)
	}
	told.failed = errors.Join(out.Flush(), told.file.Close())
	return told
}

// retellWithin makes a conversation that ends within the last of the segments.
// What it has of that turn is recorded with the fork's first one.
func retellWithin(f ForkPlan, client *agent.Agent, of *turns.Turn, lines func(own func(io.Reader) (io.Reader, error)) iter.Seq2[[]byte, error]) *forkConversation {
	if !client.Within {
		return none(fmt.Errorf("sessions of %s can't be taken up again within a turn", client.Title))
	}
	var end int64
	before, err := client.Rebuild(f.cut(lines(func(segment io.Reader) (_ io.Reader, err error) {
		end, err = transcript.Within(client.Reader(), segment, f.Call)
		return strings.NewReader(""), err
	})))
	var size counter
	if err == nil {
		out := bufio.NewWriterSize(&size, 1<<16)
		err = before.Write(out)
		_ = out.Flush() // counting does not fail
	}
	empty := errors.Is(err, transcript.ErrEmpty)
	switch {
	case err != nil && !empty:
		return none(err)
	case end == 0:
		return none(fmt.Errorf("the conversation of turn %s lacks the call %s", of.ID(), f.Call))
	}
	told := f.rebuild(client, lines(func(segment io.Reader) (io.Reader, error) { return io.LimitReader(segment, end), nil }))
	if !empty {
		told.until, told.size = of.Transcript.After, int64(size)
	}
	return told
}

// A counter counts what is written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// resolved returns a directory, which may not exist, without symbolic links.
func resolved(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil || filepath.Dir(dir) == dir {
		return cmp.Or(real, dir)
	}
	return filepath.Join(resolved(filepath.Dir(dir)), filepath.Base(dir))
}

// turnBefore reads the previous turn of a turn's conversation.
func turnBefore(ctx context.Context, w *workspace.Workspace, t *turns.Turn) (*turns.Turn, error) {
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	l, err := t.OpenLedger(ctx, w.Repo, objects)
	if err != nil {
		return nil, err
	}
	return turns.ReadIn(l, t.Transcript.After)
}

// placeConversation puts the conversation where the client looks for it, and
// notes that it is recorded, lest it be stored twice. The file is complete when
// it gets its name; then a client that keeps conversations elsewhere imports it.
func placeConversation(ctx context.Context, w *workspace.Workspace, f ForkPlan, c *forkConversation) (path string, err error) {
	gitDir := "" // not this worktree's, whose mission may be another one
	if f.Worktree != "" {
		repo, err := git.Find(f.Worktree)
		if err != nil {
			return "", err
		}
		gitDir = repo.GitDir
	}
	if c.failed != nil {
		return "", c.failed
	}
	path = c.rebuilt.Path
	err = remember(ctx, w, f, c, gitDir)
	if err == nil && f.Source.Away() {
		err = f.Home.Note(f.Session)
	}
	if err == nil {
		err = os.Rename(c.file.path, path)
	}
	if err == nil && c.rebuilt.Adopt != nil {
		if err = c.rebuilt.Adopt(ctx); err != nil {
			_ = os.Remove(path)
		}
	}
	if err == nil {
		c.file.tried = false
		return path, nil
	}
	err = errors.Join(err, w.Store.ForgetSession(ctx, f.Session, f.ID))
	if f.Source.Away() {
		err = errors.Join(err, f.Home.Store.ForgetSession(ctx, f.Session, f.Home.Turn.In()))
	}
	return "", err
}

func remember(ctx context.Context, w *workspace.Workspace, f ForkPlan, c *forkConversation, gitDir string) error {
	path, tmp := c.rebuilt.Path, c.file.path
	end, err := transcript.End(tmp)
	if c.size > 0 {
		end, err = transcript.At(tmp, c.size)
	}
	if err != nil {
		return err
	}
	note := func(w *workspace.Workspace, until int, known session.Known) error {
		return w.Store.Update(ctx, f.Session, func(st *session.Known) error {
			st.Mission, st.Worktree, st.Top, st.Away, st.Seen, st.Transcript = known.Mission, known.Worktree, known.Top, known.Away, f.At, path
			if until > 0 || known.Away {
				st.Cursors = map[record.ID]session.Cursor{known.Mission: {Offset: end.Offset, Check: end.Check, Turn: until}}
			}
			return nil
		})
	}
	if !f.Source.Away() {
		return note(w, c.until, session.Known{Mission: f.ID, Worktree: gitDir})
	}
	// What the file has so far is never recorded here, also if home is gone by then.
	err = note(w, 0, session.Known{Mission: f.ID, Worktree: gitDir, Away: true})
	if err != nil {
		return err
	}
	home := f.Home.Repo
	return note(f.Home.Workspace, c.until, session.Known{Mission: f.Home.Turn.In(), Worktree: home.GitDir, Top: home.Top})
}
