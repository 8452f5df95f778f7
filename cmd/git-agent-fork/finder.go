package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/ktr0731/go-fuzzyfinder"
	"github.com/mattn/go-runewidth"
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/ledger"
	"gitagent/internal/target"
	"gitagent/turns"
)

// A finder lets a person pick a turn. It is filled while it is on the screen.
type finder struct {
	repo *git.Repo
	now  time.Time
	all  bool

	mu      sync.Mutex
	list    []*turns.Turn // newest first
	err     error
	shown   map[int]string // previews by index in list, for a terminal of columns
	columns int
}

// find picks a turn of the mission here, or of all missions if there is no current one.
func find(c *cli.Context, repo *git.Repo, here ledger.ID) (*turns.Turn, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	term := os.Getenv("TERM")
	if err != nil || term == "" || term == "dumb" {
		return nil, cmdline.Hint(cmdline.Usagef("choosing a turn needs a terminal"),
			"name the turn: git agent-fork <turn>, <mission>/<turn> or latest; list them with: git agent-turn list --all")
	}
	_ = tty.Close()
	f := &finder{repo: repo, now: time.Now(), all: here == "", shown: make(map[int]string)}
	missions := []ledger.ID{here}
	if f.all {
		lines, err := turns.Missions(c.Context, repo)
		if err != nil && !errors.As(err, new(*ledger.UnreadError)) {
			return nil, err
		}
		missions = missions[:0]
		for _, m := range lines {
			missions = append(missions, m.ID)
		}
	}
	if len(missions) == 0 {
		return nil, target.NoMission()
	}
	return f.pick(c.Context, missions)
}

// pick shows the finder. Reading 10,000 records takes longer than a person should wait for the
// first line, so they are read, newest first, while the finder is already on the screen.
func (f *finder) pick(ctx context.Context, missions []ledger.ID) (*turns.Turn, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan struct{})
	go f.fill(ctx, missions, first)
	<-first
	f.mu.Lock()
	empty, err := len(f.list) == 0, f.err
	f.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if empty {
		return nil, target.NoMission()
	}
	i, err := fuzzyfinder.Find(&f.list, f.line,
		fuzzyfinder.WithHotReloadLock(&f.mu),
		fuzzyfinder.WithPreviewWindow(f.preview),
		fuzzyfinder.WithContext(ctx),
	)
	if errors.Is(err, fuzzyfinder.ErrAbort) {
		return nil, errors.New("no turn was chosen")
	}
	if err != nil {
		return nil, fmt.Errorf("choose a turn: %w", err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return nil, f.err
	}
	return f.list[i], nil
}

// fill reads the turns and closes first when there is something to show.
func (f *finder) fill(ctx context.Context, missions []ledger.ID, first chan struct{}) {
	ready := sync.OnceFunc(func() { close(first) })
	defer ready()
	size := 0
	for _, id := range missions {
		n := 0
		err := turns.Each(ctx, f.repo, id, func(t *turns.Turn) error {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.list, size = append(f.list, t), size+t.Size()
			if len(f.list) == maxListed || size > maxSize {
				return errEnough
			}
			if n++; n == atFirst {
				ready()
			}
			return nil
		})
		if errors.Is(err, errEnough) {
			return
		}
		f.mu.Lock()
		if err != nil && ctx.Err() == nil && len(f.list) == 0 {
			f.err = err
		}
		f.mu.Unlock()
		if len(missions) > 1 && n > 0 {
			ready()
		}
	}
}

// The finder is shown when it has so many turns, and takes no more than so many, or of so many bytes:
// nobody looks through more.
const (
	atFirst   = 200
	maxListed = 50_000
	maxSize   = 64 << 20
)

// errEnough ends the reading of turns.
var errEnough = errors.New("enough")

// line is a turn's line, which is shown and searched: `turn age +47 -12 paths prompt`. The library
// calls it with its lock held.
func (f *finder) line(i int) string {
	t := f.list[i]
	name := strconv.Itoa(t.Turn)
	if f.all {
		name = t.ID().String()
	}
	paths := ""
	if len(t.Paths) > 0 {
		paths = cmdline.OneLine(t.Paths[0])
		if t.Files > 1 {
			paths += fmt.Sprintf(" +%d", t.Files-1)
		}
	}
	outcome := ""
	if t.Outcome != turns.Done {
		outcome = "(" + cmdline.OneLine(string(t.Outcome)) + ") "
	}
	return fmt.Sprintf("%5s %4s  +%d -%d  %s  %s%s", name, cmdline.Age(f.now, t.At), t.Insertions, t.Deletions, paths, outcome, cmdline.OneLine(t.Prompt))
}

// preview is a turn's whole prompt, reply, tools and changes, for the right half of a terminal of
// so many columns. It is made once for each turn, as the library asks for it at every keystroke.
func (f *finder) preview(i, columns, _ int) string {
	if i < 0 {
		return ""
	}
	if columns != f.columns {
		f.columns = columns
		clear(f.shown)
	}
	if _, ok := f.shown[i]; !ok {
		f.shown[i] = wrap(f.describe(f.list[i]), columns-columns/2-5) // the frame, and a column that the library keeps for ".."
	}
	return f.shown[i]
}

func (f *finder) describe(t *turns.Turn) string {
	var b strings.Builder
	fmt.Fprintf(&b, "turn %s  %s\n%s\n", t.ID(), cmdline.OneLine(string(t.Outcome)), t.At.Local().Format(time.RFC1123))
	if t.Model != "" {
		fmt.Fprintf(&b, "%s\n", cmdline.OneLine(t.Model))
	}
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n%s\n", title, strings.TrimSpace(cmdline.EscapeLines(text)))
		}
	}
	section("Prompt", turns.Prompt(context.Background(), f.repo, t))
	section("Reply", t.Reply)
	var tools []string
	for _, name := range slices.Sorted(maps.Keys(t.Tools)) {
		tools = append(tools, fmt.Sprintf("%s %d", cmdline.OneLine(name), t.Tools[name]))
	}
	section("Tools", strings.Join(tools, ", "))
	if t.Files > 0 {
		fmt.Fprintf(&b, "\n%s, +%d -%d\n", cmdline.Plural(t.Files, "file"), t.Insertions, t.Deletions)
		for _, p := range t.Paths {
			fmt.Fprintf(&b, "  %s\n", cmdline.OneLine(p))
		}
	}
	return b.String()
}

// wrap breaks lines so that none is wider than columns, at a blank if there is one.
func wrap(text string, columns int) string {
	columns = max(columns, 2) // a wide character has two
	var b strings.Builder
	for line := range strings.Lines(strings.ReplaceAll(text, "\t", "    ")) {
		line = strings.TrimSuffix(line, "\n")
		for runewidth.StringWidth(line) > columns {
			at, blank, width := 0, 0, 0
			for i, r := range line {
				width += runewidth.RuneWidth(r)
				if width > columns {
					break
				}
				at = i + utf8.RuneLen(r)
				if r == ' ' {
					blank = at
				}
			}
			if blank > 0 {
				at = blank
			}
			b.WriteString(strings.TrimRight(line[:at], " ") + "\n")
			line = line[at:]
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
