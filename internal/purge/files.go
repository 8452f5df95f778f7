package purge

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/journal"
	"gitagent/internal/purgerewrite"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
)

// A fileScrub says what becomes of a text in a file of ours.
type fileScrub struct {
	finder    *scrub.Finder                 // nil for none
	prompts   *purgerewrite.Rewrite         // has the prompts of purged turns, which files repeat; nil for none
	successor func(object.Hash) object.Hash // nil if no hash follows
	renamed   map[record.ID]record.ID       // missions with new names
}

// text returns a text without the secret, with new hashes and ids, or itself.
func (s *fileScrub) text(in []byte) []byte {
	out := in
	if s.finder != nil {
		out = s.finder.Replace(out)
	}
	if s.prompts != nil {
		out = s.prompts.Unprompted(out, "prompt", "last_prompt")
	}
	if s.successor != nil {
		out = fullHash().ReplaceAllFunc(out, func(old []byte) []byte {
			// Without a successor the old hash stays, and is reported as gone.
			if to := s.successor(object.NewHash(string(old))); !to.IsZero() {
				return []byte(to.String())
			}
			return old
		})
	}
	for from, to := range s.renamed {
		out = bytes.ReplaceAll(out, []byte(`"`+string(from)+`"`), []byte(`"`+string(to)+`"`))
	}
	return out
}

func (s *fileScrub) file(name string, text []byte) []byte {
	if s.prompts != nil && strings.HasPrefix(filepath.ToSlash(name), "sessions/") {
		text = s.session(text)
	}
	return s.text(text)
}

// session returns the state of a session. If its last recorded turn is purged
// as a whole, only what is said from now on is recorded of it.
func (s *fileScrub) session(text []byte) []byte {
	var st session.Known
	if json.Unmarshal(text, &st) != nil || st.Last == nil {
		return text
	}
	last := st.Last
	if !slices.Contains(s.prompts.Target.Turns, record.TurnID{Mission: last.Mission, Turn: last.Turn}) {
		return text
	}
	if now := st.Cursors[last.Mission]; now.Offset > last.Before.Offset {
		now.Turn = last.Before.Turn
		last.Before = now
	}
	for id := range last.SubagentsBefore {
		last.SubagentsBefore[id] = st.Subagents[id]
	}
	last.Prompt = scrub.Mark
	out, err := json.Marshal(st)
	if err != nil {
		return text
	}
	return append(out, text[len(bytes.TrimRight(text, "\n")):]...)
}

var fullHash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b`) })

// The untold files have no texts. The caches go, as they can be made again or,
// like the steps of turns, are not worth to be kept.
var (
	untold = map[string]bool{"locks": true, journalDir: true, heldDir: true, "purged": true}
	caches = map[string]bool{
		"index": true, "index.origin": true, session.PageFile: true, session.RecallFile: true, session.RecallFresh: true, journal.File: true, journal.Fresh: true,
		session.SeenFile: true, session.SeenFile + session.Fresh: true, session.MissionsFile: true, session.MissionsFile + session.Fresh: true,
		session.CommitsFile: true, session.CommitsFile + session.Fresh: true,
	}
)

func isCache(name string) bool { return caches[name] || filepath.Dir(name) == session.RecordsDir }

// unsearched holds damaged objects put away by a repair. It goes in any purge.
const unsearched = "damaged"

// stateDirs returns our directories, one shared and one for each worktree.
func stateDirs(repo *git.Repo) []*statedir.Dir {
	dirs := []*statedir.Dir{statedir.Of(repo.CommonDir)}
	for _, top := range repo.Glob("worktrees/*/agent") {
		dirs = append(dirs, statedir.Of(filepath.Dir(top)))
	}
	return dirs
}

// steps returns the trees that the journals of the worktrees name. What can't be
// read is of no step that we know.
func steps(repo *git.Repo) (trees []object.Hash) {
	here := repo.With()
	for _, dir := range append(repo.Glob("worktrees/*"), repo.CommonDir) {
		here.GitDir = dir
		entries, _ := journal.Read(here)
		for _, e := range entries {
			if repo.Format().Names(e.Tree) && !e.Tree.IsZero() {
				trees = append(trees, e.Tree)
			}
		}
	}
	return trees
}

// withBeside adds directories outside of the repository.
func withBeside(dirs []*statedir.Dir, beside []string) []*statedir.Dir {
	for _, top := range beside {
		dirs = append(dirs, statedir.In(filepath.Dir(top), filepath.Base(top)))
	}
	return dirs
}

// ours calls f for files with our texts below a directory, following no link. It
// does not read the caches.
func ours(dir *statedir.Dir, f func(dir *statedir.Dir, name string, text []byte) error) error {
	var walk func(name string) error
	walk = func(name string) error {
		entries, err := dir.ReadDir(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		for _, e := range entries {
			if err != nil {
				return err
			}
			path := filepath.Join(name, e.Name())
			switch {
			case name == "." && untold[e.Name()]:
			case e.IsDir():
				err = walk(path)
			case e.Type().IsRegular():
				var text []byte
				if !isCache(path) { // it may be large
					text, err = dir.ReadFile(path)
				}
				if err == nil {
					err = f(dir, path, text)
				}
			}
			if errors.Is(err, fs.ErrNotExist) {
				err = nil // it went meanwhile
			}
		}
		return err
	}
	return walk(".")
}

func (s *fileScrub) files(dirs []*statedir.Dir) (n int, err error) {
	for _, dir := range dirs {
		err = errors.Join(err, ours(dir, func(dir *statedir.Dir, name string, text []byte) error {
			if isCache(name) {
				return dir.Remove(name)
			}
			now := s.file(name, text)
			if bytes.Equal(now, text) {
				return nil
			}
			n++
			return replaceFile(dir, name, now)
		}))
	}
	return n, err
}

// replaceFile rewrites a file; readers see one state, even after a crash.
func replaceFile(dir *statedir.Dir, name string, data []byte) error {
	fresh := name + ".new"
	f, err := dir.OpenFile(fresh, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return dir.Rename(fresh, name)
}

// holding lists the files that [fileScrub.files] would change.
func (s *fileScrub) holding(dirs []*statedir.Dir) (list []string, err error) {
	for _, dir := range dirs {
		err = errors.Join(err, ours(dir, func(dir *statedir.Dir, name string, text []byte) error {
			if !isCache(name) && !bytes.Equal(s.file(name, text), text) {
				list = append(list, dir.Path(name))
			}
			return nil
		}))
	}
	return list, err
}
