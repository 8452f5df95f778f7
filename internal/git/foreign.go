package git

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Foreign returns the repository for checking out an untrusted tree: no git,
// and no git that such a git starts, runs a file of a worktree, including tops,
// which are about to be made.
//
//   - Hooks run only from a directory outside all worktrees without links into
//     one. core.hooksPath may lead into one.
//   - core.fsmonitor is off.
//   - Filters run if they are known to run nothing in their directory.
//     Otherwise content is checked out as stored.
//   - Merge drivers likewise; git's own merge replaces others.
//   - No hook by configuration (since git 2.54) runs: whatever its command is,
//     it starts in the worktree.
//   - PATH has no directory that is relative or in a worktree.
//   - Submodules are left alone.
//   - LFS asks no server for objects but one that the configuration names.
//
// What the configuration includes on a condition counts, too: in a new worktree
// or on another branch git has it.
//
// Call it again after a checkout, which may bring configuration.
func (r *Repo) Foreign(ctx context.Context, tops ...string) (*Repo, error) {
	config, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	maybe, err := r.conditional(ctx, config)
	if err != nil {
		return nil, err
	}
	list, err := r.Worktrees(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range list {
		tops = append(tops, w.Path)
	}
	out := worktrees(slices.DeleteFunc(append(tops, r.Top), func(top string) bool {
		return top == "" || SameFile(top, r.CommonDir) // git also lists a separate or bare git directory
	}))
	hooks, err := hooksDir(ctx, r)
	if err != nil {
		return nil, err
	}
	return r.With(Env("PATH="+out.path(pathOf(r))), Settings(overrides(config, maybe, out.hooks(hooks), out)...)), nil
}

// conditional returns what is in the files that a configuration includes on a
// condition (includeIf), and in those that these include.
func (r *Repo) conditional(ctx context.Context, config Config) (Config, error) {
	all := make(Config)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(config)), func(key string) bool { return strings.HasPrefix(key, "includeif.") }) {
		return all, nil
	}
	files, err := r.included(ctx, `^includeif\..*\.path$`)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(files); i++ {
		if slices.Contains(files[:i], files[i]) {
			continue
		}
		more, err := r.ConfigFile(ctx, files[i])
		if err != nil {
			continue // it is missing, or git ends at it
		}
		for key, values := range more {
			all[key] = append(all[key], values...)
		}
		below, err := r.included(ctx, `^include(if\..*)?\.path$`, "--file", files[i])
		if err != nil {
			return nil, err
		}
		files = append(files, below...)
	}
	return all, nil
}

// included returns the paths that keys of the configuration have, as git takes
// them: relative to the file that names them.
func (r *Repo) included(ctx context.Context, keys string, of ...string) (files []string, err error) {
	args := slices.Concat([]string{"config", "-z", "--show-origin", "--type=path"}, of, []string{"--get-regexp", keys})
	out, err := r.Output(ctx, nil, args...)
	if err != nil && Status(err) != 1 {
		return nil, err
	}
	for pair := range slices.Chunk(strings.Split(string(out), "\x00"), 2) { // where it is, its key and value
		if len(pair) < 2 {
			break
		}
		_, path, _ := strings.Cut(pair[1], "\n")
		if path = filepath.FromSlash(path); !filepath.IsAbs(path) {
			from, _ := strings.CutPrefix(pair[0], "file:")
			if from = filepath.FromSlash(from); !filepath.IsAbs(from) {
				from = filepath.Join(cmp.Or(r.Top, r.GitDir), from)
			}
			path = filepath.Join(filepath.Dir(from), path)
		}
		files = append(files, path)
	}
	return files, nil
}

func pathOf(r *Repo) (list string) {
	for _, v := range r.env {
		name, value, _ := strings.Cut(v, "=")
		if name == "PATH" || runtime.GOOS == "windows" && strings.EqualFold(name, "PATH") {
			list = value
		}
	}
	return list
}

func hooksDir(ctx context.Context, r *Repo) (string, error) {
	out, err := r.Output(ctx, nil, "config", "-z", "--type=path", "--get", "core.hooksPath")
	if Status(err) == 1 {
		return filepath.Join(r.CommonDir, "hooks"), nil
	}
	return filepath.FromSlash(strings.TrimSuffix(string(out), "\x00")), err
}

