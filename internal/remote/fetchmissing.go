package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/record"
)

// FetchMissing brings objects from the remote into another repository, an empty one: git does not fetch what it
// believes to have. Objects are asked for by their hashes, which most hosts answer; should one of them not
// be there, what the remote has of the missions is fetched, with all that it leads to. It is no error if
// something is not there. The other repository must be looked into: nothing that came is checked.
func (r *Remote) FetchMissing(ctx context.Context, into *git.Repo, wanted []git.Hash, missions []record.ID) error {
	var hashes strings.Builder
	for _, hash := range wanted {
		hashes.WriteString(hash.String() + "\n")
	}
	err := r.lend(ctx, into, hashes.String(), "--depth=1")
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	var refs strings.Builder
	for _, id := range missions {
		for _, s := range r.all(string(id) + "*") {
			fmt.Fprintf(&refs, "+%s%s:refs/borrowed/%s%s\n", s.namespace, s.name, strings.TrimPrefix(s.namespace, "refs/"), s.name)
		}
	}
	if e := r.lend(ctx, into, refs.String(), "--depth=2147483647"); e != nil { // all, also after the above
		return fmt.Errorf("borrow objects from %s: %w", r.Name, errors.Join(err, e))
	}
	return nil
}

// lend fetches into another repository, which is given what this one's configuration says about transport.
func (r *Remote) lend(ctx context.Context, into *git.Repo, refspecs, depth string) error {
	if refspecs == "" {
		return nil
	}
	local, err := r.transport(ctx)
	if err != nil {
		return err
	}
	args := append(r.always(), local...)
	_, err = into.With(environ(r.conf)...).Output(ctx, strings.NewReader(refspecs), append(args, "fetch", "--quiet", "--no-tags",
		"--no-write-fetch-head", "--refmap=", "--no-recurse-submodules", "--no-auto-maintenance", "--no-filter", "--update-shallow", depth,
		"--stdin", "--end-of-options", r.Name)...)
	return err
}

// transport is what the repository's own configuration says about the remote and how to reach it, as options
// of git. The user's configuration counts anyway.
func (r *Remote) transport(ctx context.Context) ([]string, error) {
	out, err := r.repo.Output(ctx, nil, "config", "--list", "--show-scope", "-z")
	if err != nil {
		return nil, err
	}
	var options []string
	for fields := bytes.Split(out, []byte{0}); len(fields) > 1; fields = fields[2:] {
		key, value, ok := strings.Cut(string(fields[1]), "\n")
		if scope := string(fields[0]); ok && (scope == "local" || scope == "worktree") && r.concerns(key) {
			if key == "remote."+r.Name+".url" && isRelative(value) {
				value = filepath.Join(r.w.Repo.Main(ctx), value)
			}
			options = append(options, "-c", key+"="+value)
		}
	}
	return options, nil
}

// concerns reports whether a key of git's configuration is about how the remote is reached.
func (r *Remote) concerns(key string) bool {
	if strings.Contains(key, "=") || key == "remote."+r.Name+".promisor" || key == "remote."+r.Name+".partialclonefilter" {
		return false
	}
	for _, section := range []string{"remote." + r.Name + ".", "url.", "http.", "ssh.", "credential.", "protocol."} {
		if strings.HasPrefix(key, section) {
			return true
		}
	}
	return key == "core.sshcommand" || key == "core.gitproxy"
}

// isRelative reports whether a URL is a path that is relative.
func isRelative(url string) bool {
	before, _, colon := strings.Cut(url, ":")
	return !filepath.IsAbs(url) && !strings.HasPrefix(url, "~") && (!colon || strings.Contains(before, "/"))
}
