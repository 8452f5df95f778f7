package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/session"
)

// A Remote is one remote of a repository, by the name that it has in git's configuration.
// It is never addressed by a URL: git would rewrite that once more.
type Remote struct {
	Name  string
	URLs  []string // what `git push` sends to
	Level Level    // what may be sent to all of them
	// Progress gets git's own progress, for a terminal; nil for none.
	Progress io.Writer

	repo    *git.Repo
	prefix  string   // of the branches of missions
	sources []string // where what was pushed is found again: the remote itself, or its push URLs if they are others than what it fetches from
	store   session.Store
	conf    git.Config
}

// Open looks a remote up. prefix is that of the branches of missions.
// If there is none of that name, the error wraps [git.ErrNotFound].
func Open(ctx context.Context, repo *git.Repo, name, prefix string) (*Remote, error) {
	conf, err := repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	return open(ctx, repo, conf, name, prefix)
}

func open(ctx context.Context, repo *git.Repo, conf git.Config, name, prefix string) (*Remote, error) {
	if strings.Contains(name, "=") {
		return nil, fmt.Errorf("remote %q: its name has a =, so that nothing can be said about it on a command line", name)
	}
	push, err := urls(ctx, repo, name, "--push", "--all")
	if err != nil {
		return nil, err
	}
	fetch, err := urls(ctx, repo, name)
	if err != nil {
		return nil, err
	}
	sources := []string{name}
	if !slices.Equal(push, fetch) {
		sources = push
	}
	return &Remote{
		Name: name, URLs: push, Level: consent(conf, push), sources: sources,
		repo: repo.With(environ(conf)...), prefix: prefix, store: session.Open(repo.CommonDir), conf: conf,
	}, nil
}

// Names lists the remotes of the repository, in order.
func Names(ctx context.Context, repo *git.Repo) ([]string, error) {
	out, err := repo.Output(ctx, nil, "remote")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil // git allows no blanks in them
}

// Consenting returns the remotes that something may be sent to. It costs nothing where no URL was ever named.
func Consenting(ctx context.Context, repo *git.Repo, conf git.Config, prefix string) ([]*Remote, error) {
	if !Consented(conf) {
		return nil, nil
	}
	names, err := Names(ctx, repo)
	if err != nil {
		return nil, err
	}
	var list []*Remote
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "=") }) {
		r, err := open(ctx, repo, conf, name, prefix)
		if err != nil {
			return nil, err
		}
		if r.Level != "" {
			list = append(list, r)
		}
	}
	return list, nil
}

// lock waits until nobody else pushes to, or fetches from, the remote.
func (r *Remote) lock(ctx context.Context, what string) (release func(), err error) {
	return r.store.Lock(ctx, what+"-"+escape(r.Name))
}

// tryLock takes a lock if it is free; release is nil if it is not.
func (r *Remote) tryLock(ctx context.Context, what string) (release func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	release, err = r.lock(ctx, what)
	if errors.Is(err, context.Canceled) {
		return nil, nil
	}
	return release, err
}
