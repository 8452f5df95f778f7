package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/places"
)

// EverywhereFlag returns the flag of commands that also work on all repositories
// of this user: see [Everywhere].
func EverywhereFlag() cli.Flag {
	return &cli.BoolFlag{Name: everywhere, Usage: "in all repositories that this user's turns are recorded in"}
}

const everywhere = "everywhere"

// atOnce bounds how many repositories are read at once: each has git processes.
func atOnce() int { return min(2*runtime.GOMAXPROCS(0), 8) }

// Everywhere returns the action of a command with [EverywhereFlag]: with it, one
// runs in each repository that this user's turns are recorded in. Several are
// read at once, but what they print comes in the list's order, below a heading
// or, with --json, with the field repository. A repository that git does not
// trust is named and left out; one that fails does not stop the others. That
// nothing is there is an error only if it is so in all of them.
func Everywhere(one cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error {
		if !c.Bool(everywhere) {
			return one(c)
		}
		list, err := places.Of(os.Getenv).Repositories()
		if err != nil {
			cmdline.Warn(err) // the others can be read
		}
		if len(list) == 0 {
			return cmdline.Hint(cmdline.NotFoundf("no repository is known that turns are recorded in"), "they are noted as sessions begin there, and by: git agent-turn init")
		}
		ctx, cancel := context.WithCancel(c.Context)
		defer cancel()
		s := &sweep{c: c, one: one, ends: make([]chan error, len(list))}
		s.progress = cmdline.StartProgress(c.App.ErrWriter, func() string {
			waits := list[min(int(s.ended.Load()), len(list)-1)]
			return cmdline.OneLine(fmt.Sprintf("%d of %s, waiting for %s", s.done.Load(), cmdline.Plural(len(list), "repository"), git.DirOf(waits)))
		})
		defer s.progress.Stop()
		slots := make(chan struct{}, atOnce())
		turn := make(chan struct{}) // of the first to print
		close(turn)
		var running sync.WaitGroup
		for i := range list {
			s.ends[i] = make(chan error, 1)
		}
		running.Go(func() { // in the list's order, so that whose turn it is always runs
			before := turn
			for i, common := range list {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					s.ends[i] <- ctx.Err()
					continue
				}
				out, own := &inTurn{sweep: s, ctx: ctx, turn: before, place: git.DirOf(common)}, make(chan struct{})
				before = own
				running.Go(func() {
					err := s.in(ctx, common, out)
					if e := out.wait(); e == nil {
						out.talked()
					}
					s.done.Add(1)
					s.ends[i] <- err
					close(own)
					<-slots
				})
			}
		})
		err = s.end(list)
		cancel()
		running.Wait()
		return err
	}
}

// A sweep is a command that runs in several repositories.
type sweep struct {
	c        *cli.Context
	one      cli.ActionFunc
	progress *cmdline.Progress
	done     atomic.Int64
	ended    atomic.Int64 // how many of the first have ended: what is printed waits for the next
	ends     []chan error // how it ended in each
	printed  int          // pieces of output, by whose turn it is
}

// end reports how the command ended in each repository, in order.
func (s *sweep) end(list []string) error {
	found, failed := false, 0
	var nothing error
	for i, common := range list {
		s.ended.Store(int64(i))
		err := <-s.ends[i]
		switch {
		case err == nil:
			found = true
		case errors.Is(err, errPrinted):
			return nil
		case errors.As(err, new(*writeError)):
			return err
		case s.c.Context.Err() != nil:
			return err
		case errors.Is(err, errUnused):
		case errors.As(err, new(*leftOutError)):
			s.progress.Stop()
			cmdline.Warn(err)
		case cmdline.IsNotFound(err):
			nothing = err
		case cmdline.IsUsage(err):
			return err // it is wrong in each
		default:
			s.progress.Stop()
			cmdline.Warn(fmt.Errorf("in %s: %w", git.DirOf(common), err))
			failed++
		}
	}
	switch {
	case failed > 0:
		return fmt.Errorf("%d of %s could not be read", failed, cmdline.Plural(len(list), "repository"))
	case !found && nothing != nil:
		return cmdline.NotFoundf("in %s: %v", cmdline.Plural(len(list), "repository"), nothing)
	case !found:
		return cmdline.NotFoundf("nothing was found in %s", cmdline.Plural(len(list), "repository"))
	}
	return nil
}

// A leftOutError is why git would not work in a repository.
type leftOutError struct{ error }

// errUnused reports a repository in which nothing has been recorded.
var errUnused = errors.New("nothing is recorded")

// A writeError is why nothing more can be printed.
type writeError struct{ error }

func (e *writeError) Unwrap() error { return e.error }

func (e *leftOutError) Unwrap() error { return e.error }

// in runs the command in the repository with a common directory.
func (s *sweep) in(ctx context.Context, common string, out *inTurn) error {
	repo, err := git.OpenCommon(ctx, common)
	if err != nil {
		return &leftOutError{fmt.Errorf("%s was left out: %s", git.DirOf(common), cmdline.OneLine(err.Error()))}
	}
	if !repo.MayHave("refs/agent/") { // what git would take ten times as long for
		return errUnused
	}
	conf, err := repo.Config(ctx)
	if err != nil {
		return err
	}
	app := *s.c.App
	app.Writer = &cmdline.Screen{Writer: out, Columns: cmdline.Columns(s.c.App.Writer), Colour: cmdline.Colour(s.c.App.Writer)}
	app.ErrWriter = &out.talk
	inner := cmdline.WithArgs(s.c, s.c.Args().Slice())
	inner.App = &app
	inner.Context = context.WithValue(ctx, openedKey{}, opened{repo, conf})
	return s.one(inner)
}

// An inTurn is where the command prints in one repository. The first output waits
// until those before have ended, so no more than it is held in memory.
type inTurn struct {
	*sweep
	ctx   context.Context
	turn  <-chan struct{} // closed when it may print
	place string
	begun bool
	talk  bytes.Buffer // for standard error
}

func (o *inTurn) wait() error {
	select {
	case <-o.turn:
		return nil
	case <-o.ctx.Done():
		return o.ctx.Err()
	}
}

// talked prints what the command said on standard error.
func (o *inTurn) talked() {
	if o.talk.Len() > 0 {
		o.progress.Stop()
		_, _ = io.Copy(o.c.App.ErrWriter, &o.talk)
	}
}

// Write takes a piece of text or, with --json, one object.
func (o *inTurn) Write(text []byte) (int, error) {
	if err := o.wait(); err != nil {
		return 0, err
	}
	most := o.c.Int("max-count") // for a command with that flag, of which each result is a piece
	if most > 0 && o.printed == most {
		return 0, errPrinted
	}
	o.progress.Stop()
	out := text
	switch {
	case o.c.Bool("json"):
		place, err := json.Marshal(o.place)
		if err != nil {
			return 0, err
		}
		out = append(append(append([]byte(`{"repository":`), cmdline.JSON(place)...), ','), bytes.TrimPrefix(text, []byte("{"))...)
	case !o.begun:
		heading := cmdline.Escape(o.place) + "\n"
		if o.printed > 0 {
			heading = "\n" + heading
		}
		out = append([]byte(heading), text...)
	}
	o.begun = true
	if _, err := o.c.App.Writer.Write(out); err != nil {
		return 0, &writeError{err}
	}
	if o.printed++; o.printed == most {
		return len(text), errPrinted
	}
	return len(text), nil
}

// errPrinted ends a command in all repositories, as all that was asked for is
// printed.
var errPrinted = errors.New("enough")