// overrides returns settings that keep the configuration, and what else it may
// become, from running files of worktrees.
func overrides(config, maybe Config, hooks string, out worktrees) [][2]string {
	set := [][2]string{
		{"core.hooksPath", hooks},
		{"core.fsmonitor", "false"},
		{"submodule.recurse", "false"},
		{"lfs.url", config.Get("lfs.url")}, // without one LFS asks nobody: it obeys .lfsconfig
	}
	off := make(map[string]bool) // "filter.<name>.", "merge.<name>." or "hook.<name>."
	look := func(key string, commands []string) {
		dot := strings.LastIndexByte(key, '.') + 1
		driver, what := key[:dot], key[dot:]
		section, _, named := strings.Cut(driver[:max(dot-1, 0)], ".")
		switch {
		case !named:
		case section == "filter" && (what == "clean" || what == "smudge" || what == "process"), section == "merge" && what == "driver":
			off[driver] = off[driver] || slices.ContainsFunc(commands, func(c string) bool { return !out.harmless(c) })
		case section == "hook":
			off[driver] = true
		}
	}
	for key, values := range config {
		look(key, values[len(values)-1:])
	}
	for key, values := range maybe { // in whichever order
		look(key, values)
	}
	for driver, is := range off {
		switch {
		case !is:
		case strings.HasPrefix(driver, "hook."):
			set = append(set, [2]string{driver + "enabled", "false"})
		case strings.HasPrefix(driver, "merge."):
			set = append(set, [2]string{driver + "driver", "git merge-file --quiet --marker-size=%L %A %O %B"})
		default: // to git an empty command means none
			set = append(set, [2]string{driver + "clean", ""}, [2]string{driver + "smudge", ""}, [2]string{driver + "process", ""},
				[2]string{driver + "required", "false"})
		}
	}
	return set
}

// worktrees are the tops of worktrees, whose files are untrusted.
type worktrees []string

// have reports whether a path leads into a worktree or nowhere. A directory
// .git does not count, because git checks nothing out there.
func (w worktrees) have(path string) bool {
	path, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(path) {
		return true
	}
	for dir, protected := path, false; ; dir = filepath.Dir(dir) {
		if !protected && slices.ContainsFunc(w, func(top string) bool { return SameFile(top, dir) }) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		protected = protected || strings.EqualFold(filepath.Base(dir), ".git")
	}
}

// hooks returns the real path of dir, or a place without hooks if dir has
// anything in a worktree.
func (w worktrees) hooks(dir string) string {
	if !filepath.IsAbs(dir) || w.have(dir) {
		return os.DevNull
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return os.DevNull // git might run what we can't see
	}
	for _, e := range entries {
		if !e.Type().IsRegular() && w.have(filepath.Join(dir, e.Name())) {
			return os.DevNull
		}
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return os.DevNull
	}
	return dir
}

func (w worktrees) path(list string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool { return !filepath.IsAbs(dir) || w.have(dir) })
	return strings.Join(dirs, string(os.PathListSeparator))
}

// filters run nothing in the directory where they start, unlike make, npx or
// python -m.
var filters = []string{"git-lfs", "git-crypt", "git-annex"}

// harmless reports whether a shell command runs one of the filters and no more.
func (w worktrees) harmless(command string) bool {
	program, ok := program(command)
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	return command == "" || ok && slices.Contains(filters, name) && (name == program || w.outside(command))
}

// outside reports whether a command is one program, by an absolute path that
// leads into no worktree.
func (w worktrees) outside(command string) bool {
	program, ok := program(command)
	return ok && filepath.IsAbs(program) && !w.have(program)
}

// program returns a command's first word. ok is false if a shell might run
// anything but that with its arguments.
func program(command string) (word string, ok bool) {
	word, arguments, _ := strings.Cut(strings.TrimLeft(command, " "), " ")
	if quoted, isQuoted := strings.CutPrefix(strings.TrimLeft(command, " "), `"`); isQuoted {
		word, arguments, ok = strings.Cut(quoted, `"`)
		if !ok || arguments != "" && arguments[0] != ' ' {
			return "", false
		}
	} else if strings.Contains(word, "=") { // sets a variable
		return "", false
	}
	plain := func(s, more string) bool {
		return !strings.ContainsFunc(s, func(r rune) bool {
			return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(more, r)
		})
	}
	return word, word != "" && plain(word, "/:._+- ") && plain(arguments, "/:._+-=%, ")
}

// SameFile reports whether two paths lead to one file. Equal paths do, even if
// nothing is there.
func SameFile(a, b string) bool {
	if a == b {
		return true
	}
	ai, aerr := os.Stat(a)
	bi, berr := os.Stat(b)
	return aerr == nil && berr == nil && os.SameFile(ai, bi)
}
