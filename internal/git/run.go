package git

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"gitagent/internal/git/object"
	"gitagent/internal/limit"
)

// ErrNotFound is wrapped by errors about a missing rev, ref or repository.
var ErrNotFound = errors.New("not found")

// ErrNoGit is wrapped by the errors of a git that is not in PATH.
var ErrNoGit = exec.ErrNotFound

// An Error reports a git command that failed.
type Error struct {
	Args   []string
	Stderr string // git's standard error, without the last newline
	Err    error
}

func (e *Error) Error() string {
	name := "git"
	for _, a := range e.Args {
		if !strings.HasPrefix(a, "-") && !strings.Contains(a, "=") {
			name += " " + a
			break
		}
	}
	if e.Stderr == "" {
		return name + ": " + e.Err.Error()
	}
	return name + ": " + e.Stderr
}

func (e *Error) Unwrap() error { return e.Err }

// Status returns the exit status of the git that caused err, or -1.
func Status(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return -1
}

// NamesObject reports whether git failed and named an object or pack, which it
// mostly could not read. It partly matches English ("offset beyond end of
// packfile"), so it is good for a hint only.
func NamesObject(err error) bool {
	e := (*Error)(nil)
	if status := Status(err); !errors.As(err, &e) || status != 128 && status != 255 { // 255: newer merge-base
		return false
	}
	return strings.Contains(e.Stderr, "packfile") || slices.ContainsFunc(strings.FieldsFunc(e.Stderr, func(c rune) bool {
		return !strings.ContainsRune("0123456789abcdef", c)
	}), object.IsHash)
}

// location are the variables that select a repository and override -C: those of
// `git rev-parse --local-env-vars` without configuration, in which containers
// set safe.directory, and GIT_ATTR_SOURCE, which git omits there.
var location = []string{
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_OBJECT_DIRECTORY", "GIT_DIR", "GIT_WORK_TREE",
	"GIT_IMPLICIT_WORK_TREE", "GIT_GRAFT_FILE", "GIT_INDEX_FILE", "GIT_NO_REPLACE_OBJECTS",
	"GIT_REPLACE_REF_BASE", "GIT_PREFIX", "GIT_INTERNAL_SUPER_PREFIX", "GIT_SHALLOW_FILE", "GIT_COMMON_DIR",
	"GIT_CONFIG", "GIT_ATTR_SOURCE",
}

// pathspecs are the variables that change what the paths mean that we give git,
// also where git is run as the user: `git --literal-pathspecs`, as Emacs' Magit
// says, sets them for what it runs.
var pathspecs = []string{"GIT_LITERAL_PATHSPECS", "GIT_GLOB_PATHSPECS", "GIT_NOGLOB_PATHSPECS", "GIT_ICASE_PATHSPECS"}

// Inherited returns variables that git sets for its children and that would
// mislead a git elsewhere. Programs run for the user elsewhere must not get
// them.
func Inherited() []string {
	return append(slices.Clone(location), "GIT_CONFIG_PARAMETERS", "GIT_EXEC_PATH", "GIT_PAGER_IN_USE")
}

// environ returns our environment without drop, and for git; see [notUsers].
func environ(drop []string) []string {
	env := make([]string, 0, 64)
	for _, v := range os.Environ() {
		name, value, _ := strings.Cut(v, "=")
		if !slices.Contains(drop, name) && !slices.Contains(notOurs, name) && !slices.Contains(pathspecs, name) && !tracesHere(name, value) {
			env = append(env, v)
		}
	}
	return append(env, "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", "GIT_NO_REPLACE_OBJECTS=1", offVariable+"=false")
}

func (r *Repo) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, r.program, append(r.readable(args), r.arguments(args)...)...)
	cmd.Args[0] = "git"
	cmd.Dir, cmd.Env = r.dir, r.env
	if runtime.GOOS != "windows" { // it can't pass files to a child
		cmd.ExtraFiles = r.held
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // lets git drop its locks
	cmd.WaitDelay = limit.Of(ctx).Git
	return cmd
}

// Output runs git with stdin, or nil, and returns its output, or an [*Error].
func (r *Repo) Output(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return stdout.Bytes(), failure(args, &stderr, err)
	}
	return stdout.Bytes(), nil
}

