package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/ledger"
	"gitagent/internal/ledgertx"
	"gitagent/internal/recall"
	"gitagent/internal/record"
	"gitagent/internal/search"
	"gitagent/internal/workspace"
)

// recallTokens is how many tokens an answer has at most, unless told otherwise.
const recallTokens = 400

func recallCommand() *cli.Command {
	return &cli.Command{
		Name:      "recall",
		Usage:     "say briefly what is known of a file: what was tried there and given up, and why it is as it is",
		UsageText: "git agent-turn recall [--tokens <n>] [--json] <file>[:<line>[-<line>]]...",
		Description: "It is meant to be read before an edit, by a person or an agent: the turns whose changes were taken back or not adopted, " +
			"the turns that wrote the lines, and handoffs that speak of the file, the newest first, in at most 400 tokens. " +
			"What is untrusted is never told.",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "tokens", Value: recallTokens, Usage: "tell at most `<n>` tokens"},
			command.JSONFlag(),
		},
		BashComplete: cmdline.ProposeFiles,
		Action:       command.Paged(recallFiles),
	}
}

// A spotted is a part of a file that is asked about.
type spotted struct {
	name  string // as it was typed
	path  string // from the top
	lines recall.Lines
}

func recallFiles(c *cli.Context) error {
	if c.NArg() == 0 {
		return cmdline.Hint(cmdline.Usagef("recall needs a file"), "as in: git agent-turn recall main.go:12-20")
	}
	if c.Int("tokens") < 1 {
		return cmdline.Usagef("--tokens %d is less than one", c.Int("tokens"))
	}
	w, err := command.Checkout(c.Context, "look at files of")
	if err != nil {
		return err
	}
	var list []spotted
	var paths []string
	for _, word := range c.Args().Slice() {
		at, err := placeOf(c.Context, w, word)
		if err != nil {
			return err
		}
		list, paths = append(list, at), append(paths, at.path)
	}
	r, err := newRecalling(c.Context, w, paths)
	if err != nil {
		return err
	}
	defer r.close()
	known, rest := make([][]recall.Entry, len(list)), 0
	for i, at := range list {
		if known[i], err = r.entries(at); err != nil {
			return err
		}
		if len(known[i]) > 0 {
			rest++
		}
	}
	most, found, untold := c.Int("tokens"), rest > 0, 0
	if rest > 1 {
		most -= tokensOfLeft
	}
	for i, at := range list {
		ours := recall.Tokens(at.String()) + tokensOfLeft
		chosen, left := recall.Choose(known[i], most/max(1, rest)-ours)
		if len(known[i]) > 0 {
			rest--
		}
		if len(chosen) == 0 && !c.Bool("json") {
			untold += left
			continue // the next ones have more room
		}
		for _, e := range chosen {
			ours += e.Tokens()
		}
		if len(chosen) > 0 {
			most -= ours
		}
		if err := printRecalled(c, at, chosen, left); err != nil {
			return err
		}
	}
	if untold > 0 {
		fmt.Fprintf(c.App.Writer, leftOut, untold)
	}
	if !found {
		return errors.Join(cmdline.NotFoundf("nothing is known of %s", strings.Join(cmdline.List(c.Args().Slice()), ", ")), r.unread())
	}
	return r.unread()
}

// A line says how much was left out, of a file or of files as a whole.
const (
	leftOut      = "left out: %d, see --tokens\n"
	tokensOfLeft = 12
)

func (p spotted) String() string {
	switch l := p.lines; {
	case l == recall.Lines{}:
		return p.path
	case l.First == l.Last:
		return fmt.Sprintf("%s:%d", p.path, l.First)
	}
	return fmt.Sprintf("%s:%d-%d", p.path, p.lines.First, p.lines.Last)
}

// placeOf reads "file", "file:12" or "file:12-20". The file may be gone.
func placeOf(ctx context.Context, w *workspace.Workspace, word string) (p spotted, err error) {
	isFile := func(name string) bool {
		info, err := os.Lstat(name)
		return err == nil && !info.IsDir()
	}
	p.name = word
	if !isFile(word) {
		switch at, err := joined(word, isFile); {
		case at.file == "" || at.text != "":
		case err != nil:
			return p, err
		default:
			p.name, p.lines = at.file, recall.Lines{First: at.first, Last: at.last}
		}
	}
	var inside bool
	if p.path, inside, err = w.Repo.FromTop(ctx, p.name); err == nil && !inside {
		err = cmdline.Usagef("%q is no file in the worktree", p.name)
	}
	return p, err
}

// A recalling answers what is known of files.
type recalling struct {
	ctx     context.Context
	w       *workspace.Workspace
	past    *recall.Past
	history *blame.History
}

