package recorder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/session"
	"gitagent/test/gittest"
	"gitagent/test/lab"
	"gitagent/test/replay"
	"gitagent/turns"
)

// TestImportGone: a conversation of a directory that is gone is imported if something proves that it was in
// this repository, named if its name says that it may have been, and otherwise left to others.
func TestImportGone(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	now := func(l *lab.Lab, dir string) *gittest.Repo {
		date := fmt.Sprintf("@%d +0000", time.Now().Unix())
		r := l.In(dir)
		r.Env = append(append([]string{}, l.Env...), "GIT_AUTHOR_DATE="+date, "GIT_COMMITTER_DATE="+date)
		return r
	}
	remove := func(l *lab.Lab, dir string) { l.Git("worktree", "remove", "--force", dir) }
	for _, tt := range []struct {
		name string
		dir  string // beside the repository if it begins with "../" or, with its name, "-"
		// arrange makes the directory, the conversation there, and removes the directory.
		arrange func(l *lab.Lab, f *file)
		want    recorder.ImportState // "" if it is not listed
		by      string
	}{
		{"git has its entry", "../feature", func(l *lab.Lab, f *file) {
			l.Git("worktree", "add", "-q", "--detach", f.dir)
			f.turn("one", time.Hour, 2*time.Hour, "")
			gittest.Must(l.T, os.RemoveAll(f.dir))
		}, recorder.New, turns.ByReflog},
		{"below one of which git has the entry", "../feature/below", func(l *lab.Lab, f *file) {
			l.Git("worktree", "add", "-q", "--detach", filepath.Dir(f.dir))
			f.turn("one", time.Hour, 2*time.Hour, "")
			gittest.Must(l.T, os.RemoveAll(filepath.Dir(f.dir)))
		}, recorder.New, turns.ByReflog},
		{"a commit of its is here", "-feature", func(l *lab.Lab, f *file) {
			l.Git("worktree", "add", "-q", "--detach", f.dir)
			made := now(l, f.dir).Git("commit-tree", "-m", "made", "HEAD^{tree}")
			f.turn("one", -time.Minute, time.Minute, "[detached HEAD "+made[:8]+"] made\n")
			remove(l, f.dir)
		}, recorder.New, turns.ByTranscript},
		{"a commit of another time is here", "-feature", func(l *lab.Lab, f *file) {
			f.turn("one", -2*time.Hour, -time.Hour, "[main "+l.Git("rev-parse", "--short", "HEAD")+"] other\n")
		}, recorder.Skipped, ""},
		{"it went on in the repository", "-feature", func(l *lab.Lab, f *file) {
			f.turn("one", -2*time.Hour, -time.Hour, "")
			f.move(l.Dir)
			f.turn("two", -time.Hour, -time.Minute, "")
		}, recorder.New, turns.ByNothing},
		{"it went on elsewhere", "-feature", func(l *lab.Lab, f *file) {
			f.turn("one", -2*time.Hour, -time.Hour, "")
			f.move(gittest.New(l.T).Dir)
			f.turn("two", -time.Hour, -time.Minute, "")
		}, recorder.Skipped, ""},
		{"nothing is known of it", "-feature", func(l *lab.Lab, f *file) {
			l.Git("worktree", "add", "-q", "--detach", f.dir)
			f.turn("one", time.Hour, 2*time.Hour, "")
			remove(l, f.dir)
		}, recorder.Skipped, ""},
		{"nothing is known of it, in a directory for such", ".worktrees/feature", func(_ *lab.Lab, f *file) {
			f.turn("one", time.Hour, 2*time.Hour, "")
		}, recorder.Skipped, ""},
		{"another name", "../feature", func(_ *lab.Lab, f *file) {
			f.turn("one", time.Hour, 2*time.Hour, "")
		}, "", ""},
		{"a name that only begins alike", "feature", func(_ *lab.Lab, f *file) {
			f.turn("one", time.Hour, 2*time.Hour, "")
		}, "", ""},
		{"another repository with such a name", "-feature", func(l *lab.Lab, f *file) {
			gittest.Must(l.T, os.Rename(gittest.New(l.T).Dir, f.dir))
			f.turn("one", time.Hour, 2*time.Hour, "")
		}, "", ""},
		{"the client's own worktree", "/.claude/worktrees/x", func(l *lab.Lab, f *file) {
			l.Git("worktree", "add", "-q", "--detach", f.dir)
			f.turn("one", time.Hour, 2*time.Hour, "")
			remove(l, f.dir)
		}, recorder.New, turns.ByNothing},
		{"a directory that HEAD has", "/dir", func(l *lab.Lab, f *file) {
			f.turn("one", time.Hour, 2*time.Hour, "")
			gittest.Must(l.T, os.RemoveAll(f.dir))
		}, recorder.New, turns.ByReflog},
		{"a directory that was removed since", "/dir", func(l *lab.Lab, f *file) {
			f.turn("one", -2*time.Hour, -time.Hour, "")
			l.Git("rm", "-q", "-r", "dir")
			now(l, l.Dir).Commit("remove it")
		}, recorder.New, turns.ByReflog},
		{"a directory below that may have been another repository", "/inner", func(_ *lab.Lab, f *file) {
			f.turn("one", time.Hour, 2*time.Hour, "")
		}, recorder.Skipped, ""},
		{"it was imported before", "-feature", func(l *lab.Lab, f *file) {
			f.turn("one", time.Hour, 2*time.Hour, "")
			gittest.Must(l.T, os.Mkdir(f.dir, 0o700))
			gittest.Must(l.T, os.WriteFile(filepath.Join(f.dir, ".git"), []byte("gitdir: "+filepath.Join(l.Dir, ".git")+"\n"), 0o600))
			l.Imported(false)
			gittest.Must(l.T, os.RemoveAll(f.dir))
		}, recorder.UpToDate, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := lab.New(t)
			f := &file{t: t, config: l.Config, dir: filepath.Clean(l.Dir + strings.Replace(tt.dir, "../", "/../", 1)), session: replay.NewID()}
			dir := f.dir
			tt.arrange(l, f)
			n, err := recorder.Importable(context.Background(), l.Workspace(l.Dir), l.Getenv)
			if want := map[bool]int{true: 1}[tt.want == recorder.New]; err != nil || n != want {
				t.Errorf("Importable: %d, %v, want %d", n, err, want)
			}
			all := l.Imported(false)
			got := all[f.session]
			if got.State != tt.want || len(all) != map[bool]int{true: 1}[tt.want != ""] {
				t.Fatalf("it is %+v, want %q", all, tt.want)
			}
			switch tt.want {
			case recorder.Skipped:
				if !strings.Contains(got.Why, dir+", which is gone") || got.Mission != "" {
					t.Errorf("it is %+v", got)
				}
				gittest.Must(t, os.MkdirAll(filepath.Dir(dir), 0o700))
				l.Git("worktree", "add", "-q", "--detach", dir)
				if got := l.Imported(false)[f.session]; got.State != recorder.New {
					t.Errorf("with the directory, it is %+v", got)
				}
			case recorder.New:
				if turn := l.List(got.Mission)[0]; turn.Imported != tt.by {
					t.Errorf("where the code was is known by %s, want %s", turn.Imported, tt.by)
				}
			}
		})
	}
}

