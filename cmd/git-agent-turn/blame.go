package main

import (
	"bufio"
	"cmp"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"gitagent/internal/blame"
	"gitagent/internal/cmdline"
	"gitagent/internal/command"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/turns"
)

func blameCommand() *cli.Command {
	return &cli.Command{
		Name:  "blame",
		Usage: "show which turn, or else which commit, each line of a file comes from",
		UsageText: "git agent-turn blame [-L <range>]... [-w] [-M] [-C]... [--porcelain | --json]\n" +
			"                     [<rev>] [--] <file>",
		Description: "The lines are those of the worktree, or of a commit, which may be named as a turn's. " +
			"A line that a turn wrote names it, its agent and its prompt, also after the commit was amended, squashed or rebased; all others are git blame's.",
		Flags: []cli.Flag{
			cmdline.Repeated(&cli.StringSliceFlag{Name: "L", Usage: "only these lines: `<range>` as for git blame; may be repeated"}),
			&cli.BoolFlag{Name: "w", Usage: "changes of white space are none"},
			&cli.BoolFlag{Name: "M", Usage: "follow lines that were moved within the file"},
			&cli.BoolFlag{Name: "C", Count: new(int), Usage: "and from files that changed in the same commit; more often, from others"},
			&cli.BoolFlag{Name: "porcelain", Aliases: []string{"p"}, Usage: "print what git blame --porcelain does, and the turns"},
			command.JSONFlag(),
		},
		BashComplete: completeBlame,
		Action:       command.Paged(cmdline.WithPaths(printBlame)),
	}
}

// completeBlame proposes turns if a turn's name may begin so, otherwise files.
func completeBlame(c *cli.Context) {
	typed := cmdline.Typed(c.Context)
	head, _, _ := strings.Cut(typed, "/")
	_, missing := os.Lstat(head)
	switch {
	case c.NArg() == 0 && missing != nil && (record.IsPrefix(head) || head != "" && strings.Trim(head, "0123456789^") == ""):
		command.CompleteTurns(c)
	case c.NArg() < 2:
		cmdline.ProposeFiles(c)
	}
}

func printBlame(c *cli.Context) error {
	if c.Bool("porcelain") && c.Bool("json") {
		return cmdline.Usagef("--porcelain and --json exclude each other")
	}
	rev, file, err := blamed(c.Args().Slice(), cmdline.Paths(c))
	if err != nil {
		return err
	}
	debug.SetGCPercent(400) // the process is short-lived, and reads each version of the file once
	q, err := newInquiry(c, rev, file)
	if err != nil {
		return err
	}
	defer q.close()
	var options []string
	for _, name := range []string{"w", "M", "C"} {
		options = append(options, slices.Repeat([]string{"-" + name}, c.Count(name))...)
	}
	answer, err := q.ask(c.StringSlice("L"), options)
	if err != nil {
		return err
	}
	defer answer.Close()
	out := bufio.NewWriter(c.App.Writer)
	switch {
	case c.Bool("json"):
		err = answer.Each(q.c.Context, func(_ int, l blame.Line) error { return printBlamed(out, l) })
	case c.Bool("porcelain"):
		err = cmdline.Print(c.App.Writer, func(to io.Writer) error { return q.porcelain(to, answer) })
	default:
		err = q.annotate(out, answer)
	}
	return cmp.Or(err, out.Flush(), q.rest(answer.Runs))
}

// blamed reads the words before and after "--": a file, perhaps after a rev.
func blamed(args, dashed []string) (rev, file string, err error) {
	words := slices.Concat(args, dashed)
	switch {
	case len(words) == 0:
		return "", "", cmdline.Usagef("blame needs a file")
	case len(words) > 2, len(dashed) > 1:
		return "", "", cmdline.Hint(cmdline.Usagef("blame takes one file, perhaps after a commit or a turn, not %d names", len(words)), "quote a name that has blanks")
	case len(words) == 2:
		rev = words[0]
	}
	if file = words[len(words)-1]; file == "" || len(words) == 2 && rev == "" {
		return "", "", cmdline.Usagef("an empty name names nothing")
	}
	if strings.Contains(rev, "..") {
		return "", "", cmdline.Usagef("%q is a range, and blame takes one commit or turn", rev)
	}
	return rev, file, nil
}

// A blamedLine is a line of blame --json.
type blamedLine struct {
	Line       int           `json:"line"`
	Text       string        `json:"text"`
	Commit     object.Hash   `json:"commit,omitzero"` // zero if the line is not committed
	Path       string        `json:"path"`            // of the file in the commit
	OrigLine   int           `json:"orig_line"`       // the line's number there
	Author     string        `json:"author,omitempty"`
	At         time.Time     `json:"at,omitzero"`
	Summary    string        `json:"summary,omitempty"`
	Turn       *blamedTurn   `json:"turn,omitempty"`
	Confidence string        `json:"confidence,omitempty"`
	Others     []*blamedTurn `json:"others,omitempty"`
	Running    string        `json:"running,omitempty"` // the running turn that may have written it
}

// A blamedTurn describes a turn with each of its lines.
type blamedTurn struct {
	Mission record.ID `json:"mission"`
	Turn    int       `json:"turn"`
	At      time.Time `json:"at"`
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model,omitempty"`
	Prompt  string    `json:"prompt,omitempty"`
}

func asBlamed(t *turns.Turn) *blamedTurn {
	return &blamedTurn{t.In(), t.Turn, t.At, t.Agent, t.Model, t.Prompt}
}

func confidence(unsure bool) string {
	if unsure {
		return "several"
	}
	return "one"
}

// printBlamed prints a line as JSON.
func printBlamed(out *bufio.Writer, l blame.Line) error {
	object := blamedLine{Line: l.Blame.Number, Text: l.Text, Commit: l.Blame.Commit, Path: l.Blame.Path, OrigLine: l.Blame.Line}
	if !l.Blame.Commit.IsZero() {
		object.Author, object.At, object.Summary = l.Blame.In.Author, l.Blame.In.At, l.Blame.In.Summary
	}
	if l.Turn != nil {
		object.Turn, object.Confidence = asBlamed(l.Turn), confidence(l.Unsure)
	}
	if l.Running != nil {
		object.Running = l.Running.ID().String()
	}
	for _, t := range l.Others {
		object.Others = append(object.Others, asBlamed(t))
	}
	return cmdline.PrintJSON(out, object)
}
