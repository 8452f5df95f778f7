package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"

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
// where Enter picks it.
type finder struct {
	repo    *git.Repo
	verb    string // what is done with the turn
	all     bool   // turns of any mission
	now     time.Time
	columns int  // of the terminal
	colour  bool // colours may be used

	mu    sync.Mutex
	lines []string // newest first
	turns []*turns.Turn
	err   error

	previews map[int][]row // of the turns that were shown, for width columns
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
		repo: repo, verb: verb, all: all, now: time.Now(), colour: cmdline.Colourful(), previews: make(map[int][]row),
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
	err = f.show(ctx, read, func(ctx context.Context, screen tcell.Screen) error {
		l := &picker{f: f, screen: screen, label: "Enter: look at it"}
		if f.columns >= wide {
			l.label = "Enter: " + f.verb
		}
		for {
			picked, err := l.run(ctx)
			if err != nil {
				return err
			}
			t = f.turn(picked[0])
			if f.columns >= wide {
				return nil
			}
			if taken, err := f.page(ctx, screen, t); taken || err != nil {
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
func (f *finder) show(ctx context.Context, read reader, choice func(context.Context, tcell.Screen) error) error {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("choose a turn: %w", err)
	}
	f.columns = cmdline.Columns(tty)
	_ = tty.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := make(chan struct{})
	go f.fill(ctx, read, first)
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
	screen, colours, err := newScreen(os.Getenv("TERM"))
	if err != nil {
		return fmt.Errorf("choose a turn: %w", err)
	}
	f.colour = f.colour && colours
	defer screen.Fini()
	shown, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // or the terminal would stay as the finder needs it
	defer stop()
	err = choice(shown, screen)
	if shown.Err() != nil && ctx.Err() == nil {
		return errors.New("choose a turn: the terminal has hung up")
	}
	return err
}

// read returns the lines that have been read. They don't change.
func (f *finder) read() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.lines
}

// turn returns the turn of a line.
func (f *finder) turn(i int) *turns.Turn {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.turns[i]
}

// fill reads turns, and closes first when there is something to show.
func (f *finder) fill(ctx context.Context, read reader, first chan struct{}) {
	ready := sync.OnceFunc(func() { close(first) })
	defer ready()
	size := 0
	err := read(ctx, func(t *turns.Turn) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.turns, f.lines, size = append(f.turns, t), append(f.lines, f.line(t)), size+t.Text.Size()
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
