package main

import (
	"bufio"
	"cmp"
	"fmt"
	"io"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/git/object"
	"gitagent/internal/gitdiff"
	"gitagent/turns"
)

// porcelain prints lines as git blame --porcelain does. Headers also describe
// the turn of a line; readers skip headers that they don't know.
func (q *inquiry) porcelain(to io.Writer, answer *blame.Answer) error {
	conf, err := q.w.Repo.Config(q.c.Context)
	if err != nil {
		return err
	}
	objects := q.w.Repo.Objects(q.c.Context)
	defer objects.Close()
	p := newPorcelain(to, answer.Runs, q.path)
	p.format = q.w.Repo.Format()
	p.quoted = !conf.Off("core.quotepath")
	p.isEnd = func(l gitdiff.Blamed) bool {
		if l.Before || !l.Previous.IsZero() || conf.Bool("blame.showroot") || l.Commit.IsZero() {
			return l.Before
		}
		parents, err := objects.Parents(l.Commit)
		return err == nil && len(parents) == 0
	}
	return cmp.Or(answer.Each(q.c.Context, p.line), p.out.Flush())
}

type porcelain struct {
	out    *bufio.Writer
	format object.Format
	quoted bool // letters beyond ASCII are quoted in paths
	path   string
	runs   []blame.Line
	isEnd  func(gitdiff.Blamed) bool // history ends with the commit

	paths   map[object.Hash]string // the first path in a commit
	several map[object.Hash]bool   // it has several paths
	told    map[object.Hash]bool   // it was described
	named   map[*turns.Turn]bool
}

func newPorcelain(to io.Writer, runs []blame.Line, path string) *porcelain {
	p := &porcelain{
		out: bufio.NewWriter(to), quoted: true, path: path, runs: runs,
		paths: make(map[object.Hash]string), several: make(map[object.Hash]bool), told: make(map[object.Hash]bool), named: make(map[*turns.Turn]bool),
	}
	for _, l := range runs {
		first, known := p.paths[l.Blame.Commit]
		if !known {
			p.paths[l.Blame.Commit] = l.Blame.Path
		}
		p.several[l.Blame.Commit] = p.several[l.Blame.Commit] || known && first != l.Blame.Path
	}
	return p
}

// line prints a line of a run.
func (p *porcelain) line(run int, l blame.Line) error {
	fmt.Fprintf(p.out, "%s %d %d", p.format.Text(l.Blame.Commit), l.Blame.Line, l.Blame.Number)
	if l.Blame.Number == p.runs[run].Blame.Number && !p.goesOn(run) {
		fmt.Fprintf(p.out, " %d\n", p.group(run))
		p.commit(l.Blame)
	} else {
		fmt.Fprintln(p.out)
	}
	if l.Turn != nil {
		p.turn(l)
	} else if l.Running != nil {
		fmt.Fprintf(p.out, "agent-running %s\n", l.Running.ID())
	}
	_, err := fmt.Fprintf(p.out, "\t%s\n", l.Text)
	return err
}

// goesOn reports whether a run follows the one before.
func (p *porcelain) goesOn(run int) bool {
	return run > 0 && run < len(p.runs) && follows(p.runs[run-1].Blame, p.runs[run].Blame)
}

// group is how many lines follow each other from the beginning of a run.
func (p *porcelain) group(run int) int {
	n := p.runs[run].Blame.Lines
	for run++; p.goesOn(run); run++ {
		n += p.runs[run].Blame.Lines
	}
	return n
}

// follows reports whether lines b follow a in both the file and the commit.
func follows(a, b gitdiff.Blamed) bool {
	return a.Commit == b.Commit && a.Path == b.Path && a.Line+a.Lines == b.Line && a.End() == b.Number
}

// commit prints the headers of a commit where its lines begin.
func (p *porcelain) commit(l gitdiff.Blamed) {
	told := p.told[l.Commit]
	if !told {
		p.told[l.Commit] = true
		summary := l.In.Summary
		if l.Commit.IsZero() {
			summary = "Version of " + p.path + " from " + p.path
		}
		fmt.Fprintf(p.out, "author %s\nauthor-mail <%s>\nauthor-time %d\nauthor-tz %s\n", l.In.Author, l.In.Email, l.In.At.Unix(), l.In.At.Format("-0700"))
		fmt.Fprintf(p.out, "committer %s\ncommitter-mail <%s>\ncommitter-time %d\ncommitter-tz %s\n",
			l.In.Committer, l.In.CommitterEmail, l.In.Committed.Unix(), l.In.Committed.Format("-0700"))
		fmt.Fprintf(p.out, "summary %s\n", summary)
		if p.isEnd(l) {
			fmt.Fprintln(p.out, "boundary")
		}
	}
	if told && !p.several[l.Commit] {
		return
	}
	if !l.Previous.IsZero() {
		fmt.Fprintf(p.out, "previous %s %s\n", l.Previous, gitdiff.QuotePath(l.PreviousPath, p.quoted))
	}
	fmt.Fprintf(p.out, "filename %s\n", gitdiff.QuotePath(l.Path, p.quoted))
}

// turn prints the headers of the turn that wrote a line.
func (p *porcelain) turn(l blame.Line) {
	t := l.Turn
	fmt.Fprintf(p.out, "agent-turn %s\n", t.After())
	for _, other := range l.Others {
		fmt.Fprintf(p.out, "agent-or %s\n", other.After())
	}
	if p.named[t] {
		return
	}
	p.named[t] = true
	for _, header := range [][2]string{{"agent", t.Agent}, {"agent-model", t.Model}, {"agent-prompt", t.Prompt}} {
		if value := cmdline.OneLine(header[1]); value != "" {
			fmt.Fprintf(p.out, "%s %s\n", header[0], value)
		}
	}
	if of := t.Spent(); len(of.Models)+len(of.Agents) > 0 {
		all := of.All()
		fmt.Fprintf(p.out, "agent-tokens %d %d %d %d\n", all.Input, all.CacheRead, all.CacheWrite, all.Output)
	}
	fmt.Fprintf(p.out, "agent-time %d\n", t.At.Unix())
}
