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

// ErrQuit reports that nobody reads any more: the pager was quit. It is what writing to a closed
// standard output returns.
var ErrQuit error = &fs.PathError{Op: "write", Path: os.Stdout.Name(), Err: syscall.EPIPE}

// A Pager shows what is written to it on the terminal, page by page.
type Pager struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	typed  chan os.Signal
	failed bool
}

// forShell are the characters for which git needs a shell to run a command. Without one it is seen that a
// program is not there.
const forShell = "|&;<>()$`\\\"' \t\n*?[#~=%"

// StartPager starts the user's pager, a command for the shell, with the settings for less and lv that
// git gives them. From then on a Ctrl-C is the pager's, and doesn't end this process.
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

// Write returns the error of a closed standard output once the pager was quit.
func (p *Pager) Write(data []byte) (int, error) {
	n, err := p.stdin.Write(data)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, fs.ErrClosed) {
		p.failed = true
		err = ErrQuit
	}
	return n, err
}

// Close ends the input, and waits until the person has quit the pager. Quit reports whether that was
// before everything was written.
func (p *Pager) Close() (quit bool) {
	_ = p.stdin.Close()
	_ = p.cmd.Wait() // its exit status is nobody's business, as for git
	signal.Stop(p.typed)
	return p.failed
}
