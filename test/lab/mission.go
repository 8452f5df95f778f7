package lab

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/checkout"
	"gitagent/internal/finisher"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/snapshot"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// Start begins an attached mission at HEAD and checks its branch out.
func (l *Lab) Start() record.ID {
	l.T.Helper()
	id, err := record.NewID()
	gittest.Must(l.T, err)
	l.Begin(missionstore.Beginning{ID: id, At: time.Now()})
	return id
}

func (l *Lab) Begin(b missionstore.Beginning) *record.Mission {
	l.T.Helper()
	if b.From.IsZero() {
		b.From = object.NewHash(l.Git("rev-parse", "HEAD"))
	}
	m, _, err := missionstore.Begin(context.Background(), l.Workspace(l.Dir), b)
	gittest.Must(l.T, err)
	return m
}

// Branch is the short name of a mission's branch.
func (l *Lab) Branch(id record.ID) string {
	return strings.TrimPrefix(id.Branch(l.Capture.BranchPrefix), "refs/heads/")
}

// AtTip checks that a turn has moved the branch: HEAD is on it, its tip is the code commit, and
// index and worktree agree with it.
func (l *Lab) AtTip(id record.ID, code string) {
	l.T.Helper()
	if head := l.Git("symbolic-ref", "--short", "HEAD"); head != l.Branch(id) {
		l.T.Errorf("HEAD is on %s, want %s", head, l.Branch(id))
	}
	if tip := l.Git("rev-parse", "HEAD"); tip != code {
		l.T.Errorf("the branch is at %s, the turn's commit is %s:\n%s", tip, code, l.Git("log", "--oneline", "--graph", "-8", tip, code))
	}
	if status := l.Git("status", "--porcelain"); status != "" {
		l.T.Errorf("the worktree or the index differs from the branch:\n%s", status)
	}
}

// Attached is a lab in a worktree of its own on the branch of a mission.
func (l *Lab) Attached(id record.ID) *Lab {
	l.T.Helper()
	dir := filepath.Join(l.T.TempDir(), "attached")
	l.Git("worktree", "add", "-q", "-b", "agent/mission/"+string(id), dir)
	return l.At(dir)
}

// Archive archives missions, whoever uses them.
func (l *Lab) Archive(ids ...record.ID) *missionstore.Archiving {
	l.T.Helper()
	done, err := missionstore.Archive(l.T.Context(), l.Workspace(l.Dir), ids, nil, false)
	gittest.Must(l.T, err)
	return done
}

// PutTurn gives a turn another record, by another program, and accepts that.
func (l *Lab) PutTurn(t turns.Turn) *turns.Turn {
	l.T.Helper()
	stored := l.Rewrite(t, true)
	l.Accept(t.Mission)
	return stored
}

// Rewrite gives a turn another record, as a stranger does or this clone.
func (l *Lab) Rewrite(t turns.Turn, strange bool) *turns.Turn {
	l.T.Helper()
	line, err := t.Encode()
	gittest.Must(l.T, err)
	tip := l.Plant(t.Mission, map[string]string{ledger.TurnPath("turns", t.Turn, ".json"): string(line) + "\n"})
	if !strange {
		gittest.Must(l.T, l.Workspace(l.Dir).Trust.Own(t.Mission, object.NewHash(tip), object.Hash{}))
	}
	stored, err := turns.Read(context.Background(), l.Workspace(l.Dir).Repo, t.Mission, t.Turn)
	gittest.Must(l.T, err)
	return stored
}

// Put gives a file of a mission's ledger another content, by another program, and accepts that.
func (l *Lab) Put(id record.ID, file, content string) {
	l.T.Helper()
	l.Plant(id, map[string]string{file: content})
	l.Accept(id)
}

// Plant adds an event to a mission's ledger that changes files, in the user's name and without his
// key, and moves the ref there, as a fetch with a refspec of the user's own would.
func (l *Lab) Plant(id record.ID, files map[string]string) (tip string) {
	l.T.Helper()
	w := l.In(l.Dir)
	w.Env = append(w.Env[:len(w.Env):len(w.Env)], "GIT_INDEX_FILE="+l.T.TempDir()+"/index")
	w.Git("read-tree", id.Ref())
	for name, content := range files {
		hash, err := l.Feed(content, "hash-object", "-w", "--stdin")
		gittest.Must(l.T, err)
		w.Git("update-index", "--add", "--cacheinfo", "100644,"+hash+","+name)
	}
	l.Git("update-ref", id.Ref(), w.Git("commit-tree", "-m", "turn 1", "-p", id.Ref(), w.Git("write-tree")))
	return l.Git("rev-parse", id.Ref())
}

