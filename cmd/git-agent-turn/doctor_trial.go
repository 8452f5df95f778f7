package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/config"
	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/hook"
	"gitagent/internal/ledger"
	"gitagent/internal/limit"
	"gitagent/internal/recorder"
	"gitagent/internal/remote"
	"gitagent/internal/statedir"
	"gitagent/internal/terminal"
	"gitagent/internal/version"
	"gitagent/internal/workspace"
)

// An obstacle keeps a session in the current directory from being recorded. The
// remedy is a command that removes it, or "" if a person has to.
type obstacle struct{ text, remedy string }

// asHook gives this process the environment of a hook, which no git has started
// with its own programs first in PATH: it may find another git, or none.
func asHook() error {
	own := os.Getenv("GIT_EXEC_PATH")
	path, first := strings.CutPrefix(os.Getenv("PATH"), own+string(os.PathListSeparator))
	if own == "" || !first {
		return nil
	}
	return errors.Join(os.Setenv("PATH", path), os.Unsetenv("GIT_EXEC_PATH"))
}

// place returns the repository in which hooks record a session in the current
// directory, or why that is not where git is, as [git.Open] has found it.
func place(ctx context.Context, repo *git.Repo) (*git.Repo, *obstacle) {
	found, err := hook.Place(ctx, ".", "")
	none := errors.Is(err, git.ErrNotFound)
	switch {
	case errors.Is(err, hook.ErrNoProject) && (os.Getenv("GIT_DIR") == "" || isHome(repo.Top)):
		return nil, &obstacle{err.Error() + ", and hooks record nothing in it", ""}
	case none && repo.Top == "":
		return nil, &obstacle{command.NoWorktree(ctx, repo, "record").Error(), elsewhere(ctx, repo)}
	case none || errors.Is(err, hook.ErrNoProject):
		return nil, &obstacle{fmt.Sprintf("hooks find no repository in %s: it has no .git, and they do not go by GIT_DIR", repo.Top), dotGit(ctx, repo, repo.Top)}
	case err != nil:
		return nil, &obstacle{err.Error(), ""}
	case !git.SameFile(found.GitDir, repo.GitDir):
		return nil, &obstacle{fmt.Sprintf("hooks work in %s, and git in %s: they do not go by GIT_DIR", found.GitDir, repo.GitDir), unsetAll()}
	case git.SameFile(found.Top, repo.Top):
		return found, nil
	case os.Getenv("GIT_WORK_TREE") != "":
		return nil, &obstacle{fmt.Sprintf("hooks work in %s, and git in %s: they do not go by GIT_WORK_TREE", found.Top, cmp.Or(repo.Top, "no worktree")), unsetAll()}
	}
	return nil, configured(ctx, found)
}

// unsetAll returns the command that unsets what tells git where a repository is,
// and hooks do not go by; "" if nothing is set.
func unsetAll() string {
	unset := ""
	for _, name := range []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"} {
		if _, set := os.LookupEnv(name); set {
			unset += " " + name
		}
	}
	if unset != "" {
		unset = "unset" + unset
	}
	return unset
}

// dotGit returns the command that lets git find a repository from a worktree
// that it has by other means, or "".
func dotGit(ctx context.Context, repo *git.Repo, top string) string {
	path := filepath.Join(top, ".git")
	if exists(path) || isHome(top) {
		return ""
	}
	command := fmt.Sprintf("printf 'gitdir: %%s\n' %s >%s", shell(repo.GitDir), shell(path))
	if conf, err := repo.Config(ctx); err != nil || conf.Bool("core.bare") {
		command = "git config core.bare false && " + command
	}
	return command
}

// elsewhere returns the command that goes to a worktree of a repository, or "".
func elsewhere(ctx context.Context, repo *git.Repo) string {
	list, _ := repo.Worktrees(ctx) // what is wrong is reported elsewhere
	for _, w := range list {
		if found, err := hook.Place(ctx, w.Path, ""); err == nil && git.SameFile(found.CommonDir, repo.CommonDir) {
			return shell("cd", w.Path)
		}
	}
	return ""
}