func newRecalling(ctx context.Context, w *workspace.Workspace, paths []string) (*recalling, error) {
	reading := ledgertx.Async(func() (*blame.History, error) { return blame.Open(ctx, w) })
	past, err := recall.Open(ctx, w, paths...)
	history, failed := reading()
	switch {
	case err != nil && failed == nil:
		history.Close()
	case err == nil && failed != nil:
		past.Close()
	}
	if err := cmp.Or(err, failed); err != nil {
		return nil, err
	}
	return &recalling{ctx, w, past, history}, nil
}

func (r *recalling) close() {
	r.past.Close()
	r.history.Close()
}

// unread reports what the answers left out.
func (r *recalling) unread() error { return errors.Join(r.past.Unread, r.history.Unread) }

func (r *recalling) entries(at spotted) ([]recall.Entry, error) {
	now, err := readNow(filepath.Join(r.w.Repo.Top, filepath.FromSlash(at.path)))
	if err != nil {
		return nil, err
	}
	entries := r.past.Tried(at.path, at.lines, now)
	if now != nil && has(now, at.lines.First) {
		why, err := r.why(at)
		if err != nil {
			return nil, err
		}
		entries = append(entries, why...)
	}
	spoken, err := r.spoken(at.path)
	if err != nil {
		return nil, err
	}
	entries = append(entries, spoken...)
	return entries, r.past.Sign(entries)
}

// maxNow is the most bytes of a file that are looked at.
const maxNow = 4 << 20

// readNow returns a file as it is, nil if there is none. It opens nothing that
// waits for a writer.
func readNow(name string) ([]byte, error) {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxNow))
	if text == nil {
		text = []byte{}
	}
	return text, err
}

// has reports whether a file that was read so far has a line.
func has(now []byte, line int) bool {
	for range bytes.Lines(now) {
		line--
	}
	return line <= 0 || len(now) == maxNow
}

// why returns the turns that wrote the lines.
func (r *recalling) why(at spotted) ([]recall.Entry, error) {
	request := blame.Request{Path: at.path}
	if at.lines != (recall.Lines{}) {
		request.Ranges = []string{fmt.Sprintf("%d,%d", at.lines.First, at.lines.Last)}
	}
	lines, err := r.history.Blame(r.ctx, request)
	if err != nil {
		return nil, err
	}
	var list []recall.Entry
	for _, g := range groups(lines) {
		if g[0].Turn != nil {
			list = append(list, recall.Wrote(g[0].Turn, numbers(g)))
		}
	}
	return list, nil
}

// spoken returns the handoffs that speak of a file, by its path or its name.
func (r *recalling) spoken(file string) (list []recall.Entry, err error) {
	query, err := search.Words([]string{path.Base(file)})
	if err != nil {
		return nil, nil
	}
	err = handoffstore.Search(r.ctx, r.w, r.past.HandedOff(), query, time.Time{}, func(_ time.Time, h *handoffstore.Hit) error {
		if h == nil {
			return nil
		}
		for _, l := range h.Lines {
			if speaksOf(l, file) {
				list = append(list, recall.Entry{
					Kind: recall.Handoff, Name: record.TurnID{Mission: h.In, Turn: h.Number}.String(), At: h.At, Said: cmdline.OneLine(l.Text),
				})
				break
			}
		}
		return nil
	})
	if errors.As(err, new(*ledger.UnreadError)) {
		err = nil // the others have said so
	}
	return list, err
}

// speaksOf reports whether a line that has a file's name means the file, and none
// of another directory.
func speaksOf(l search.Line, file string) bool {
	for _, span := range l.Spans {
		dirs := l.Text[strings.LastIndexAny(l.Text[:span[0]], " \t`'\"(<[*:,")+1 : span[0]]
		if strings.HasSuffix("/"+strings.TrimSuffix(file, path.Base(file)), "/"+strings.TrimPrefix(dirs, "./")) {
			return true
		}
	}
	return false
}

func printRecalled(c *cli.Context, at spotted, entries []recall.Entry, left int) error {
	out := c.App.Writer
	if c.Bool("json") {
		lines := ""
		if at.lines != (recall.Lines{}) {
			lines = strings.TrimPrefix(at.String(), at.path+":")
		}
		return cmdline.PrintJSON(out, struct {
			Path    string         `json:"path"`
			Lines   string         `json:"lines,omitempty"`
			Entries []recall.Entry `json:"entries"`
			Left    int            `json:"left"`
		}{at.path, lines, append([]recall.Entry{}, entries...), left})
	}
	if _, err := fmt.Fprintln(out, cmdline.OneLine(at.String())); err != nil {
		return err
	}
	for _, e := range entries {
		fmt.Fprintf(out, "  %s\n", e.Head())
		for _, t := range e.Texts() {
			fmt.Fprintf(out, "    %s: %s\n", t[0], t[1])
		}
	}
	if left > 0 {
		fmt.Fprintf(out, "  "+leftOut, left)
	}
	return nil
}
