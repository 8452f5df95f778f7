package remote

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
	"gitagent/internal/workspace"
)

// A Remote is a remote by its name in git's configuration, never by a URL,
// because git would rewrite that once more.
type Remote struct {
	Name  string
	URLs  []string // what `git push` sends to; see [Remote.Each]
	Level Consent  // what may be sent to every one of them
	// Progress receives git's own progress, for a terminal; nil for none.
	Progress io.Writer
	// Warn receives what is worth knowing about a push or a fetch besides its
	// outcome; nil logs it, once.
	Warn func(text string)
	// AcceptPurges are missions whose purges a person accepts, whoever signed
	// them, and however much goes.
	AcceptPurges []record.ID

	Workspace *workspace.Workspace
	Repo      *git.Repo // with the environment that git needs
	Source    string    // what has the refs that a push changes: the remote, or its push URL if that is another one than it is fetched from
	Target    string    // what a push is given: the remote, or one of its push URLs
	key       string    // names its local state
	options   []string  // of every git that reaches Target
	asks      bool      // a person may be asked for a password
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
	for _, u := range push {
		if len(push) > 1 && ambiguous(conf, u) {
			return nil, fmt.Errorf("remote %q: one of its URLs, %s, means something else to git where it stands alone, so nothing can be sent to it", name, Plain(u))
		}
	}
	asks := cmdline.CanAsk()
	r := &Remote{
		Name: name, URLs: push, Level: consent(conf, push), Source: name, Target: name, key: Escape(name),
		Workspace: w, Repo: w.Repo.With(git.Env(environ(conf, asks)...)), asks: asks, conf: conf,
	}
	if !slices.Equal(push, fetch) {
		r.Source = push[0]
	}
	// Where the remote's refspec puts its refs in the place of ours, as a
	// mirror's does, a push would move ours to what it sent, and a turn that
	// ended meanwhile be lost.
	for _, refs := range []string{"refs/agent/*", record.ID("*").NotesRef(), w.Branch("*")} {
		r.options = append(r.options, "-c", "remote."+name+".fetch=^"+refs)
	}
	r.options = slices.Clip(r.options) // others add to it
	return r, nil
}

// ambiguous reports whether git would rewrite a URL once more, or take it for a
// remote's name.
func ambiguous(conf git.Config, u string) bool {
	for key, values := range conf {
		if strings.HasPrefix(key, "remote."+u+".") {
			return true
		}
		base, rewrites := strings.CutPrefix(key, "url.")
		for _, suffix := range []string{".insteadof", ".pushinsteadof"} {
			base, ok := strings.CutSuffix(base, suffix)
			if rewrites && ok && slices.ContainsFunc(values, func(prefix string) bool {
				rest, is := strings.CutPrefix(u, prefix)
				return is && base+rest != u
			}) {
				return true
			}
		}
	}
	return false
}

// Each returns the remote, or if git pushes it to several URLs, one for each of
// them. Each has its own consent and queue, and fails alone.
func (r *Remote) Each() []*Remote {
	if len(r.URLs) < 2 {
		return []*Remote{r}
	}
	var list []*Remote
	for _, u := range r.URLs {
		sum := sha256.Sum256([]byte(u))
		p := *r
		p.URLs, p.Level, p.Source, p.Target = []string{u}, consentTo(r.conf, u), u, u
		p.key = fmt.Sprintf("%s%s%x", Escape(r.Name), ofURL, sum[:6])
		p.options, p.Repo = r.reaching(u)
		list = append(list, &p)
	}
	return list
}

// ofURL is between a remote's name and a hash of the URL in a key. [Escape]
// leaves none in a name.
const ofURL = "#"

// Reopen returns the remote as it is configured now. Its level is empty if
// nothing is sent to it any more.
func (r *Remote) Reopen(ctx context.Context) (*Remote, error) {
	now, err := Open(ctx, r.Workspace, r.Name)
	if err != nil {
		return nil, err
	}
	for _, p := range now.Each() {
		if p.key == r.key {
			return p, nil
		}
	}
	gone := *r
	gone.Level = ""
	return &gone, nil
}

// String returns the remote's name, with the URL if it has several.
func (r *Remote) String() string {
	if r.Target == r.Name {
		return r.Name
	}
	return fmt.Sprintf("%s (%s)", r.Name, Plain(r.Target))
}

// Config returns git's configuration.
func (r *Remote) Config() git.Config { return r.conf }

// Named returns a remote that only has its name, for what is left of one that
// may be gone.
func Named(w *workspace.Workspace, name string) *Remote {
	return &Remote{Name: name, Source: name, Target: name, key: Escape(name), Workspace: w, Repo: w.Repo}
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

// Consenting returns the remotes that the user agreed to send to, see
// [Remote.Each]. It runs no git if no URL was ever named.
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
		list = append(list, r.Agreed()...)
	}
	return list, nil
}

// Agreed is [Remote.Each] without those that nothing may be sent to.
func (r *Remote) Agreed() []*Remote {
	return slices.DeleteFunc(r.Each(), func(r *Remote) bool { return r.Level == "" })
}

// Lock waits for our other processes that do the same ("fetch") with the
// remote, whatever its URL.
func (r *Remote) Lock(ctx context.Context, what string) (*statedir.Lock, error) {
	return r.Workspace.Store.Lock(ctx, what+"-"+Escape(r.Name))
}

// LockPush waits for our other processes that push to the remote, or do
// something else of that kind.
func (r *Remote) LockPush(ctx context.Context, kind string) (*statedir.Lock, error) {
	return r.Workspace.Store.Lock(ctx, pushing+kind+r.key)
}

// TryLockPush is LockPush that returns nil if another process has it.
func (r *Remote) TryLockPush(kind string) (*statedir.Lock, error) {
	return r.Workspace.Store.TryLock(pushing + kind + r.key)
}

const pushing = "push-"
