package terminal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
)

// ErrQuit reports that the pager was quit, as a closed standard output does.
var ErrQuit error = &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE}

// A Pager shows what is written to it page by page.
type Pager struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	typed  chan os.Signal
	failed bool
}

// forShell lists the characters for which git runs a command in a shell.
// Without one a missing program is noticed.
const forShell = "|&;<>()$`\\\"' \t\n*?[#~=%"

// StartPager starts the user's pager, a shell command, with git's settings for
// less and lv. From then on Ctrl-C is the pager's and doesn't end this process.
func StartPager(command string) (*Pager, error) {
	words := []string{command}
	if strings.ContainsAny(command, forShell) {
		words = Shell(command)
	}
	p := &Pager{cmd: exec.Command(words[0], words[1:]...), typed: make(chan os.Signal, 1)}
	p.cmd.Stdout, p.cmd.Stderr = os.Stdout, os.Stderr
	p.cmd.Env = os.Environ()
	for name, value := range map[string]string{"LESS": "FRX", "LV": "-c"} {
		if _, ok := os.LookupEnv(name); !ok {
			p.cmd.Env = append(p.cmd.Env, name+"="+value)
		}
	}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err == nil {
		signal.Notify(p.typed, os.Interrupt)
		err = p.cmd.Start()
	}
	if err != nil {
		signal.Stop(p.typed)
		return nil, fmt.Errorf("start the pager %s: %w", command, err)
	}
	return p, nil
}

// Write returns [ErrQuit] once the pager was quit.
func (p *Pager) Write(data []byte) (int, error) {
	n, err := p.stdin.Write(data)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed) {
		p.failed = true
		err = ErrQuit
	}
	return n, err
}

// Close waits for the user to quit, and reports whether that cut the text off.
func (p *Pager) Close() (quit bool) {
	_ = p.stdin.Close()
	_ = p.cmd.Wait() // git ignores its exit status too
	signal.Stop(p.typed)
	return p.failed
}
