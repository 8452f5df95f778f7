package fetcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/remote"
)

// Missing brings objects into another, empty repository, because git does
// not fetch what it believes to have. It asks for hashes, which most hosts
// answer, or else for all that the missions lead to. A missing object is no
// error, and nothing that arrives is checked, so look into the repository.
func Missing(ctx context.Context, r *remote.Remote, into *git.Repo, wanted []object.Hash, missions []record.ID) error {
	var hashes strings.Builder
	for _, hash := range wanted {
		hashes.WriteString(hash.String() + "\n")
	}
	err := lend(ctx, r, into, hashes.String(), "--depth=1")
	if err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	var refs strings.Builder
	for _, id := range missions {
		for _, s := range allRefs(r, string(id)+"*") {
			fmt.Fprintf(&refs, "+%s%s:refs/borrowed/%s%s\n", s.namespace, s.name, strings.TrimPrefix(s.namespace, "refs/"), s.name)
		}
	}
	if e := lend(ctx, r, into, refs.String(), "--depth=2147483647"); e != nil { // everything, also after a shallow fetch
		return fmt.Errorf("borrow objects from %s: %w", r.Name, errors.Join(err, e))
	}
	return nil
}

// lend fetches into another repository with this one's transport settings.
func lend(ctx context.Context, r *remote.Remote, into *git.Repo, refspecs, depth string) error {
	if refspecs == "" {
		return nil
	}
	local, err := transport(ctx, r)
	if err != nil {
		return err
	}
	args := append(r.Options(), local...)
	_, err = into.With(git.Env(r.Environ()...)).Output(ctx, strings.NewReader(refspecs), append(args, "fetch", "--quiet", "--update-shallow", depth,
		"--stdin", "--end-of-options", r.Name)...)
	return err
}

// transport returns the repository's own settings of the transport, as options
// of git. The user's apply anyway.
func transport(ctx context.Context, r *remote.Remote) ([]string, error) {
	out, err := r.Repo.Output(ctx, nil, "config", "--list", "--show-scope", "-z")
	if err != nil {
		return nil, err
	}
	var options []string
	for fields := bytes.Split(out, []byte{0}); len(fields) > 1; fields = fields[2:] {
		key, value, ok := strings.Cut(string(fields[1]), "\n")
		if scope := string(fields[0]); ok && (scope == "local" || scope == "worktree") && concerns(r, key) {
			if key == "remote."+r.Name+".url" && isRelative(value) {
				value = filepath.Join(r.Workspace.Repo.Main(ctx), value)
			}
			options = append(options, "-c", key+"="+value)
		}
	}
	return options, nil
}

func concerns(r *remote.Remote, key string) bool {
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

func isRelative(url string) bool {
	before, _, colon := strings.Cut(url, ":")
	return !filepath.IsAbs(url) && !strings.HasPrefix(url, "~") && (!colon || strings.Contains(before, "/"))
}
