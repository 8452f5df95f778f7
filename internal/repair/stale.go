package repair

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/missionstore"
	"gitagent/internal/record"
	"gitagent/turns"
)

// oldLock is the age from which a lock is reported: git holds none that long.
const oldLock = 10 * time.Minute

// codeOf returns the commit that a ledger's last turn ended in, or "".
func codeOf(l *ledger.Ledger) string {
	t, err := turns.Last(l)
	if err != nil || t == nil || t.Code.IsZero() {
		return ""
	}
	return t.Code.String()
}

// dead removes what our dead processes left: locks, unfinished missions.
func (r *repair) dead(ctx context.Context) error {
	entries, err := r.Store.Dir().ReadDir("planting")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		r.say(Finding{What: fmt.Sprintf("missions or worktrees that were being made or removed: %d", len(entries)), Mended: "what a dead process left of them is removed"})
	}
	if !r.dry {
		missionstore.ClearDead(ctx, r.Workspace)
	}
	return nil
}

// sessions removes unreadable session states. The refs tell what they said.
func (r *repair) sessions(context.Context) error {
	entries, err := r.Store.Dir().ReadDir("sessions")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	whole := make(map[string]bool)
	for _, st := range r.Store.All() {
		whole[st.Session] = true
	}
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || whole[name] {
			continue
		}
		r.say(Finding{What: "the state of session " + name + " can't be read", Mended: "it is forgotten; what it says is found again in the refs"})
		if r.dry {
			continue
		}
		if err := r.Store.Dir().Remove(filepath.Join("sessions", e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// rewrites finds missions whose notes git is told to copy and does not find: it
// warns whenever it rewrites a commit.
func (r *repair) rewrites(ctx context.Context) error {
	conf, err := r.Repo.ConfigFile(ctx, filepath.Join(r.Repo.CommonDir, "config"))
	if err != nil {
		return err
	}
	refs, err := r.Repo.Refs(ctx, record.ID("").NotesRef())
	if err != nil {
		return err
	}
	for _, ref := range conf["notes.rewriteref"] {
		id, err := record.ParseID(strings.TrimPrefix(ref, record.ID("").NotesRef()))
		if _, there := refs[ref]; there || err != nil || id.NotesRef() != ref {
			continue
		}
		r.say(Finding{What: fmt.Sprintf("git is told to copy the notes of mission %s (notes.rewriteRef), which has none", id), Mended: "it is told no more"})
		if !r.dry {
			ledgertx.LeaveRewrites(ctx, r.Workspace, id)
		}
	}
	return nil
}

func (r *repair) worktrees(ctx context.Context) error {
	out, err := r.Repo.Output(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return err
	}
	list, err := r.Repo.Worktrees(ctx)
	if err != nil {
		return err
	}
	for _, at := range list {
		_, ours := r.MissionOf(at.Branch)
		if _, err := os.Lstat(filepath.Join(at.Path, ".git")); !ours || err != nil {
			continue
		}
		if _, err := git.Find(at.Path); errors.Is(err, git.ErrNotFound) {
			r.say(Finding{What: fmt.Sprintf("the worktree %s leads to where the repository is not, so nothing is recorded there; the remedy is for a repository that was moved",
				at.Path), Hint: "git worktree repair"})
		}
	}
	for _, path := range prunable(string(out), func(branch string) bool { _, ok := r.MissionOf(branch); return ok }) {
		f := Finding{What: fmt.Sprintf("the worktree %s is gone, and git still keeps its entry", path), Hint: "git worktree prune"}
		if r.Repo.Unseen(ctx, path) {
			f = Finding{What: fmt.Sprintf("the worktree %s can't be seen from here, and may be there for others, or where it was moved to (git worktree repair): git must keep its entry", path)}
		}
		r.say(f)
	}
	return nil
}

// prunable returns the paths that git would prune of the branches ours accepts.
func prunable(list string, ours func(branch string) bool) []string {
	var paths []string
	for record := range strings.SplitSeq(list, "\x00\x00") {
		path, is, mine := "", false, false
		for line := range strings.SplitSeq(record, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				path = value
			case "branch":
				mine = ours(value)
			case "prunable":
				is = true
			}
		}
		if is && mine {
			paths = append(paths, path)
		}
	}
	return paths
}