// TestImportNoted: a commit that the client noted proves where a thread began, in a directory beside the
// repository and unless the repository was a clone of something else.
func TestImportNoted(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	l.Git("remote", "add", "origin", "https://me:secret@example.invalid/repo.git")
	head, gone := l.Git("rev-parse", "HEAD"), filepath.Join(filepath.Dir(l.Dir), "gone")
	other := gittest.New(t)
	other.Commit("another")
	home := newThreads(t)
	want := map[string]recorder.ImportState{}
	for _, tt := range []struct {
		name, dir, commit, remote string
		want                      recorder.ImportState
	}{
		{"it is here", gone, head, "", recorder.New},
		{"it is here, and so is the URL", gone, head, "https://example.invalid/repo.git", recorder.New},
		{"another clone", gone, head, "https://example.invalid/another.git", ""},
		{"another clone, with a name like this", l.Dir + "-gone", head, "https://example.invalid/another.git", recorder.Skipped},
		{"another repository's", gone, other.Git("rev-parse", "HEAD"), "", ""},
		{"no commit", gone, "HEAD", "", ""},
		{"not beside it", filepath.Join(gone, "below"), head, "", ""},
		{"another repository that is there", other.Dir, head, "", ""},
	} {
		session := home.thread(t, tt.name, tt.dir, map[string]string{"commit_hash": tt.commit, "repository_url": tt.remote}, ".jsonl")
		if tt.want != "" {
			want[session] = tt.want
		}
	}
	all := home.imported(t, l)
	for session, state := range want {
		if all[session].State != state {
			t.Errorf("%+v, want it %s", all[session], state)
		}
	}
	if len(all) != len(want) {
		t.Errorf("the sessions are %+v", all)
	}
}

