package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"gitagent/internal/git/object"
)

// A Repo is one worktree's view of a repository, safe for concurrent use.
type Repo struct {
	Top       string // top of the worktree, absolute; empty in a bare repository
	GitDir    string // the worktree's own git directory, absolute
	CommonDir string // the directory that all worktrees share, absolute

	start
	program string
	looking Looking                   // nil if nobody looks on
	sharing *atomic.Pointer[string]   // core.sharedRepository, once read
	format  *atomic.Uint32            // see Format; zero until read
	named   *atomic.Pointer[[]string] // hooks by configuration, once read
	refsDir *atomic.Pointer[string]   // see RefsDir, once known
	lately  *atomic.Pointer[Config]   // what ConfigLines has read, for the next Config
}

// at returns a Repo that can only run git in dir. It looks git up in PATH once.
func at(dir string, env []string) *Repo {
	program, err := exec.LookPath("git")
	if err != nil {
		program = "git" // running it reports what is wrong
	}
	return &Repo{
		start: start{dir: dir, env: env}, program: program,
		sharing: new(atomic.Pointer[string]), format: new(atomic.Uint32), named: new(atomic.Pointer[[]string]), refsDir: new(atomic.Pointer[string]), lately: new(atomic.Pointer[Config]),
	}
}

// Nowhere returns a Repo that can only run git, in the current directory.
func Nowhere() *Repo { return at(".", environ(nil)) }

// Open asks git for the repository of the current directory, in git's
// environment. Outside a repository the error wraps [ErrNotFound]. If git
// refuses it (safe.directory), the error is git's own.
func Open(ctx context.Context) (*Repo, error) {
	r := at(".", environ([]string{"GIT_CONFIG"})) // GIT_CONFIG is for git config alone
	out, err := r.Output(ctx, nil, "rev-parse", "--path-format=absolute", "--git-dir", "--git-common-dir", "--is-inside-work-tree", "--show-toplevel")
	lines := strings.SplitN(strings.TrimSuffix(string(out), "\n"), "\n", 4)
	outside := len(lines) > 2 && lines[2] == "false" // of any worktree: then --show-toplevel mostly fails
	if err != nil && !outside {
		if _, found := Find("."); found != nil && errors.Is(found, ErrNotFound) && os.Getenv("GIT_DIR") == "" {
			return nil, found
		}
		return nil, err
	}
	if !outside && (len(lines) != 4 || lines[2] != "true") {
		return nil, fmt.Errorf("find the repository: a path of it holds a newline")
	}
	r.GitDir, r.CommonDir = filepath.FromSlash(lines[0]), filepath.FromSlash(lines[1])
	if !outside {
		r.Top = filepath.FromSlash(lines[3])
		r.dir = r.Top
	}
	// Relative paths in the environment must also hold at the worktree's top.
	for name, dir := range map[string]string{"GIT_DIR": r.GitDir, "GIT_COMMON_DIR": r.CommonDir, "GIT_WORK_TREE": r.Top} {
		if os.Getenv(name) != "" && dir != "" {
			r.env = append(r.env, name+"="+dir)
		}
	}
	return r, nil
}

// Find walks up from dir to its worktree's top as git would, without git, and
// without the variables that say where a repository is. If there is none, the error wraps [ErrNotFound].
// [Repo.Trusted] tells whether git would work there.
func Find(dir string) (*Repo, error) {
	top, gitDir, common, err := locate(dir)
	if err != nil {
		return nil, err
	}
	if top == "" {
		return nil, fmt.Errorf("find the repository of %s: %w", dir, ErrNotFound)
	}
	r := at(top, append(environ(location), "GIT_NO_LAZY_FETCH=1")) // a hook must not use the network
	r.Top, r.GitDir, r.CommonDir = top, gitDir, common
	return r, nil
}

// OpenCommon is [FindCommon] if git would work there.
func OpenCommon(ctx context.Context, common string) (*Repo, error) {
	r, err := FindCommon(common)
	if err != nil {
		return nil, err
	}
	return r, r.Trusted(ctx)
}

