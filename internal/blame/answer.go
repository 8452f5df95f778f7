package blame

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
)

// An Answer is where the lines of a file come from.
type Answer struct {
	Runs []Line // the lines, in order: those in a row together, if their origins are

	q     *question
	close []func()
}

// Ask finds out where the file's lines come from. The caller closes the answer.
func (h *History) Ask(ctx context.Context, r Request) (*Answer, error) {
	a := &Answer{q: &question{h: h, repo: h.w.Repo, objects: h.objects, r: r, commit: r.Commit}}
	if err := a.find(ctx); err != nil {
		a.Close()
		return nil, fmt.Errorf("blame %q: %w", r.Path, err)
	}
	return a, nil
}

// Blame is Ask for a small file: it returns the lines one by one.
func (h *History) Blame(ctx context.Context, r Request) ([]Line, error) {
	a, err := h.Ask(ctx, r)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	var lines []Line
	err = a.Each(ctx, func(_ int, l Line) error {
		lines = append(lines, l)
		return nil
	})
	return lines, err
}

// Close ends what was made for the answer.
func (a *Answer) Close() {
	for _, f := range a.close {
		f()
	}
}

// Each calls f for each line, in order, with its text and the place of its run.
// An error of f ends it and is returned.
func (a *Answer) Each(ctx context.Context, f func(run int, l Line) error) error {
	if err := a.q.each(ctx, a.Runs, f); err != nil {
		return fmt.Errorf("read the lines of %q: %w", a.q.r.Path, err)
	}
	return nil
}

func (a *Answer) find(ctx context.Context) (err error) {
	q, uncommitted := a.q, false
	if q.commit.IsZero() {
		scratch, err := gitdiff.NewUncommitted(ctx, q.repo, q.r.Path)
		if err != nil {
			return err
		}
		a.close = append(a.close, scratch.Close)
		q.commit, uncommitted = scratch.Commit, scratch.Made
		if uncommitted {
			q.repo, q.objects = scratch.Repo, scratch.Repo.Objects(ctx)
			a.close = append([]func(){q.objects.Close}, a.close...)
		}
	}
	if a.Runs, err = q.answer(ctx); err != nil || !uncommitted {
		return err
	}
	for i := range a.Runs {
		if b := &a.Runs[i].Blame; b.Commit == q.commit {
			b.Commit = object.Hash{}
		}
	}
	a.Runs, err = q.run(ctx, a.Runs)
	return err
}

// each calls f for each of some lines, which are in order, with its text.
func (q *question) each(ctx context.Context, runs []Line, f func(run int, l Line) error) error {
	if len(runs) == 0 {
		return nil
	}
	e, err := q.objects.At(q.commit, q.r.Path)
	if err != nil {
		return err
	}
	content, err := q.objects.Blob(e.Hash, maxBlob)
	if err == nil {
		return eachOf(bytes.NewReader(content), runs, f)
	}
	if !errors.Is(err, git.ErrTooLarge) {
		return err
	}
	// Git blame has read all of it, so there is no bound to keep.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out, ended, err := q.repo.Pipe(ctx, nil, "cat-file", "blob", e.Hash.String())
	if err != nil {
		return err
	}
	defer out.Close()
	err = eachOf(out, runs, f)
	if errors.Is(err, io.EOF) {
		return cmp.Or(<-ended, err)
	}
	cancel() // the rest is not asked for
	<-ended
	return err
}

// eachOf is each, of a file that is being read.
func eachOf(from io.Reader, runs []Line, f func(run int, l Line) error) error {
	in, next := bufio.NewReaderSize(from, 64<<10), 1
	for i, run := range runs {
		for n := run.Blame.Number; n < run.Blame.End(); n++ {
			for ; next < n; next++ {
				if err := pass(in); err != nil {
					return err
				}
			}
			text, err := in.ReadString('\n')
			if err != nil && (text == "" || !errors.Is(err, io.EOF)) {
				return err
			}
			next++
			l := run.part(n, n+1)
			l.Text = strings.TrimSuffix(text, "\n")
			if err := f(i, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass reads a line and forgets it.
func pass(in *bufio.Reader) error {
	for {
		if _, err := in.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// A piece is some lines of a run for which one thing holds.
type piece[T any] struct {
	from, end int // their numbers in the file
	is        T
}

// divide returns the pieces of runs. Where the text does not matter, of is asked
// once for all lines of the run, else for each.
func divide[T any](ctx context.Context, q *question, runs []Line, matters func(run int) bool, of func(run int, text string) T, same func(a, b T) bool) ([][]piece[T], error) {
	pieces := make([][]piece[T], len(runs))
	var places []int // of the runs whose texts are read
	var read []Line
	for i, run := range runs {
		if matters(i) {
			places, read = append(places, i), append(read, run)
		} else {
			pieces[i] = []piece[T]{{run.Blame.Number, run.Blame.End(), of(i, "")}}
		}
	}
	err := q.each(ctx, read, func(i int, l Line) error {
		list := &pieces[places[i]]
		is := of(places[i], l.Text)
		if last := len(*list) - 1; last >= 0 && same((*list)[last].is, is) {
			(*list)[last].end++
		} else {
			*list = append(*list, piece[T]{l.Blame.Number, l.Blame.End(), is})
		}
		return nil
	})
	return pieces, err
}
