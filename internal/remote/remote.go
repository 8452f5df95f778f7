package remote

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// A Remote is a remote by its name in git's configuration, never by a URL,
// because git would rewrite that once more.
type Remote struct {
	Name  string
	URLs  []string // what `git push` sends to
	Level Consent  // what may be sent to every one of them
	// Progress receives git's own progress, for a terminal; nil for none.
	Progress io.Writer
	// AcceptPurges are missions whose purges are accepted, whoever signed them.
	AcceptPurges []record.ID

	Workspace *workspace.Workspace
	Repo      *git.Repo // with the environment that git needs
	Sources   []string  // the remote, or its push URLs if they differ from its fetch URL
	conf      git.Config
}

// Open looks up a remote. The error wraps [git.ErrNotFound] if there is none.
func Open(ctx context.Context, w *workspace.Workspace, name string) (*Remote, error) {
	conf, err := w.Repo.Config(ctx)
	if err != nil {
		return nil, err
	}
	return open(ctx, w, conf, name)
}

func open(ctx context.Context, w *workspace.Workspace, conf git.Config, name string) (*Remote, error) {
	if strings.Contains(name, "=") {
		return nil, fmt.Errorf("remote %q: its name has a =, so that nothing can be said about it on a command line", name)
	}
	push, err := urls(ctx, w.Repo, name, "--push", "--all")
	if err != nil {
		return nil, err
	}
	fetch, err := urls(ctx, w.Repo, name)
	if err != nil {
		return nil, err
	}
	sources := []string{name}
	if !slices.Equal(push, fetch) {
		sources = push
	}
	return &Remote{
		Name: name, URLs: push, Level: consent(conf, push), Sources: sources,
		Workspace: w, Repo: w.Repo.With(git.Env(environ(conf)...)), conf: conf,
	}, nil
}

// Named returns a remote that only has its name, for what is left of one that
// may be gone.
func Named(w *workspace.Workspace, name string) *Remote {
	return &Remote{Name: name, Workspace: w, Repo: w.Repo}
}

// Names lists the remotes of the repository in order.
func Names(ctx context.Context, repo *git.Repo) ([]string, error) {
	out, err := repo.Output(ctx, nil, "remote")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil // git allows no blanks in them
}

// Usual returns the remote that is meant: origin, or else the only one, or "".
func Usual(names []string) string {
	switch {
	case slices.Contains(names, "origin"):
		return "origin"
	case len(names) == 1:
		return names[0]
	}
	return ""
}

// Consenting returns the remotes that the user agreed to send to. It runs no
// git if no URL was ever named.
func Consenting(ctx context.Context, w *workspace.Workspace, conf git.Config) ([]*Remote, error) {
	if !consented(conf) {
		return nil, nil
	}
	names, err := Names(ctx, w.Repo)
	if err != nil {
		return nil, err
	}
	var list []*Remote
	for _, name := range slices.DeleteFunc(names, func(name string) bool { return strings.Contains(name, "=") }) {
		r, err := open(ctx, w, conf, name)
		if err != nil {
			return nil, err
		}
		if r.Level != "" {
			list = append(list, r)
		}
	}
	return list, nil
}

// Lock waits for our other processes that do the same ("push") with the remote.
func (r *Remote) Lock(ctx context.Context, what string) (*statedir.Lock, error) {
	return r.Workspace.Store.Lock(ctx, what+"-"+Escape(r.Name))
}
