package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"time"

	"github.com/ktr0731/go-fuzzyfinder"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/terminal"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// A finder lets a person pick a turn. It is filled while it is on the screen.
//
// A wide terminal shows a preview of the turn beside the list, and Enter picks
// it. A narrow one shows the list, and Enter opens the turn on its own page,
// where Enter picks it: the library has one place for the preview, and no key
// of ours.
type finder struct {
	repo    *git.Repo
	verb    string // what is done with the turn
	all     bool   // turns of any mission
	now     time.Time
	columns int  // of the terminal
	colour  bool // colours may be used

	mu    sync.Mutex // held by the library while it reads lines
	lines []string   // newest first
	err   error

	// Previews are made with the library's lock held, so they have their own.
	shown    sync.Mutex
	turns    []*turns.Turn  // of the lines
	rows     map[int][]row  // of the turns that were shown
	previews map[int]string // the same, for width columns
	width    int
}

// errNone reports that the person left the finder without a turn.
var errNone = errors.New("no turn was chosen")

// errEmpty reports that there is no turn to choose.
var errEmpty = errors.New("there is no turn to choose")

// wide is the least width of a terminal with a preview beside the list.
const wide = 100

func newFinder(repo *git.Repo, verb string, all bool) *finder {
	return &finder{
		repo: repo, verb: verb, all: all, now: time.Now(), colour: cmdline.Colourful(),
		rows: make(map[int][]row), previews: make(map[int]string),
	}
}

// A reader calls a function with turns, the newest first.
type reader func(context.Context, func(*turns.Turn) error) error

// ofMission reads the turns of a mission, or of all if id is empty.
func ofMission(w *workspace.Workspace, id record.ID) reader {
	return func(ctx context.Context, f func(*turns.Turn) error) error {
		if id == "" {
			return turns.EachOfAll(ctx, w, f)
		}
		return turns.Each(ctx, w.Repo, id, f)
	}
}

func ofNames(w *workspace.Workspace, lines io.Reader) reader {
	return func(ctx context.Context, f func(*turns.Turn) error) error {
		names, any := bufio.NewScanner(lines), false
		for ; names.Scan(); any = true {
			s, err := turns.Find(ctx, w, "", names.Text())
			if err == nil && s.Turn != nil {
				err = f(s.Turn)
			}
			if err != nil {
				return err
			}
		}
		if !any && names.Err() == nil {
			return errNone
		}
		return names.Err()
	}
}

func (f *finder) find(ctx context.Context, read reader) (t *turns.Turn, err error) {
	if !terminal.HasScreen() {
		return nil, cmdline.Hint(cmdline.Usagef("choosing a turn needs a terminal"),
			"name the turn: git agent-fork <turn>, <mission>/<turn> or latest; list them with: git agent-turn list --all")
	}
	err = f.show(ctx, read, func(ctx context.Context) error {
		for {
			if t, err = f.pick(ctx); err != nil || f.columns >= wide {
				return err
			}
			if taken, err := f.page(ctx, t); taken || err != nil {
				return err
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return t, nil
}

// show fills the finder for a choice. Turns are read while it is on the screen,
// since 10,000 records take longer than a person should wait.
func (f *finder) show(ctx context.Context, read reader, choice func(context.Context) error) error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("choose a turn: %w", err)
	}
	f.columns = cmdline.Columns(tty)
	_ = tty.Close()
	if err := adaptLook(os.Getenv("TERM"), f.colour); err != nil {
		return fmt.Errorf("choose a turn: %w", err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// When the library closes the screen, a draw of its own may be under way on
	// another processor, and tcell then takes the cells from under it: a panic,
	// seen once in all runs of the tests. On one processor they take turns.
	// Reading needs the others until it ends.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	first := make(chan struct{})
	go func() {
		f.fill(ctx, read, first)
		if ctx.Err() == nil {
			runtime.GOMAXPROCS(1)
		}
	}()
	<-first
	f.mu.Lock()
	empty, err := len(f.lines) == 0, f.err
	f.mu.Unlock()
	if err != nil {
		return err
	}
	if empty {
		return errEmpty
	}
	return choice(ctx)
}

func (f *finder) pick(ctx context.Context) (*turns.Turn, error) {
	prompt := "Enter: look at it > "
	if f.columns >= wide {
		prompt = fmt.Sprintf("Enter: %s > ", f.verb)
	}
	i, err := fuzzyfinder.Find(&f.lines, f.item, f.options(ctx, prompt)...)
	if err != nil {
		return nil, unchosen(err)
	}
	f.shown.Lock()
	defer f.shown.Unlock()
	return f.turns[i], nil
}

func (f *finder) item(i int) string { return f.lines[i] }

func (f *finder) options(ctx context.Context, prompt string) []fuzzyfinder.Option {
	// The library's header would cover a line that the cursor can be on.
	options := []fuzzyfinder.Option{fuzzyfinder.WithHotReloadLock(&f.mu), fuzzyfinder.WithContext(ctx), fuzzyfinder.WithPromptString(prompt)}
	if f.columns >= wide {
		options = append(options, fuzzyfinder.WithPreviewWindow(func(i, columns, _ int) string { return f.preview(ctx, i, columns) }))
	}
	return options
}

// unchosen translates an error of the library.
func unchosen(err error) error {
	if errors.Is(err, fuzzyfinder.ErrAbort) {
		return errNone
	}
	return fmt.Errorf("choose a turn: %w", err)
}

// fill reads turns, and closes first when there is something to show.
func (f *finder) fill(ctx context.Context, read reader, first chan struct{}) {
	ready := sync.OnceFunc(func() { close(first) })
	defer ready()
	size := 0
	err := read(ctx, func(t *turns.Turn) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.shown.Lock()
		f.turns = append(f.turns, t)
		f.shown.Unlock()
		f.lines, size = append(f.lines, f.line(t)), size+t.Text.Size()
		if len(f.lines) == maxListed || size > maxSize {
			return errEnough
		}
		if len(f.lines) == atFirst {
			ready()
		}
		return nil
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil && ctx.Err() == nil && len(f.lines) == 0 {
		f.err = err
	}
}

// The finder appears with atFirst turns, and takes at most maxListed turns or
// maxSize bytes, more than people read.
const (
	atFirst   = 200
	maxListed = 50_000
	maxSize   = 64 << 20
)

var errEnough = errors.New("enough")