// configured returns why the configuration lets git see another worktree than
// hooks, or none.
func configured(ctx context.Context, found *git.Repo) *obstacle {
	conf, err := found.Config(ctx)
	if err != nil {
		return &obstacle{err.Error(), ""}
	}
	linked, top := found.GitDir != found.CommonDir, conf.Get("core.worktree")
	if top != "" && !filepath.IsAbs(top) {
		top = filepath.Join(found.GitDir, top)
	}
	info, err := os.Lstat(filepath.Join(found.Top, ".git"))
	switch {
	case top == "" && !linked && err == nil && info.Mode().IsRegular(): // for worktrees beside it
		return &obstacle{fmt.Sprintf("%s is no worktree: the repository that its .git names is bare", found.Top), elsewhere(ctx, found)}
	case top == "" && linked:
		return &obstacle{fmt.Sprintf("to git %s is no worktree, as core.bare says for all of them", found.Top), "git config --worktree core.bare false"}
	case top == "":
		return &obstacle{fmt.Sprintf("to git %s is no worktree, as core.bare says", found.Top), unset(ctx, found, "core.bare")}
	case linked:
		return &obstacle{
			fmt.Sprintf("to git the worktree of %s is %s, as core.worktree says for all of them", found.Top, top),
			"git config --worktree core.worktree " + shell(found.Top),
		}
	}
	o := &obstacle{fmt.Sprintf("to git the worktree of %s is %s, as core.worktree says", found.Top, top), unset(ctx, found, "core.worktree")}
	if command := dotGit(ctx, found, top); command != "" && exists(top) {
		o.remedy = command + " && " + shell("cd", top)
	}
	return o
}

func shell(words ...string) string { return cmdline.Shell(words) }