// Run runs git with the given streams. A failure is an [*Error]; if stdout is a
// file that lost its reader, of an [*fs.PathError] with EPIPE.
func (r *Repo) Run(ctx context.Context, stdin io.Reader, stdout, stderr io.Writer, args ...string) error {
	cmd := r.command(ctx, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = stdin, stdout, stderr
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if f, ok := stdout.(*os.File); ok && endedBySIGPIPE(err) {
		err = &fs.PathError{Op: "write", Path: f.Name(), Err: syscall.EPIPE}
	}
	return &Error{Args: args, Err: err}
}

// Pipe runs git and returns its output, for the caller to close, and its
// [*Error] once it ends. out is a system pipe, whose reader may be slow like a
// pager; a copy in this process would end five seconds after git.
func (r *Repo) Pipe(ctx context.Context, stdin io.Reader, args ...string) (out io.ReadCloser, ended <-chan error, err error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, nil, &Error{Args: args, Err: err}
	}
	done := make(chan error, 1)
	go func() {
		var stderr bytes.Buffer
		err := r.Run(ctx, stdin, write, &stderr, args...)
		if e := (*Error)(nil); errors.As(err, &e) {
			e.Stderr = strings.TrimSpace(stderr.String())
		}
		_ = write.Close()
		done <- err
	}()
	return read, done, nil
}

// Split runs git and calls f for each piece of output up to the byte end. A
// piece has at most 64 KB and is valid until f returns. An error of f ends git
// and is returned.
func (r *Repo) Split(ctx context.Context, stdin io.Reader, end byte, f func(piece []byte) error, args ...string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, ended, err := r.Pipe(ctx, stdin, args...)
	if err != nil {
		return err
	}
	defer out.Close()
	for in := bufio.NewReaderSize(out, 64<<10); ; {
		piece, err := in.ReadSlice(end)
		if errors.Is(err, io.EOF) {
			return <-ended
		}
		if err == nil {
			err = f(piece[:len(piece)-1])
		}
		if err != nil {
			cancel()
			<-ended
			return err
		}
	}
}

// endedBySIGPIPE reports whether SIGPIPE ended git, or a command that it ran.
func endedBySIGPIPE(err error) bool {
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		return false
	}
	status, ok := exit.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGPIPE || exit.ExitCode() == 128+int(syscall.SIGPIPE)
}

func failure(args []string, stderr *bytes.Buffer, err error) error {
	return &Error{Args: args, Stderr: strings.TrimSpace(stderr.String()), Err: err}
}

// A Process is a git that was started early, to overlap, and waits for input.
type Process struct {
	Stdin  io.WriteCloser // for who asks and reads answers, before Finish
	Stdout *bufio.Reader

	args   []string
	cmd    *exec.Cmd
	stderr bytes.Buffer

	finished bool
}

// Start starts git with args. The caller ends it with Finish.
func (r *Repo) Start(ctx context.Context, args ...string) (*Process, error) {
	p := &Process{args: args, cmd: r.command(ctx, args...)}
	p.cmd.Stderr = &p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, &Error{Args: args, Err: err}
	}
	stdout, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		return nil, &Error{Args: args, Err: err}
	}
	p.Stdin, p.Stdout = stdin, bufio.NewReaderSize(stdout, 1<<16)
	return p, nil
}

// Finish sends input and returns the rest of the output, or an [*Error].
func (p *Process) Finish(input []byte) ([]byte, error) { return p.finish(input, "") }

// Warned reports, after Finish, whether git wrote anything to standard error.
func (p *Process) Warned() bool { return p.stderr.Len() > 0 }

// finish is Finish, but done once git prints the line last, unless that is "":
// its exit takes as long as writing a file or two.
func (p *Process) finish(input []byte, last string) ([]byte, error) {
	p.finished = true
	sent := make(chan error, 1)
	go func() {
		_, err := p.Stdin.Write(input)
		if e := p.Stdin.Close(); err == nil {
			err = e
		}
		sent <- err
	}()
	out, done, readErr := readUntil(p.Stdout, last)
	if done {
		go func() { _ = p.cmd.Wait() }()
		return out, nil
	}
	sendErr := <-sent
	if err := p.cmd.Wait(); err != nil {
		return out, failure(p.args, &p.stderr, err)
	}
	if err := cmp.Or(readErr, sendErr); err != nil {
		return out, &Error{Args: p.args, Err: err}
	}
	return out, nil
}

func readUntil(r *bufio.Reader, last string) (out []byte, done bool, err error) {
	for {
		line, err := r.ReadBytes('\n')
		out = append(out, line...)
		switch {
		case errors.Is(err, io.EOF):
			return out, false, nil
		case err != nil, string(line) == last:
			return out, err == nil, err
		}
	}
}

// Kill ends a process that is no longer needed, without waiting for it.
func (p *Process) Kill() {
	if p.finished {
		return
	}
	p.finished = true
	_ = p.cmd.Process.Kill()
	go func() { _ = p.cmd.Wait() }()
}