// FindCommon is [Find] for a repository's common directory: at the top of its
// main worktree if that is around it, else with no worktree.
func FindCommon(common string) (*Repo, error) {
	top, gitDir, found, err := locate(DirOf(common))
	switch {
	case err != nil:
		return nil, err
	case !SameFile(found, common):
		return nil, fmt.Errorf("find the repository of %s: %w", common, ErrNotFound)
	}
	r := at(cmp.Or(top, gitDir), append(environ(location), "GIT_NO_LAZY_FETCH=1"))
	r.Top, r.GitDir, r.CommonDir = top, gitDir, found
	return r, nil
}

// DirOf returns the directory that people know a repository by, from its common
// directory: the one around .git, or itself.
func DirOf(common string) string {
	if filepath.Base(common) == ".git" {
		return filepath.Dir(common)
	}
	return common
}

// locate walks up from dir to a repository. A bare one, or .git, has no top.
func locate(dir string) (top, gitDir, common string, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", "", "", fmt.Errorf("find the repository: %w", err)
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for top := dir; top != ""; top = above(top) {
		gitDir, isFile := gitDirOf(filepath.Join(top, ".git"))
		if common, ok := commonOf(gitDir); ok {
			return top, gitDir, common, nil
		}
		if common, ok := commonOf(top); ok && !isFile {
			return "", top, common, nil
		}
		if isFile { // it points nowhere: a removed worktree, not a directory of the repository around it
			break
		}
	}
	return "", "", "", fmt.Errorf("find the repository of %s: %w", dir, ErrNotFound)
}

// gitDirOf returns the directory that a .git is or names, "" for none.
func gitDirOf(path string) (gitDir string, isFile bool) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", false
	case info.IsDir():
		return path, false
	case !info.Mode().IsRegular() || info.Size() > 64<<10:
		return "", true
	}
	b, err := readPlain(path)
	if err != nil {
		return "", true
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(b), "\r\n"), "gitdir: ")
	if !ok {
		return "", true
	}
	if target = filepath.FromSlash(target); !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(path), target)
	}
	return filepath.Clean(target), true
}

// commonOf returns the common directory of what git takes for a git directory.
func commonOf(gitDir string) (dir string, ok bool) {
	if gitDir == "" {
		return "", false
	}
	// A pipe in place of HEAD or commondir would make git hang.
	head, err := os.Lstat(filepath.Join(gitDir, "HEAD"))
	if err != nil || !head.Mode().IsRegular() && head.Mode().Type() != fs.ModeSymlink {
		return "", false
	}
	switch b, err := readPlain(filepath.Join(gitDir, "commondir")); {
	case errors.Is(err, fs.ErrNotExist):
		dir = gitDir
	case err != nil:
		return "", false
	default:
		if dir = filepath.FromSlash(strings.TrimRight(string(b), "\r\n")); !filepath.IsAbs(dir) {
			dir = filepath.Join(gitDir, dir)
		}
		dir = filepath.Clean(dir)
	}
	for _, name := range []string{"objects", "refs"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.IsDir() {
			return "", false
		}
	}
	return dir, true
}

// Glob returns the files in CommonDir that match pattern, as absolute paths.
func (r *Repo) Glob(pattern string) []string { return glob(r.CommonDir, pattern) }

// GlobRefs is [Repo.Glob] for files in RefsDir.
func (r *Repo) GlobRefs(pattern string) []string { return glob(r.RefsDir(), pattern) }

func glob(dir, pattern string) []string {
	names, _ := fs.Glob(os.DirFS(dir), pattern) // unreadable files don't match
	for i, name := range names {
		names[i] = filepath.Join(dir, filepath.FromSlash(name))
	}
	return names
}

