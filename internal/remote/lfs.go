package remote

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/internal/git"
)

// An LFSError reports a URL for objects of LFS that the user has not agreed to.
type LFSError struct {
	Key, URL string // what names it
}

func (e *LFSError) Error() string {
	return fmt.Sprintf("%s names %s for objects of LFS: %v", e.Key, Plain(e.URL), ErrNoConsent)
}

// LFS returns the URLs to send objects of LFS to: for each push URL the one
// that git-lfs derives from it, or what the configuration or .lfsconfig names,
// if that was agreed to by its own URL. A .lfsconfig may have come with an
// untrusted tree, so what it names otherwise is no more than returned as an
// error beside the URLs.
func (r *Remote) LFS(ctx context.Context) ([]string, error) {
	var derived []string
	for _, u := range r.URLs {
		derived = append(derived, derivedLFS(u))
	}
	keys := []string{"lfs.pushurl", "lfs.url", "remote." + r.Name + ".lfspushurl", "remote." + r.Name + ".lfsurl"}
	list := derived
	var refused error
	choose := func(named func(key string) string, from string) bool {
		for _, key := range keys {
			switch u := named(key); {
			case u == "":
				continue
			case r.agreed(u) || slices.Contains(derived, u):
				list = []string{u}
			default:
				refused = &LFSError{from + key, u}
			}
			return true
		}
		return false
	}
	if choose(r.conf.Get, "") {
		if refused != nil {
			return nil, refused
		}
		return list, nil
	}
	if info, err := os.Lstat(filepath.Join(r.Repo.Top, ".lfsconfig")); r.Repo.Top != "" && err == nil && info.Mode().IsRegular() {
		choose(func(key string) string {
			out, _ := r.Repo.Output(ctx, nil, "config", "--file", ".lfsconfig", "--get", key) // of a broken file nothing counts
			return strings.TrimSuffix(string(out), "\n")
		}, "in .lfsconfig ")
	}
	for _, u := range list {
		if ambiguous(r.conf, u) {
			return nil, fmt.Errorf("an insteadOf would lead git-lfs from %s to another place", Plain(u))
		}
	}
	return list, refused
}

// derivedLFS returns the URL that git-lfs makes of a push URL. Of one of ssh
// it is the host that tells.
func derivedLFS(pushURL string) string {
	if scheme, _, _ := strings.Cut(strings.ToLower(pushURL), "://"); scheme != "http" && scheme != "https" {
		return pushURL
	}
	pushURL = strings.TrimSuffix(pushURL, "/")
	if path.Ext(pushURL) != ".git" {
		pushURL += ".git"
	}
	return pushURL + "/info/lfs"
}

// agreed reports whether a URL may be sent as much as the remote.
func (r *Remote) agreed(to string) bool {
	level := consentTo(r.conf, to)
	return level != "" && lowest([]Consent{level, r.Level}) == r.Level
}

// maxOIDs bounds the objects of one git lfs push, whose names are arguments.
const maxOIDs = 500

// SendLFS sends objects of LFS, which must be here, to a URL of [Remote.LFS].
func (r *Remote) SendLFS(ctx context.Context, to string, oids []string) error {
	repo := r.Repo.With(git.Settings([2]string{"lfs.url", to}, [2]string{"lfs.pushurl", to}))
	for some := range slices.Chunk(oids, maxOIDs) {
		args := slices.Concat(r.Options(), []string{"lfs", "push", "--object-id", r.Name}, some)
		if _, err := repo.Output(ctx, nil, args...); err != nil {
			return fmt.Errorf("send objects of LFS to %s: %w", Plain(to), err)
		}
	}
	return nil
}