// TestImportPacked: what the client has compressed is imported as it was before, once, and what can't be
// read is named and not counted.
func TestImportPacked(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	l := lab.New(t)
	home := newThreads(t)
	plain := home.thread(t, "plain", l.Dir, nil, ".jsonl")
	packed := home.thread(t, "packed", l.Dir, nil, ".jsonl.zst")
	kept := home.thread(t, "kept", l.Dir, nil, ".jsonl.zst")
	before, err := os.ReadFile(home.path(plain, ".jsonl"))
	gittest.Must(t, err)
	unread := map[string]string{}
	for name, why := range map[string]string{
		".jsonl.gz": "not by the client", ".jsonl.zst": "it is damaged", ".jsonl": "another version",
	} {
		session := replay.NewID()
		gittest.Must(t, os.WriteFile(home.path(session, name), []byte(`{"id":"x","instructions":null}`+"\n"), 0o600))
		unread[session] = why
	}
	cut := home.thread(t, "cut", l.Dir, nil, ".jsonl.zst")
	data, err := os.ReadFile(home.path(cut, ".jsonl.zst"))
	gittest.Must(t, err)
	gittest.Must(t, os.WriteFile(home.path(cut, ".jsonl.zst"), data[:len(data)-9], 0o600))
	unread[cut] = "it is damaged"
	bomb := replay.NewID()
	gittest.Must(t, os.WriteFile(home.path(bomb, ".jsonl.zst"), compress(t, append(before, make([]byte, 300<<20)...)), 0o600))
	unread[bomb] = "more than 256 MiB"

	n, err := recorder.Importable(context.Background(), l.Workspace(l.Dir), home.getenv)
	if err != nil || n != 3 {
		t.Errorf("Importable: %d, %v, want 3", n, err)
	}
	all := home.imported(t, l)
	for _, session := range []string{plain, packed, kept} {
		if got := all[session]; got.State != recorder.New || got.Added != 1 {
			t.Errorf("%+v", got)
		}
	}
	for session, why := range unread {
		if got := all[session]; got.State != recorder.Skipped || !strings.Contains(got.Why, why) {
			t.Errorf("%+v, want %s", got, why)
		}
	}
	if len(all) != 3+len(unread) {
		t.Errorf("the sessions are %+v", all)
	}

	// The client compresses one, and decompresses another to go on with it.
	gittest.Must(t, os.WriteFile(home.path(plain, ".jsonl.zst"), compress(t, before), 0o600))
	gittest.Must(t, os.Remove(home.path(plain, ".jsonl")))
	gittest.Must(t, os.Remove(home.path(packed, ".jsonl.zst")))
	gittest.Must(t, os.WriteFile(home.path(packed, ".jsonl"), home.lines("packed", packed, l.Dir, nil, 2), 0o600))
	all = home.imported(t, l)
	for session, want := range map[string]recorder.ImportState{plain: recorder.UpToDate, kept: recorder.UpToDate, packed: recorder.Grown} {
		if got := all[session]; got.State != want {
			t.Errorf("again: %+v, want it %s", got, want)
		}
	}
	if list := l.List(record.ID(packed[len(packed)-8:])); len(list) != 2 || list[1].Prompt != "packed 2" {
		t.Errorf("it has gone on as %s", lab.Describe(list))
	}
	if st := l.Workspace(l.Dir).Store.Load(plain); st.Last != nil {
		t.Errorf("the import has left %+v", session.Known{Last: st.Last})
	}
}

