package purgerewrite_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-git/v5/plumbing/filemode"

	"gitagent/handoffstore"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/missionstore"
	"gitagent/internal/objectpurge"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/recorder"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/workspace"
	"gitagent/test/gittest"
	"gitagent/test/replay"
	"gitagent/turns"
)

// TestMain keeps the developer's own configuration out.
func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

// slip is the secret: nothing that is redacted when it is recorded.
const slip = "tangerine-horse-staple"

// A lab is a repository in which clients work whose hooks are ours.
type lab struct {
	*gittest.Repo
	t      testing.TB
	config string
	key    string               // to sign with, a path; "" for the user's
	theirs map[object.Hash]bool // see [Rewrite]
}

func newLab(t testing.TB) *lab {
	t.Helper()
	r := gittest.New(t)
	r.Write("kept.txt", "kept\n")
	r.Write("dir/edited.txt", "one\ntwo\nthree\n")
	r.Commit("first")
	return &lab{Repo: r, t: t, config: gittest.TempDir(t)}
}

// at is the same lab seen from another worktree.
func (l *lab) at(dir string) *lab {
	other := *l
	other.Repo = l.In(dir)
	return &other
}

func (l *lab) workspace() *workspace.Workspace {
	l.t.Helper()
	repo, err := git.Find(l.Dir)
	if err != nil {
		l.t.Fatal(err)
	}
	settings := config.Default()
	settings.Trust.Key = l.key
	return workspace.New(repo, settings)
}

func (l *lab) client() *replay.Client { return replay.New(l.config, l.Dir, l.record) }

func (l *lab) record(e replay.Event) {
	l.t.Helper()
	event, known := map[string]recorder.SignalKind{"UserPromptSubmit": recorder.Prompted, "Stop": recorder.Stopped, "SessionEnd": recorder.Ended}[e.Name]
	if !known {
		return
	}
	_, err := recorder.Record(l.t.Context(), l.workspace(), recorder.Signal{
		Event: event, At: e.At, Agent: "claude-code", Session: e.Session, PromptID: e.PromptID,
		Prompt: e.Prompt, Reply: e.Reply, Again: e.Again, Transcript: e.Transcript, Client: session.Client{PID: e.PID}, FlushWait: 2 * time.Second,
	})
	if err != nil {
		l.t.Fatalf("%s: %v", e.Name, err)
	}
}

func (l *lab) turn(c *replay.Client, prompt, reply string, work func()) {
	l.t.Helper()
	c.Prompt(prompt)
	if work != nil {
		c.Tool("Edit")
		work()
	}
	c.Stop(reply)
}

// helper gives the client a sub-agent that says something.
func (l *lab) helper(c *replay.Client, id, text string) {
	l.t.Helper()
	c.Tool("Agent")
	dir := filepath.Join(strings.TrimSuffix(c.Path, ".jsonl"), "subagents")
	line := func(v any) []byte {
		data, err := json.Marshal(v)
		if err != nil {
			l.t.Fatal(err)
		}
		return append(data, '\n')
	}
	said := map[string]any{"type": "user", "isSidechain": true, "agentId": id, "uuid": replay.NewID(), "message": map[string]any{"role": "user", "content": text}}
	err := os.MkdirAll(dir, 0o700)
	for name, content := range map[string][]byte{
		"agent-" + id + ".meta.json": line(map[string]any{"agentType": "Explore", "toolUseId": "toolu_" + id, "finished": true}),
		"agent-" + id + ".jsonl":     line(said),
	} {
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name), content, 0o600)
		}
	}
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) list(id record.ID) []*turns.Turn {
	l.t.Helper()
	list, err := turns.List(l.t.Context(), l.workspace().Repo, id)
	if err != nil {
		l.t.Fatal(err)
	}
	return list
}

// fork forks a turn into a worktree beside the repository and returns the client that goes on there.
func (l *lab) fork(source *turns.Turn, id record.ID) (*lab, *replay.Client) {
	l.t.Helper()
	f := missionstore.ForkPlan{
		Source: source, ID: id, At: time.Now(), Worktree: filepath.Join(filepath.Dir(l.Dir), string(id)),
		Session: replay.NewID(), Config: l.config,
	}
	done, err := missionstore.Fork(l.t.Context(), l.workspace(), f)
	if err == nil {
		err = done.Why
	}
	if err != nil {
		l.t.Fatal(err)
	}
	wt := l.at(f.Worktree)
	c := replay.New(l.config, wt.Dir, wt.record)
	c.Session, c.Path = f.Session, done.File
	return wt, c
}

