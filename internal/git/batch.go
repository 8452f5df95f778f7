package git

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// ask sends a command about the object h to a `git cat-file`, which the first call starts, and
// returns the object; without its content unless the command is "contents".
func (o *Objects) ask(command string, h plumbing.Hash) (*Object, error) {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if o.batch == nil {
		var err error
		if o.batch, err = o.repo.Start(o.ctx, "cat-file", "--batch-command"); err != nil {
			return nil, err
		}
	}
	var obj *Object
	_, err := io.WriteString(o.batch.stdin, command+" "+h.String()+"\n")
	if err == nil {
		obj, err = o.batch.object(h.String(), command == "contents")
	}
	if err != nil && err != plumbing.ErrObjectNotFound {
		o.batch.Kill() // its output no longer matters
		o.batch = nil
		err = fmt.Errorf("read object %s: %w", h, err)
	}
	return obj, err
}

// object reads an answer of `git cat-file`: `<hash> <type> <size>`, then the content and a newline
// if that was asked for; or the spec and the word "missing" if there is no such object.
func (p *Process) object(spec string, whole bool) (*Object, error) {
	line, err := p.stdout.ReadString('\n')
	if err != nil {
		return nil, err
	}
	line = strings.TrimSuffix(line, "\n")
	if line == spec+" missing" {
		return nil, plumbing.ErrObjectNotFound
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || !plumbing.IsHash(fields[0]) {
		return nil, fmt.Errorf("unexpected answer %q", line)
	}
	obj := &Object{Hash: plumbing.NewHash(fields[0])}
	if obj.Type, err = plumbing.ParseObjectType(fields[1]); err != nil {
		return nil, err
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || !whole {
		return obj, err
	}
	content := make([]byte, size+1)
	_, err = io.ReadFull(p.stdout, content)
	obj.Content = content[:size]
	return obj, err
}

// CatFiles reads many objects in one git process and passes each to f with its index in specs, in
// order. A spec is a hash or git's `<tree>:<path>`, without a newline. obj is nil if there is no
// such object. The first error of f ends the walk and is returned.
func (r *Repo) CatFiles(ctx context.Context, specs []string, f func(i int, obj *Object) error) error {
	if len(specs) == 0 {
		return nil
	}
	var in bytes.Buffer
	for _, spec := range specs {
		if strings.Contains(spec, "\n") { // git before 2.42 can't be asked for it
			return fmt.Errorf("read object %q: a newline in its name", spec)
		}
		in.WriteString(spec + "\n")
	}
	p, err := r.Start(ctx, "cat-file", "--batch", "--buffer")
	if err != nil {
		return err
	}
	go func() { // a write fails only when git is gone, and then reading fails too
		_, _ = p.stdin.Write(in.Bytes())
		_ = p.stdin.Close()
	}()
	for i, spec := range specs {
		obj, err := p.object(spec, true)
		if err == nil || err == plumbing.ErrObjectNotFound {
			err = f(i, obj)
		} else {
			err = fmt.Errorf("read object %s: %w", spec, err)
		}
		if err != nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
			return err
		}
	}
	if err := p.cmd.Wait(); err != nil {
		return failure(p.args, &p.stderr, err)
	}
	return nil
}
