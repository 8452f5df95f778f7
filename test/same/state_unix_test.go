//go:build unix

package same

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gitagent/test/gittest"
)

// A state is what a home directory has come to: texts without an order.
type state struct {
	repositories []string
	tips         map[string][]string // of all refs, by repository
	items        []string
}

// look looks at the home directory: refs and what they reach that was not there before, worktrees, settings, logs of hooks,
// and all other files. What is ours alone below .git/agent, git's indexes and packs, and which trees there are, is left out.
func (a *arena) look(env []string, before map[string][]string) (s state) {
	a.t.Helper()
	home := a.home()
	s.tips = make(map[string][]string)
	add := func(dir, what, text string) {
		s.items = append(s.items, strings.TrimPrefix(strings.TrimPrefix(dir, home), "/")+": "+what+": "+text)
	}
	git := func(dir string, args ...string) string {
		r := a.run(dir, env, "", append([]string{"git"}, args...)...)
		if r.status != 0 {
			return fmt.Sprintf("exit status %d", r.status)
		}
		return r.stdout
	}
	gittest.Must(a.t, filepath.WalkDir(home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == home {
			return nil // gone meanwhile, or not for us
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		switch {
		case d.IsDir() && isRepository(path):
			s.repositories = append(s.repositories, path)
			s.repository(a, git, add, path, before[path])
			return fs.SkipDir
		case d.Name() == ".git": // of a linked worktree
			text, _ := os.ReadFile(path)
			add(path, "file", string(text))
			add(filepath.Dir(path), "status", git(filepath.Dir(path), "status", "--porcelain=v2", "-z", "--branch"))
		case d.IsDir():
			add(path, "directory", fmt.Sprint(info.Mode()))
		case info.Mode().Type() == fs.ModeSymlink:
			target, _ := os.Readlink(path)
			add(path, "link", target)
		case info.Mode().IsRegular():
			text, _ := os.ReadFile(path)
			add(path, fmt.Sprint("file ", info.Mode()), string(text))
		}
		return nil
	}))
	return s
}

func isRepository(dir string) bool {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// repository looks at what is in one, the directory of git.
func (s *state) repository(a *arena, git func(string, ...string) string, add func(dir, what, text string), dir string, before []string) {
	head, _ := os.ReadFile(filepath.Join(dir, "HEAD"))
	add(dir, "HEAD", string(head))
	for _, name := range []string{"config", "info/exclude", "agent/log", "agent/enabled"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			add(dir, name, string(text))
		}
	}
	hooks, _ := filepath.Glob(filepath.Join(dir, "hooks", "*"))
	for _, hook := range hooks {
		if text, err := os.ReadFile(hook); err == nil && !strings.HasSuffix(hook, ".sample") {
			add(hook, "hook", string(text))
		}
	}
	linked, _ := filepath.Glob(filepath.Join(dir, "worktrees", "*", "HEAD"))
	for _, head := range linked {
		text, _ := os.ReadFile(head)
		add(dir, "HEAD of a linked worktree", string(text))
	}
	if filepath.Base(dir) == ".git" {
		add(dir, "status", git(filepath.Dir(dir), "status", "--porcelain=v2", "-z", "--branch", "--show-stash"))
	}
	unsound := strings.Split(git(dir, "fsck", "--connectivity-only", "--no-dangling", "--no-progress"), "\n")
	for _, line := range unsound {
		add(dir, "fsck", line)
	}
	var fresh []string
	for line := range strings.Lines(git(dir, "for-each-ref", "--format=%(objectname) %(objecttype) %(symref) %(refname)")) {
		hash, _, _ := strings.Cut(line, " ")
		if strings.Contains(line, " refs/agent/kept/") { // which of them keeps what, its hash says
			s.tips[dir] = append(s.tips[dir], hash)
			continue
		}
		add(dir, "ref", line)
		s.tips[dir] = append(s.tips[dir], hash)
		if before != nil && !slices.Contains(before, hash) && len(hash) >= 40 {
			fresh = append(fresh, hash)
			name := strings.Fields(line)[len(strings.Fields(line))-1]
			for _, file := range files(git(dir, "ls-tree", "-r", "-z", "--format=%(objectmode) %(path)", hash)) {
				add(dir, name, file)
			}
		}
	}
	if len(fresh) == 0 {
		return
	}
	there := before
	if slices.Contains(there, "exit") {
		there = nil
	}
	list := git(dir, slices.Concat([]string{"rev-list", "--objects", "--missing=allow-any"}, fresh, []string{"--not"}, a.there(git, dir, there))...)
	var names strings.Builder
	paths := make(map[string]string)
	for line := range strings.Lines(list) {
		hash, path, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		names.WriteString(hash + "\n")
		paths[hash] = path
	}
	for _, o := range objects([]byte(a.run(dir, a.env(a.home()), names.String(), "git", "cat-file", "--batch").stdout)) {
		switch o.kind {
		case "commit":
			add(dir, "commit", unsigned(o.content))
		case "blob":
			add(dir, "blob "+paths[o.hash], o.content)
		case "tag":
			add(dir, "tag", o.content)
		}
	}
}

// there returns those of some hashes that a repository still has.
func (a *arena) there(git func(string, ...string) string, dir string, hashes []string) (list []string) {
	out := a.run(dir, a.env(a.home()), strings.Join(hashes, "\n")+"\n", "git", "cat-file", "--batch-check").stdout
	for line := range strings.Lines(out) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[1] == "commit" {
			list = append(list, fields[0])
		}
	}
	return list
}

// files are those of a tree, with their modes. In a tree of notes the names are of commits, in whatever directories.
func files(list string) []string {
	lines := strings.Split(list, "\x00")
	for i, line := range lines {
		mode, path, _ := strings.Cut(line, " ")
		if flat := strings.ReplaceAll(path, "/", ""); len(flat) >= 40 && strings.Trim(flat, "0123456789abcdef") == "" {
			lines[i] = mode + " " + flat
		}
	}
	return lines
}

type gitObject struct{ hash, kind, content string }

// objects reads what git cat-file --batch prints.
func objects(out []byte) (list []gitObject) {
	for len(out) > 0 {
		head, rest, _ := bytes.Cut(out, []byte("\n"))
		fields := strings.Fields(string(head))
		if len(fields) != 3 {
			out = rest
			continue
		}
		size, err := strconv.Atoi(fields[2])
		if err != nil || size > len(rest) {
			return list
		}
		list = append(list, gitObject{fields[0], fields[1], string(rest[:size])})
		out = rest[min(len(rest), size+1):]
	}
	return list
}

// unsigned is a commit with a word in the place of its tree and of its signature.
func unsigned(commit string) string {
	head, message, _ := strings.Cut(commit, "\n\n")
	var lines []string
	for line := range strings.SplitSeq(head, "\n") {
		switch {
		case strings.HasPrefix(line, "tree "):
		case strings.HasPrefix(line, " "): // of the signature
		case strings.HasPrefix(line, "gpgsig"):
			lines = append(lines, "signed")
		default:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "\n") + "\n\n" + message
}

// vocabulary is what was in a place before: hashes of all objects, and all else that looks like one.
func (a *arena) vocabulary(env []string, s state) (v vocabulary) {
	for _, dir := range s.repositories {
		for line := range strings.Lines(a.run(dir, env, "", "git", "cat-file", "--batch-all-objects", "--unordered", "--batch-check=%(objectname)").stdout) {
			v = append(v, strings.TrimSpace(line))
		}
	}
	for _, item := range s.items {
		v = append(v, hexes.FindAllString(item, -1)...)
	}
	slices.Sort(v)
	return slices.Compact(v)
}
