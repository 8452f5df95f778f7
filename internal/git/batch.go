package git

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"
)

// batch is a running `git cat-file --batch`.
type batch struct {
	proc *Process
	out  *bufio.Reader
}

// Warm starts the batch process, so that its start-up overlaps with other work.
// An error of it shows with the first object that is read.
func (o *Objects) Warm() {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	_ = o.startBatch()
}

func (o *Objects) startBatch() error {
	if o.batch != nil {
		return nil
	}
	p, err := o.repo.Start(o.ctx, "cat-file", "--batch")
	if err != nil {
		return err
	}
	o.batch = &batch{proc: p, out: bufio.NewReaderSize(p.stdout, 1<<16)}
	return nil
}

// readBatch reads the object that spec names, starting the process at the first call.
func (o *Objects) readBatch(spec string) (*plumbing.MemoryObject, error) {
	o.batchMu.Lock()
	defer o.batchMu.Unlock()
	if err := o.startBatch(); err != nil {
		return nil, err
	}
	obj, err := o.batch.read(spec)
	if err != nil && err != plumbing.ErrObjectNotFound {
		o.batch.close()
		o.batch = nil
	}
	return obj, err
}

func (b *batch) read(spec string) (*plumbing.MemoryObject, error) {
	if _, err := io.WriteString(b.proc.stdin, spec+"\n"); err != nil {
		return nil, fmt.Errorf("read object %s: %w", spec, err)
	}
	return b.next(spec)
}

// next reads one answer: `<hash> <type> <size>`, the content, a newline;
// or the spec and one word more where there is no such object.
func (b *batch) next(spec string) (*plumbing.MemoryObject, error) {
	line, err := b.out.ReadSlice('\n')
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", spec, err)
	}
	fields := bytes.Fields(line)
	if len(fields) != 3 {
		return nil, plumbing.ErrObjectNotFound
	}
	t, err := plumbing.ParseObjectType(string(fields[1]))
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", spec, err)
	}
	size, err := strconv.ParseInt(string(fields[2]), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("read object %s: %w", spec, err)
	}
	content := make([]byte, size+1)
	if _, err := io.ReadFull(b.out, content); err != nil {
		return nil, fmt.Errorf("read object %s: %w", spec, err)
	}
	obj := new(plumbing.MemoryObject)
	obj.SetType(t)
	_, err = obj.Write(content[:size])
	return obj, err
}

// CatFiles reads many objects in one git process and hands each to f with its place in specs,
// in order. A spec is a hash or git's `<tree>:<path>`. obj is nil where there is no such object.
// The first error of f ends the walk and is returned.
func (r *Repo) CatFiles(ctx context.Context, specs []string, f func(i int, obj *plumbing.MemoryObject) error) error {
	if len(specs) == 0 {
		return nil
	}
	p, err := r.Start(ctx, "cat-file", "--batch", "--buffer")
	if err != nil {
		return err
	}
	go func() { // a write fails only when git is gone, and then reading tells
		w := bufio.NewWriterSize(p.stdin, 1<<16)
		for _, spec := range specs {
			_, _ = w.WriteString(spec)
			_ = w.WriteByte('\n')
		}
		_ = w.Flush()
		_ = p.stdin.Close()
	}()
	b := &batch{proc: p, out: bufio.NewReaderSize(p.stdout, 1<<16)}
	for i, spec := range specs {
		obj, err := b.next(spec)
		if err == nil || err == plumbing.ErrObjectNotFound {
			err = f(i, obj)
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

// close ends the process. What it says no longer matters.
func (b *batch) close() { b.proc.Kill() }
