package turns

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/session"
	"gitagent/internal/transcript"
)

// A Fork is a mission that begins at a turn of another one, code and conversation together.
type Fork struct {
	Source *Turn
	Before bool // at the state in which the turn started, not at the one it ended in
	ID     ledger.ID
	Title  string
	At     time.Time

	Worktree string // made for it; empty for none: then only the branch is made
	// Session is the id of the new conversation, and Config the client's configuration directory that
	// it is placed in. Without a session no conversation is made.
	Session string
	Config  string

	Progress io.Writer // git's progress of the checkout, on a terminal; nil for none
}

// A Forked is a fork that was made.
type Forked struct {
	Mission *ledger.Mission
	File    string // the session's file; empty if there is no conversation, or none yet: see [Fork.Before]
	Why     error  // why there is none, if one was asked for
}

// Fork makes the mission: ledger and branch in one transaction, then the worktree, then the conversation, whose last step
// is to give the session's file its name.
// The source stays as it is. If a step fails, the ones before are undone; if that fails too,
// the error says what is left. That a conversation can't be rebuilt is no failure: see [Forked.Why].
func (r *Recorder) Fork(ctx context.Context, f Fork) (*Forked, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	telling := make(chan conversation, 1) // it takes as long as the checkout, and neither needs the other
	go func() { telling <- r.retell(ctx, f) }()
	config, err := r.Repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	from := f.Source.Code.Hash()
	if f.Before {
		from = f.Source.Base.Hash()
	}
	if _, err := objects.TreeOf(from); err != nil {
		return nil, fmt.Errorf("fork turn %s: its code commit is not here: %w", f.Source.ID(), err)
	}
	l, err := r.ledgerOf(ctx, objects, f)
	if err != nil {
		return nil, fmt.Errorf("fork turn %s: %w", f.Source.ID(), err)
	}
	done := &Forked{}
	branch := f.ID.Branch(r.Capture.BranchPrefix)
	source := f.Source.ID()
	m := &ledger.Mission{
		V: ledger.Version, ID: f.ID, Title: head(firstLine(f.Title), maxPrompt), Created: f.At.UTC().Truncate(time.Millisecond),
		Agent: f.Source.Agent, Base: from.String(), Branch: branch, ForkedFrom: &source,
	}
	if m.Title == "" {
		m.Title = l.Mission.Title
	}
	l.ID, l.Mission, done.Mission = f.ID, m, m
	tip, err := l.Append(ledger.Event{
		Subject: "fork of " + source.String(), Keep: []plumbing.Hash{from},
		Author: config.Author(f.At), Committer: config.Committer(f.At),
	})
	if err != nil {
		return nil, err
	}
	if err := objects.Flush(); err != nil {
		return nil, err
	}
	undo, err := r.plant(ctx, plant{f.ID, tip, from, branch, f.Worktree, f.Progress})
	told := <-telling
	done.Why = told.why
	if err == nil && told.file != nil {
		if done.File, err = r.place(f, told); err != nil {
			err = errors.Join(fmt.Errorf("place the conversation: %w", err), undo())
		}
	}
	if err != nil {
		return nil, fmt.Errorf("fork turn %s: %w", source, err)
	}
	return done, nil
}

// ledgerOf returns the ledger of the source's mission as it was when the turn was the last one, or when the one before it was.
func (r *Recorder) ledgerOf(ctx context.Context, objects *git.Objects, f Fork) (*ledger.Ledger, error) {
	mission := f.Source.mission()
	tip, err := ledger.Open(ctx, r.Repo, objects, mission)
	if err != nil {
		return nil, err
	}
	want := f.Source.Turn
	if f.Before {
		want--
	}
	if last, err := tip.LastTurn(); err != nil || last == want {
		return tip, err
	}
	out, err := r.Repo.Output(ctx, nil, "rev-list", "--first-parent", tip.Tip.String())
	if err != nil {
		return nil, err
	}
	events := strings.Fields(string(out)) // newest first; the number of the last turn never grows along them
	var found *ledger.Ledger
	i := sort.Search(len(events), func(i int) bool {
		l, e := ledger.At(objects, mission, plumbing.NewHash(events[i]))
		if e != nil {
			err = e
			return true
		}
		last, e := l.LastTurn()
		if e != nil {
			err = e
		}
		if last == want {
			found = l
		}
		return last <= want
	})
	if err != nil {
		return nil, err
	}
	if found == nil || i == len(events) || events[i] != found.Tip.String() {
		return nil, fmt.Errorf("the ledger has no event that ends with turn %d: %w", want, git.ErrNotFound)
	}
	return found, nil
}