// threads is a directory of Codex.
type threads string

func newThreads(t *testing.T) threads {
	t.Helper()
	home := threads(gittest.TempDir(t))
	gittest.Must(t, os.MkdirAll(filepath.Join(string(home), "sessions", "2026", "11", "20"), 0o700))
	return home
}

func (h threads) path(session, end string) string {
	return filepath.Join(string(h), "sessions", "2026", "11", "20", "rollout-2026-11-20T10-00-00-"+session+end)
}

func (h threads) getenv(name string) string {
	return map[string]string{"CODEX_HOME": string(h)}[name]
}

// thread writes a rollout with a turn, and returns its session.
func (h threads) thread(t *testing.T, prompt, dir string, git map[string]string, end string) (session string) {
	t.Helper()
	session = replay.NewID()
	data := h.lines(prompt, session, dir, git, 1)
	if strings.HasSuffix(end, ".zst") {
		data = compress(t, data)
	}
	gittest.Must(t, os.WriteFile(h.path(session, end), data, 0o600))
	return session
}

// lines are those of a thread with some turns.
func (h threads) lines(prompt, session, dir string, git map[string]string, turns int) (data []byte) {
	add := func(kind string, payload map[string]any) {
		line, _ := json.Marshal(map[string]any{"timestamp": "2026-11-20T10:00:00.000Z", "type": kind, "payload": payload})
		data = append(append(data, line...), '\n')
	}
	add("session_meta", map[string]any{"id": session, "cwd": dir, "git": git})
	for n := range turns {
		id := fmt.Sprintf("%s-%d", session, n+1)
		text := prompt
		if n > 0 {
			text = fmt.Sprintf("%s %d", prompt, n+1)
		}
		add("event_msg", map[string]any{"type": "task_started", "turn_id": id, "turn_attribution": map[string]any{"turn_id": id, "turn_trigger": "user"}})
		add("event_msg", map[string]any{"type": "item_completed", "turn_id": id, "item": map[string]any{
			"type": "UserMessage", "id": "u" + id, "content": []any{map[string]any{"type": "text", "text": text}},
		}})
		add("event_msg", map[string]any{"type": "item_completed", "turn_id": id, "item": map[string]any{
			"type": "AgentMessage", "id": "a" + id, "content": []any{map[string]any{"type": "Text", "text": "done"}},
		}})
		add("event_msg", map[string]any{"type": "task_complete", "turn_id": id, "last_agent_message": "done"})
	}
	return data
}

func (h threads) imported(t *testing.T, l *lab.Lab) map[string]recorder.Imported {
	t.Helper()
	all := make(map[string]recorder.Imported)
	gittest.Must(t, recorder.Import(context.Background(), l.Workspace(l.Dir), recorder.ImportOptions{
		Getenv: h.getenv, At: time.Now(), Report: func(_, _ int, i recorder.Imported) { all[i.Session] = i },
	}))
	return all
}

func compress(t *testing.T, data []byte) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	gittest.Must(t, err)
	return e.EncodeAll(data, nil)
}