// Accept accepts a mission as it is, as a person does.
func (l *Lab) Accept(id record.ID) {
	l.T.Helper()
	gittest.Must(l.T, l.Workspace(l.Dir).Trust.Accept(object.NewHash(l.Git("rev-parse", id.Ref())), id))
}

// Take takes what a name says of the fork.
func (l *Lab) Take(name string, how finisher.Taking) (*finisher.Picked, string, error) {
	l.T.Helper()
	w := l.Workspace(l.Dir)
	s, err := turns.Find(context.Background(), w, ForkID, name)
	gittest.Must(l.T, err)
	var talk bytes.Buffer
	how.Stdin, how.Talk = strings.NewReader(""), &talk
	done, err := finisher.CherryPick(context.Background(), w, time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), s, how)
	return done, talk.String(), err
}

// Compare compares a fork up to a state, nil for now.
func (l *Lab) Compare(id record.ID, upTo *turns.State) *turns.Compared {
	l.T.Helper()
	c, err := turns.Compare(context.Background(), l.Workspace(l.Dir), id, upTo)
	gittest.Must(l.T, err)
	return c
}

// Undo takes back the last step in the lab's worktree.
func (l *Lab) Undo(how checkout.Merging) (*checkout.Restored, string, error) {
	l.T.Helper()
	what := ""
	done, err := checkout.Undo(l.T.Context(), l.Workspace(l.Dir), time.Now(), how, func(s *snapshot.Change, _ []gitdiff.FileStat) { what = s.String() })
	return done, what, err
}

// Restore restores a turn in the lab's worktree.
func (l *Lab) Restore(turn *turns.Turn, dry bool) (*checkout.Restored, error) {
	l.T.Helper()
	return checkout.Restore(l.T.Context(), l.Workspace(l.Dir), time.Now(), turn.After(), gitdiff.Paths{}, checkout.RestorePlan{Dry: dry})
}

// Imported imports, and returns what became of each session.
func (l *Lab) Imported(dry bool) map[string]recorder.Imported {
	l.T.Helper()
	all := make(map[string]recorder.Imported)
	i := recorder.ImportOptions{Getenv: l.Getenv, At: time.Now(), Dry: dry, Report: func(n, of int, i recorder.Imported) {
		if all[i.Session] = i; n != len(all) || n > of {
			l.T.Errorf("session %d of %d is %+v", n, of, i)
		}
	}}
	gittest.Must(l.T, recorder.Import(context.Background(), l.Workspace(l.Dir), i))
	return all
}

// Unheard starts a client without hooks.
func (l *Lab) Unheard() *replay.Client { return replay.New(l.Config, l.Dir, nil) }

// Getenv says where the client has its files.
func (l *Lab) Getenv(name string) string {
	return map[string]string{"CLAUDE_CONFIG_DIR": l.Config}[name]
}

// SpentIn is what the head of a mission says of its tokens.
func (l *Lab) SpentIn(id record.ID) *record.Mission {
	l.T.Helper()
	m, err := record.ParseHead(id, l.Git("show", id.Ref()+":mission.json"), object.NewHash(gittest.Hash("1")).Format())
	gittest.Must(l.T, err)
	return m
}

// StoredOnce checks that the segments of one session cover its file without overlap.
func (l *Lab) StoredOnce(list []*turns.Turn) {
	l.T.Helper()
	end := int64(0)
	for i, t := range list {
		s := t.Transcript
		if s == nil || s.From != end {
			l.T.Errorf("the segment of turn %d is %+v, want it to begin at %d", t.Turn, s, end)
			return
		}
		if i > 0 && s.After != i {
			l.T.Errorf("the segment of turn %d follows %d", t.Turn, s.After)
		}
		end = s.To
	}
}

// Forget deletes the local state, as anybody may do at any time.
func (l *Lab) Forget(name string) {
	l.T.Helper()
	for _, dir := range []string{"--git-common-dir", "--git-dir"} {
		path := filepath.Join(l.Git("rev-parse", "--path-format=absolute", dir), "agent", name)
		gittest.Must(l.T, os.RemoveAll(path))
	}
}