func (l *lab) handOff(id record.ID, session string) {
	l.t.Helper()
	_, err := (&handoffstore.Store{Workspace: l.workspace()}).Gather(l.t.Context(), handoffstore.Request{
		At: time.Now(), Mission: id, Session: session, Exit: record.Clean, Agent: "claude-code",
		Document: &handoffstore.Document{Text: []byte("# Next\n\nUse " + slip + ".\n"), Source: "next.md"},
		Summary:  "set up with " + slip, Questions: []string{"is " + slip + " right?"},
		Terminal: []byte("$ login " + slip + "\n"),
	})
	if err != nil {
		l.t.Fatal(err)
	}
}

// A world is a lab with missions that have the secret everywhere.
type world struct {
	*lab
	ids []record.ID
}

// newWorld makes a mission, a fork, and a fork of the fork.
func newWorld(t testing.TB) *world {
	t.Helper()
	l := newLab(t)
	c := l.client()
	l.turn(c, "log in with "+slip, "I used \""+slip+"\".", func() {
		l.helper(c, "a1", "find "+slip+", please")
		l.Write("settings.txt", "user: dev\npassword: "+slip+"\n")
		l.Write("deep/er/again.txt", slip)
		l.Write("blob.bin", "\x00\x01"+slip+"\x02")
		l.Write(slip+".txt", "named\n")
		if err := os.Symlink("to/"+slip, filepath.Join(l.Dir, "link")); err != nil {
			t.Fatal(err)
		}
	})
	l.turn(c, "go on", "done", l.write("b.txt", "b\n"))
	id := record.ID(c.Session[len(c.Session)-8:])
	l.Write("uncommitted.txt", "and "+slip+"\n")
	l.handOff(id, c.Session)
	l.turn(c, "third", "ok", l.write("settings.txt", "nothing\n"))
	wt, next := l.fork(l.list(id)[1], "f0f0f0f0")
	wt.turn(next, "another way", "with "+slip, wt.write("c.txt", "c\n"))
	wt.turn(next, "and on", "fine", wt.write("d.txt", "d "+slip+"\n"))
	deeper, last := wt.fork(wt.list("f0f0f0f0")[3], "abababab")
	deeper.turn(last, "clean", "clean", deeper.write("e.txt", "e\n"))
	return &world{l, []record.ID{id, "f0f0f0f0", "abababab"}}
}

func (l *lab) write(name, content string) func() { return func() { l.Write(name, content) } }