// Resolve returns the commit that rev names, or an error that wraps
// [ErrNotFound].
func (r *Repo) Resolve(ctx context.Context, rev string) (object.Hash, error) {
	out, err := r.Output(ctx, nil, "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if Status(err) == 1 {
		if broken := r.Broken(ctx, rev); broken != nil {
			return object.Hash{}, broken
		}
		return object.Hash{}, fmt.Errorf("resolve %q: %w", rev, ErrNotFound)
	}
	if err != nil {
		return object.Hash{}, err
	}
	return object.ParseHash(strings.TrimSpace(string(out)))
}

// Broken returns an error if HEAD, or a ref by full name, exists but its commit
// or tree does not, or its file has no hash. Git would call it unborn or
// missing.
func (r *Repo) Broken(ctx context.Context, ref string) error {
	if ref == "HEAD" {
		ref, _ = r.HeadRef(ctx) // detached, git names its commit
	}
	if !strings.HasPrefix(ref, "refs/") {
		return nil
	}
	refs, err := r.Refs(ctx, ref)
	switch at, ok := refs[ref]; {
	case err != nil || !ok:
		return nil
	case at.IsZero():
		return fmt.Errorf("read %s: it is %w", ref, ErrDamaged)
	}
	if _, err := r.Output(ctx, nil, "cat-file", "-e", refs[ref].String()+"^{tree}"); Status(err) > 0 {
		if _, err := r.Output(ctx, nil, "rev-parse", "--git-dir"); err != nil {
			return nil // git refuses the repository as a whole
		}
		return fmt.Errorf("read %s: the commit %s or its tree is not here, or %w", ref, refs[ref], ErrDamaged)
	}
	return nil
}

// Head is the state of HEAD.
type Head struct {
	Commit object.Hash // zero on an unborn branch
	Branch string      // full name of the ref, empty when detached
}

