package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
)

// batch is a running `git cat-file`.
type batch struct {
	proc *Process
	out  *bufio.Reader
}

// An answer is the line that git prints about one object before its content.
type answer struct {
	hash plumbing.Hash
	kind plumbing.ObjectType
	size int64 // bytes
}

// Warm starts the batch process, so that its start-up overlaps with other work. If it fails,
// reading the first object returns the error.
func (o *Objects) Warm() {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	_ = o.startBatch()
}

func (o *Objects) startBatch() error {
	if o.batch != nil {
		return nil
	}
	p, err := o.repo.Start(o.ctx, "cat-file", "--batch-command")
	if err != nil {
		return err
	}
	o.batch = &batch{proc: p, out: bufio.NewReaderSize(p.stdout, 1<<16)}
	return nil
}

// ask sends a command about the object h, starting the process at the first call, and passes the
// answer to f if the object exists.
func (o *Objects) ask(command string, h plumbing.Hash, f func(*batch, answer) error) error {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if err := o.startBatch(); err != nil {
		return err
	}
	spec := h.String()
	_, err := io.WriteString(o.batch.proc.stdin, command+" "+spec+"\n")
	if err == nil {
		var a answer
		if a, err = o.batch.answer(spec); err == plumbing.ErrObjectNotFound {
			return err
		}
		if err == nil {
			err = f(o.batch, a)
		}
	}
	if err != nil {
		o.batch.close()
		o.batch = nil
		return fmt.Errorf("read object %s: %w", spec, err)
	}
	return nil
}

// answer reads one answer: `<hash> <type> <size>`, or the spec and the word "missing" if there is
// no such object.
func (b *batch) answer(spec string) (answer, error) {
	line, err := b.out.ReadString('\n')
	if err != nil {
		return answer{}, err
	}
	line = strings.TrimSuffix(line, "\n")
	if line == spec+" missing" {
		return answer{}, plumbing.ErrObjectNotFound
	}
	fields := strings.Fields(line)
	if len(fields) != 3 || !plumbing.IsHash(fields[0]) {
		return answer{}, fmt.Errorf("unexpected answer %q", line)
	}
	kind, err := plumbing.ParseObjectType(fields[1])
	if err != nil {
		return answer{}, err
	}
	size, err := strconv.ParseInt(fields[2], 10, 64)
	return answer{plumbing.NewHash(fields[0]), kind, size}, err
}

// content reads the object that follows an answer, and its newline.
func (b *batch) content(a answer) ([]byte, error) {
	content := make([]byte, a.size+1)
	if _, err := io.ReadFull(b.out, content); err != nil {
		return nil, err
	}
	return content[:a.size], nil
}

// close ends the process. Its output no longer matters.
func (b *batch) close() { b.proc.Kill() }

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
		in.WriteString(spec)
		in.WriteByte('\n')
	}
	p, err := r.Start(ctx, "cat-file", "--batch", "--buffer")
	if err != nil {
		return err
	}
	go func() { // a write fails only when git is gone, and then reading fails too
		_, _ = p.stdin.Write(in.Bytes())
		_ = p.stdin.Close()
	}()
	b := &batch{proc: p, out: bufio.NewReaderSize(p.stdout, 1<<16)}
	for i, spec := range specs {
		err := b.each(i, spec, f)
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

func (b *batch) each(i int, spec string, f func(int, *Object) error) error {
	a, err := b.answer(spec)
	if err == plumbing.ErrObjectNotFound {
		return f(i, nil)
	}
	var content []byte
	if err == nil {
		content, err = b.content(a)
	}
	if err != nil {
		return fmt.Errorf("read object %s: %w", spec, err)
	}
	return f(i, &Object{a.hash, a.kind, content})
}