func fixed(t testing.TB, text string) *scrub.Finder {
	t.Helper()
	f, err := scrub.Fixed([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// A done is a rewrite and what it has moved.
type done struct {
	*purgerewrite.Rewrite
	before, after map[string]object.Hash // refs
}

// rewrite rewrites all missions, and moves their refs.
func (l *lab) rewrite(target purgerewrite.Target) *done {
	l.t.Helper()
	ctx := l.t.Context()
	w := l.workspace()
	objects := w.Repo.Objects(ctx)
	defer objects.Close()
	missions, err := ledger.List(ctx, w.Repo)
	if err != nil {
		l.t.Fatal(err)
	}
	var chains []purgerewrite.Chain
	for id, tip := range missions {
		s, err := w.Trust.Of(ctx, w.Repo, objects, id, tip)
		if err != nil {
			l.t.Fatal(err)
		}
		chains = append(chains, purgerewrite.Chain{ID: id, Tip: tip, Usable: s.Commit})
	}
	slices.SortFunc(chains, func(a, b purgerewrite.Chain) int { return strings.Compare(string(a.ID), string(b.ID)) })
	before, err := w.Repo.Refs(ctx, "refs/agent/missions/", "refs/notes/", "refs/heads/agent/")
	if err != nil {
		l.t.Fatal(err)
	}
	r := purgerewrite.New(w.Repo, objects, target, w.Trust.Keys().Own, nil)
	r.Theirs = l.theirs
	if err := r.Ledgers(ctx, chains); err != nil {
		l.t.Fatal(err)
	}
	l.sameSeen(target, chains, before)
	after := maps.Clone(before)
	var updates []git.Update
	for _, name := range slices.Sorted(maps.Keys(before)) {
		to := r.Successor(before[name])
		if id, ok := strings.CutPrefix(name, "refs/notes/agent/"); ok {
			if to, err = r.Notes(ctx, record.ID(id), before[name]); err != nil {
				l.t.Fatal(err)
			}
		}
		if after[name] = to; to != before[name] {
			updates = append(updates, git.Update{Ref: name, New: to, Old: before[name]})
		}
	}
	if err := objects.Flush(); err != nil {
		l.t.Fatal(err)
	}
	for _, c := range chains {
		own := object.Hash{}
		if tip := r.Successor(c.Usable); w.Trust.Keys().Own == nil && tip != c.Usable { // as a journal notes it
			own = tip
		}
		gittest.Must(l.t, w.Trust.Follow(c.ID, c.ID, r.Successor, own)) // as a journal does
	}
	if err := w.Repo.UpdateRefs(ctx, "purge", updates); err != nil {
		l.t.Fatal(err)
	}
	return &done{r, before, after}
}

// sameSeen checks that a rewrite which only reads what a search has told of gives what one gives that reads all.
func (l *lab) sameSeen(target purgerewrite.Target, chains []purgerewrite.Chain, refs map[string]object.Hash) {
	l.t.Helper()
	if target.Finder == nil || len(target.Turns) > 0 || len(target.Paths.Specs) > 0 {
		return
	}
	ctx, repo := l.t.Context(), l.workspace().Repo
	searched, err := objectpurge.Search(ctx, repo, func(text []byte) bool { return len(target.Finder.Spans(text)) > 0 })
	if _, missing := l.Try("rev-list", "--objects", "--all", "--quiet"); err != nil || len(searched.Unread) > 0 || missing != nil {
		return // what is missing has to be told
	}
	holds := map[object.Hash]bool{}
	for _, f := range searched.Found {
		holds[f.Object] = true
	}
	for _, h := range searched.Unsure {
		holds[h] = true
	}
	graph, err := objectpurge.ReadGraph(ctx, repo, holds)
	if err != nil {
		l.t.Fatal(err)
	}
	type result struct {
		found             map[purgerewrite.Find]int
		commits, replaced map[object.Hash]object.Hash
		ours              map[object.Hash]bool
		renamed           map[record.ID]record.ID
	}
	var results [2]result
	for i, seen := range []*purgerewrite.Seen{nil, {Holds: func(h object.Hash) bool { return holds[h] }, Leads: graph.Leading(holds).Has}} {
		objects := repo.Objects(ctx)
		defer objects.Close()
		r := purgerewrite.New(repo, objects, target, l.workspace().Trust.Keys().Own, nil)
		r.Theirs, r.Seen = l.theirs, seen
		if err := r.Ledgers(ctx, chains); err != nil {
			l.t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(refs)) {
			if id, ok := strings.CutPrefix(name, "refs/notes/agent/"); ok {
				if _, err := r.Notes(ctx, record.ID(id), refs[name]); err != nil {
					l.t.Fatal(err)
				}
			}
		}
		results[i] = result{r.Found(), r.Commits(), r.Replaced(), r.Ours(), r.Renamed()}
	}
	if !reflect.DeepEqual(results[0], results[1]) {
		l.t.Errorf("with what a search has told: %d finds, %d commits, %d objects; with all that is there: %d, %d, %d",
			len(results[1].found), len(results[1].commits), len(results[1].replaced), len(results[0].found), len(results[0].commits), len(results[0].replaced))
	}
}

// objects are all objects that refs lead to, by name: type and content.
func (l *lab) objects(refs map[string]object.Hash) map[string]string {
	l.t.Helper()
	args := []string{"rev-list", "--objects", "--no-object-names"}
	for _, hash := range refs {
		if !hash.IsZero() {
			args = append(args, hash.String())
		}
	}
	all := map[string]string{}
	repo := l.workspace().Repo
	objects := repo.Objects(l.t.Context())
	defer objects.Close()
	var wanted []git.Wanted
	for _, hash := range strings.Fields(l.Git(args...)) {
		wanted = append(wanted, git.Wanted{Hash: object.NewHash(hash), Most: 1 << 30})
	}
	err := objects.Each(wanted, func(i int, obj *git.Object, err error) error {
		if err == nil {
			all[wanted[i].Hash.String()] = obj.Type.String() + " " + string(bytes.Clone(obj.Content))
		}
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

// fsck fails the test unless git finds the repository sound.
func (l *lab) fsck() {
	l.t.Helper()
	if out, err := l.Try("fsck", "--strict", "--no-dangling"); err != nil || out != "" {
		l.t.Errorf("git fsck --strict: %v\n%s", err, out)
	}
}

// files are the files of a commit, by path: mode and content.
func (l *lab) files(commit object.Hash) map[string]string {
	l.t.Helper()
	files := map[string]string{}
	repo := l.workspace().Repo
	objects := repo.Objects(l.t.Context())
	defer objects.Close()
	var walk func(dir string, tree object.Hash)
	walk = func(dir string, tree object.Hash) {
		list, err := objects.Tree(tree, git.MaxTree)
		if err != nil {
			l.t.Fatal(err)
		}
		for name, e := range list {
			switch e.Mode {
			case filemode.Dir:
				walk(dir+name+"/", e.Hash)
				continue
			case filemode.Submodule:
				files[dir+name] = e.Hash.String()
				continue
			}
			content, err := objects.Blob(e.Hash, 1<<30)
			if err != nil {
				l.t.Fatal(err)
			}
			files[dir+name] = fmt.Sprintf("%s %s", e.Mode, content)
		}
	}
	tree, err := objects.TreeOf(commit)
	if err != nil {
		l.t.Fatal(err)
	}
	walk("", tree)
	return files
}