// Head reads HEAD.
func (r *Repo) Head(ctx context.Context) (Head, error) {
	var h Head
	out, err := r.Output(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if err != nil && Status(err) != 1 {
		return h, cmp.Or(r.Broken(ctx, "HEAD"), err)
	}
	h.Branch = strings.TrimSpace(string(out))
	h.Commit, err = r.Resolve(ctx, "HEAD")
	if errors.Is(err, ErrNotFound) && h.Branch != "" {
		return h, nil
	}
	return h, err
}

// Init makes a repository with the branch main in the existing dir. The zero
// format is git's default.
func Init(ctx context.Context, dir string, format object.Format) (*Repo, error) {
	r := at(dir, environ(location))
	args := []string{"init", "--quiet", "--initial-branch=main"}
	if format != 0 {
		args = append(args, "--object-format="+format.String())
	}
	if _, err := r.Output(ctx, nil, args...); err != nil {
		return nil, err
	}
	return Find(dir)
}

// A Worktree is one checkout of the repository.
type Worktree struct {
	Path   string
	Branch string      // full name; empty if HEAD is detached there
	Head   object.Hash // zero on an unborn branch
}

// Worktrees lists the worktrees, the main one first.
func (r *Repo) Worktrees(ctx context.Context) ([]Worktree, error) {
	out, err := r.Output(ctx, nil, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	var list []Worktree
	for _, record := range strings.Split(string(out), "\x00\x00") {
		var w Worktree
		for _, line := range strings.Split(record, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				w.Path = value
			case "HEAD":
				w.Head = object.NewHash(value)
			case "branch":
				w.Branch = value
			}
		}
		if w.Path != "" {
			list = append(list, w)
		}
	}
	return list, nil
}

// WorktreeOf returns the worktree that has a branch (full name), or "".
func (r *Repo) WorktreeOf(ctx context.Context, branch string) (string, error) {
	if branch == "" { // a detached HEAD
		return "", nil
	}
	list, err := r.Worktrees(ctx)
	if err != nil {
		return "", err
	}
	for _, w := range list {
		if w.Branch == branch {
			return w.Path, nil
		}
	}
	return "", nil
}

// Main returns where git runs in the main worktree: its top, or a bare
// repository. Relative URLs mean the same there, and it stays when a linked
// worktree goes. If a separate git directory names no worktree, it is r's.
func (r *Repo) Main(ctx context.Context) string {
	if r.GitDir == r.CommonDir && r.Top != "" {
		return r.Top
	}
	if top := filepath.Dir(r.CommonDir); filepath.Join(top, ".git") == r.CommonDir {
		return top
	}
	out, err := at(r.CommonDir, environ(location)).Output(ctx, nil, "rev-parse", "--is-bare-repository", "--show-toplevel")
	bare, top, _ := strings.Cut(strings.TrimSuffix(string(out), "\n"), "\n")
	switch {
	case err == nil: // core.worktree, as in a submodule
		return filepath.FromSlash(top)
	case bare == "true" || r.Top == "":
		return r.CommonDir
	}
	return r.Top
}

// HeadRef returns HEAD's branch in full, "" if detached. It reads one file, and
// asks git only where refs are not files beside it.
func (r *Repo) HeadRef(ctx context.Context) (string, error) {
	head := filepath.Join(r.GitDir, "HEAD")
	data, err := os.ReadFile(head)
	ref, symbolic := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	if !symbolic { // a link is one by its text, with core.preferSymlinkRefs
		if to, e := os.Readlink(head); e == nil && strings.HasPrefix(to, "refs/") {
			return to, nil
		}
	}
	switch {
	case err != nil:
		return "", err
	case !symbolic:
		return "", nil
	case ref != "refs/heads/.invalid":
		return ref, nil
	}
	out, err := r.Output(ctx, nil, "symbolic-ref", "--quiet", "HEAD")
	if Status(err) == 1 {
		return "", nil
	}
	return strings.TrimSpace(string(out)), err
}

// IsAncestor reports whether a is b or an ancestor of it.
func (r *Repo) IsAncestor(ctx context.Context, a, b object.Hash) (bool, error) {
	_, err := r.Output(ctx, nil, "merge-base", "--is-ancestor", a.String(), b.String())
	if Status(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// Operation returns what git has in progress: "merge", "rebase", "cherry-pick",
// "revert", "bisect" or "". Some show as a ref, which may be in a reftable.
func (r *Repo) Operation(ctx context.Context) (string, error) {
	for _, op := range []struct{ file, name string }{
		{"rebase-merge", "rebase"},
		{"rebase-apply", "rebase"},
		{"MERGE_HEAD", "merge"},
		{"CHERRY_PICK_HEAD", "cherry-pick"},
		{"REVERT_HEAD", "revert"},
		{"BISECT_LOG", "bisect"},
		{"sequencer/todo", "cherry-pick"}, // or a revert of several commits, between two of them
	} {
		for _, dir := range slices.Compact([]string{r.GitDir, r.ownRefsDir()}) {
			if _, err := os.Lstat(filepath.Join(dir, op.file)); err == nil {
				return op.name, nil
			}
		}
	}
	if !r.InTables() {
		return "", nil
	}
	for _, op := range []struct{ ref, name string }{{"CHERRY_PICK_HEAD", "cherry-pick"}, {"REVERT_HEAD", "revert"}} {
		switch _, err := r.Output(ctx, nil, "show-ref", "--verify", "--quiet", "--", op.ref); {
		case err == nil:
			return op.name, nil
		case Status(err) != 1:
			return "", fmt.Errorf("see whether git has something under way: %w", err)
		}
	}
	return "", nil
}

// RebasedBranch returns the full name of the branch being rebased, or "".
func (r *Repo) RebasedBranch() string {
	for _, dir := range []string{"rebase-merge", "rebase-apply"} {
		b, err := os.ReadFile(filepath.Join(r.GitDir, dir, "head-name"))
		if name := strings.TrimSpace(string(b)); err == nil && strings.HasPrefix(name, "refs/heads/") {
			return name
		}
	}
	return ""
}