func isHome(dir string) bool {
	home, err := os.UserHomeDir()
	return err == nil && git.SameFile(home, dir)
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// try returns why turns of a session in the current directory are not recorded,
// or nil and what they leave out. It does what hooks do.
func try(ctx context.Context, repo *git.Repo) (left []workspace.LeftOut, o *obstacle) {
	found, o := place(ctx, repo)
	if o != nil {
		return nil, o
	}
	w, _ := workspace.Open(found) // a hook logs what is wrong in settings
	skipped, err := recorder.Try(ctx, w, time.Now())
	if err != nil {
		return nil, inTrial(ctx, found, err)
	}
	left = w.LeftOut(skipped)
	if all, err := w.ShutOut(ctx, skipped); err == nil && all != nil { // git has just worked
		left = append(left, *all)
	}
	return left, nil
}

// inTrial returns what keeps a trial that ended with err from success.
func inTrial(ctx context.Context, repo *git.Repo, err error) *obstacle {
	text := "a turn here is not recorded: " + err.Error()
	if locked := (*git.LockedError)(nil); errors.As(err, &locked) {
		return &obstacle{text + "; if no git is at work, remove that lock", shell("rm", locked.Path)}
	}
	if errors.As(err, new(*statedir.RefusedError)) {
		return &obstacle{text, inPlace(err)}
	}
	if denied := repo.Access(); denied != nil {
		return &obstacle{"a turn here is not recorded: " + denied.Error(), allow(ctx, repo, denied)}
	}
	conf, broken := repo.Config(ctx)
	if broken != nil {
		return &obstacle{"a turn here is not recorded: " + broken.Error() + "; mend the file there", ""}
	}
	if o := hooksRead(ctx, repo, conf); o != nil {
		return &obstacle{text, o.remedy}
	}
	if refs := inTheWay(ctx, repo, "refs/agent", "refs/agent/missions", "refs/notes/agent"); len(refs) > 0 {
		return &obstacle{text, moveRefs(ctx, repo, refs)}
	}
	if err := repo.Alternates(); err != nil {
		return &obstacle{text + "; " + err.Error(), ""}
	}
	if o := indexRead(ctx, repo); o != nil {
		return &obstacle{text, o.remedy}
	}
	if git.Lost(err) && conf.Promisor() != "" {
		return &obstacle{text + "; this is a partial clone, and hooks fetch nothing", "git ls-tree -r HEAD >/dev/null"}
	}
	if branch, err := repo.HeadRef(ctx); err == nil && branch == "" {
		if _, err := repo.Output(ctx, nil, "cat-file", "-e", "HEAD^{commit}"); err != nil {
			text += "; the commit that HEAD names is not here: go to a branch with git symbolic-ref HEAD refs/heads/<branch>"
		}
	}
	return &obstacle{text, ""}
}

// allow returns the command that lets the user have what they are denied, or "".
func allow(ctx context.Context, repo *git.Repo, err error) string {
	denied := (*git.DeniedError)(nil)
	if !errors.As(err, &denied) || !errors.Is(err, fs.ErrPermission) { // the file system is read-only, or full
		return ""
	}
	path := shell(denied.Path)
	if denied.Own {
		return "chmod -R u+rwX " + path
	}
	if conf, err := repo.Config(ctx); err == nil && conf.Shared() != "" && conf.Shared() != git.OwnerOnly {
		return "sudo chmod -R g+rwX " + path
	}
	return fmt.Sprintf("sudo chown -R %d %s", os.Getuid(), path)
}

// inTheWay returns those of some refs that exist. Where a ref is, git makes
// none below it.
func inTheWay(ctx context.Context, repo *git.Repo, names ...string) map[string]object.Hash {
	refs, err := repo.Refs(ctx, names...)
	if err != nil {
		return nil
	}
	maps.DeleteFunc(refs, func(name string, _ object.Hash) bool { return !slices.Contains(names, name) })
	return refs
}

// moveRefs returns the command that gives refs other names; one without a hash
// is nothing to keep.
func moveRefs(ctx context.Context, repo *git.Repo, refs map[string]object.Hash) string {
	var commands []string
	for _, ref := range slices.Sorted(maps.Keys(refs)) {
		if refs[ref].IsZero() {
			commands = append(commands, shell("rm", filepath.Join(repo.RefsDir(), filepath.FromSlash(ref))))
			continue
		}
		commands = append(commands, fmt.Sprintf("git update-ref %s %s && git update-ref --no-deref -d %s", free(ctx, repo, ref), refs[ref], ref))
	}
	return strings.Join(commands, " && ")
}

// free returns a name for a ref that no ref has, and that is not below one of
// ours.
func free(ctx context.Context, repo *git.Repo, ref string) string {
	name := ref + "-old"
	for _, ours := range remote.Alone {
		if rest, ok := strings.CutPrefix(ref, ours+"/"); ok {
			name = ours + "-old/" + rest
		}
	}
	for ; ; name += "er" {
		if there := inTheWay(ctx, repo, name); len(there) == 0 {
			return name
		}
	}
}

// indexRead returns the obstacle of an index that git can't read, or nil.
func indexRead(ctx context.Context, repo *git.Repo) *obstacle {
	_, err := repo.Output(ctx, nil, "ls-files", "-z", "--", ":(top,literal).git")
	if err == nil {
		return nil
	}
	index := filepath.Join(repo.GitDir, "index")
	return &obstacle{
		"the index can't be read: " + err.Error(),
		shell("mv", index, index+".old") + " && git reset --quiet",
	}
}

// hooksRead returns the obstacle of hooks by configuration, since git 2.54, at
// which git ends before it runs any, or nil.
func hooksRead(ctx context.Context, repo *git.Repo, conf git.Config) *obstacle {
	_, err := repo.Output(ctx, nil, "hook", "list", "reference-transaction")
	if git.Status(err) != 128 { // 129 if it can't list them
		return nil
	}
	remedy := ""
	for key, events := range conf {
		name, ok := strings.CutPrefix(strings.TrimSuffix(key, ".event"), "hook.")
		if !ok || !strings.HasSuffix(key, ".event") || conf.Get("hook."+name+".command") != "" && !slices.Contains(events, name) {
			continue
		}
		if scope := scopeOf(ctx, repo, key); scope != "" {
			remedy = shell("git", "config", "--"+scope, "--unset-all", key)
		}
	}
	return &obstacle{"git ends at the hooks of its configuration: " + err.Error(), remedy}
}

func (o *obstacle) err() error {
	err := errors.New(o.text)
	if o.remedy != "" {
		err = cmdline.Hint(err, "run this first: "+o.remedy)
	}
	return err
}

// refusal adds to an error, or nil, why nothing is recorded in the current
// directory, as an error of its own.
func refusal(ctx context.Context, err error) error {
	repo, e := git.Open(ctx)
	if e != nil {
		return err
	}
	if _, o := try(ctx, repo); o != nil {
		return o.err()
	}
	return err
}

// trial reports what keeps turns here from being recorded, by doing what hooks
// do, and what keeps missions from having branches.
func (x *examination) trial() {
	if !x.records {
		return
	}
	var left []workspace.LeftOut
	if x.obstacle == nil {
		left, x.obstacle = try(x.ctx, x.repo)
	}
	for _, l := range left {
		f := finding{Level: warning, What: "left out", Text: l.Text, Remedy: l.Remedy}
		if l.Asked {
			f.Level = fine
		}
		x.add(f)
	}
	if x.obstacle != nil {
		x.problem("turn", x.obstacle.text, x.obstacle.remedy)
		return
	}
	if o := indexRead(x.ctx, x.repo); o != nil {
		x.warn("index", o.text, o.remedy)
	}
	if conf, err := x.repo.Config(x.ctx); err == nil {
		if o := hooksRead(x.ctx, x.repo, conf); o != nil {
			x.warn("git's hooks", o.text, o.remedy)
		}
		if conf.Bool("core.ignorestat") {
			x.warn("index", "as core.ignoreStat says, git does not look for changes in files that it has written, and turns are without these changes",
				unset(x.ctx, x.repo, "core.ignoreStat")+" && git update-index -q --really-refresh")
		}
	}
	if refs := inTheWay(x.ctx, x.repo, strings.TrimSuffix(git.Keepers, "/")); len(refs) > 0 {
		x.warn("kept", fmt.Sprintf("the ref %s is in the way of those that keep what is recorded, whatever a fetch or a prune does", strings.TrimSuffix(git.Keepers, "/")), moveRefs(x.ctx, x.repo, refs))
	}
	x.keepers()
	x.below()
	x.branches()
}

// keepers reports one whose commit is gone, at which git then fails.
func (x *examination) keepers() {
	objects := x.repo.Objects(x.ctx)
	defer objects.Close()
	numbers, _ := x.repo.Kept(x.ctx)
	for _, n := range numbers {
		k := x.repo.Keeper(n)
		if at, pointed := k.At(x.ctx); pointed && !at.IsZero() {
			if _, err := objects.Parents(at); ledger.Missing(err) {
				x.problem("kept", k.Ref()+" leads to a commit that is gone, as after another program's garbage collection, and git fetch and git gc fail",
					"git agent-turn doctor --repair")
				return
			}
		}
	}
}

// below reports others' refs below the names of ours, as a fetch into a mirror
// brings them.
func (x *examination) below() {
	for _, name := range remote.Alone {
		refs, err := x.repo.Refs(x.ctx, name+"/")
		if e := git.InWay(refs, name); err == nil && e != nil {
			x.problem("refs", e.Error()+": nothing can be purged or archived; give it another name", moveRefs(x.ctx, x.repo, refs))
		}
	}
}

// branches reports a branch that keeps missions from having theirs.
func (x *examination) branches() {
	prefix := x.set.Capture.BranchPrefix
	branch, err := command.BranchInTheWay(x.ctx, x.repo, prefix)
	if err != nil || branch == "" {
		return
	}
	to := strings.TrimPrefix(free(x.ctx, x.repo, "refs/heads/"+branch), "refs/heads/")
	x.warn("branches", fmt.Sprintf("the branch %s is in the way of those of missions, %s<id>, so start and fork fail; rename it, or set another capture.branch_prefix in %s",
		branch, prefix, config.UserPath()), "git branch -m "+shell(branch, to))
}

// programs reports what keeps hooks from running this program.
func (x *examination) programs() {
	own, err := os.Executable()
	if err != nil || !slices.ContainsFunc(x.agents, inspected.hooked) {
		return
	}
	const name = "git-agent-turn"
	dir := shell(filepath.Dir(own))
	found, err := terminal.Path(name)
	if err != nil {
		x.problem("hooks", fmt.Sprintf("they find no %s in PATH: start the agent's client where PATH has %s", name, filepath.Dir(own)), `export PATH="$PATH":`+dir)
		return
	}
	if git.SameFile(filepath.Dir(found), filepath.Dir(own)) {
		return
	}
	ctx, cancel := limit.Within(x.ctx, limit.Of(x.ctx).Version)
	defer cancel()
	printed, err := terminal.Version(ctx, name)
	if err != nil || !strings.HasSuffix(strings.TrimSpace(printed), " "+version.String()) {
		x.warn("hooks", fmt.Sprintf("they run %s, which is not of this version, %s", found, version.String()), "export PATH="+dir+`:"$PATH"`)
	}
}

// temporary reports that no temporary file can be made, which comparing,
// bisecting and trying out a change of settings need.
func (x *examination) temporary() {
	dir, err := os.MkdirTemp("", "git-agent-")
	if err == nil {
		err = os.Remove(dir)
	}
	if err == nil {
		return
	}
	remedy := ""
	if os.Getenv("TMPDIR") != "" {
		remedy = "unset TMPDIR"
	}
	x.warn("temporary", "no temporary file can be made: "+err.Error(), remedy)
}