// A conversation is what a fork takes along.
type conversation struct {
	file  [][]byte // for the client, in pieces; nil if there is none
	until int      // the turn that it ends with
	why   error    // why it can't be told
}

// retell makes the conversation of a fork. There is none, and no reason for that, if the turn that it goes back before began one.
func (r *Recorder) retell(ctx context.Context, f Fork) conversation {
	if f.Session == "" {
		return conversation{}
	}
	until := f.Source
	if f.Before {
		seg := f.Source.Transcript
		switch {
		case seg == nil:
			return conversation{why: fmt.Errorf("the client kept no transcript of turn %s", f.Source.ID())}
		case seg.After == 0:
			return conversation{}
		}
		var err error
		if until, err = Read(ctx, r.Repo, f.Source.mission(), seg.After); err != nil {
			return conversation{why: err}
		}
	}
	switch until.Agent {
	case "claude-code":
	case "":
		return conversation{why: fmt.Errorf("turn %s was recorded by hand, or for a client that is not known", until.ID())}
	default:
		return conversation{why: fmt.Errorf("sessions of %q can't be taken up again at a turn", until.Agent)}
	}
	stored, err := Conversation(ctx, r.Repo, until)
	if err != nil {
		return conversation{why: err}
	}
	file, err := transcript.Rebuild(stored, f.Session)
	return conversation{file, until.Turn, err}
}

// place puts the conversation where the client will look for it, and notes that all of it is recorded already,
// so that nothing is stored twice. It is for the user alone, and never half there under its name.
func (r *Recorder) place(f Fork, c conversation) (path string, err error) {
	top, gitDir := r.Repo.Top, "" // not this worktree's mission: it may have another one
	if f.Worktree != "" {
		repo, err := git.Find(f.Worktree)
		if err != nil {
			return "", err
		}
		top, gitDir = repo.Top, repo.GitDir
	}
	path = transcript.Path(f.Config, top, f.Session)
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	tmp := path + ".tmp"
	store := session.Open(r.Repo.CommonDir)
	if err = write(tmp, c.file); err == nil {
		err = r.remember(store, f, c, gitDir, path, tmp)
		if err == nil {
			err = os.Rename(tmp, path) // the last step of all
		}
		if err == nil {
			return path, nil
		}
		err = errors.Join(err, store.Forget(string(f.ID)))
	}
	_ = os.Remove(tmp)
	_ = os.Remove(dir) // if it is empty
	return "", err
}

// write makes a file for the user alone.
func write(path string, pieces [][]byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<16)
	for _, p := range pieces {
		_, _ = w.Write(p) // Flush tells of an error, too
	}
	return errors.Join(w.Flush(), f.Close())
}

// remember notes that the mission has the session's file as it will begin.
func (r *Recorder) remember(store session.Store, f Fork, c conversation, gitDir, path, tmp string) error {
	end, err := transcript.End(tmp)
	if err != nil {
		return err
	}
	st := store.Load(f.Session)
	st.Mission, st.Seen, st.Worktree, st.Transcript = string(f.ID), f.At, gitDir, path
	st.Cursors = map[string]session.Cursor{string(f.ID): {Offset: end.Offset, Check: end.Check, Turn: c.until}}
	return store.Save(st)
}
