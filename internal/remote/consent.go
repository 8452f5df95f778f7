package remote

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"gitagent/internal/git"
)

// A Consent says what may be sent to a URL. The zero Consent allows nothing.
type Consent string

// The levels of consent.
const (
	Code Consent = "code" // the branches of attached missions
	All  Consent = "all"  // ledgers and notes, too
)

// ErrNoConsent reports that nothing may be sent to a remote.
var ErrNoConsent = errors.New("sending missions there was not agreed to")

// Says returns what a person is told before agreeing to a level.
func (l Consent) Says() string {
	switch l {
	case All:
		return "conversations (prompts, replies, what tools have read and printed), the files of the worktree at every turn, " +
			"and with them every ancestor commit that the host does not have yet"
	case Code:
		return "the branches of missions, whose commit subjects quote the prompt, and every ancestor commit that the host does not have yet"
	}
	return "nothing"
}

// ConsentKey returns the configuration key that holds the level of a URL.
func ConsentKey(pushURL string) string { return "agent." + Plain(pushURL) + ".push" }

// Plain returns a URL without the parts that may change or are secret: the
// userinfo of http, https and ftp, the password of others. The user of an ssh
// URL stays, because another user has other repositories.
func Plain(rawURL string) string {
	scheme, rest, ok := strings.Cut(rawURL, "://")
	if !ok {
		return rawURL // a path, or host:path
	}
	slash := strings.IndexByte(rest+"/", '/')
	authority, path := rest[:slash], rest[slash:]
	at := strings.LastIndexByte(authority, '@')
	if at < 0 {
		return rawURL
	}
	user, host := authority[:at], authority[at+1:]
	switch strings.ToLower(scheme) {
	case "http", "https", "ftp", "ftps":
		return scheme + "://" + host + path
	}
	user, _, _ = strings.Cut(user, ":")
	return scheme + "://" + user + "@" + host + path
}

func consent(conf git.Config, urls []string) Consent {
	var levels []Consent
	for _, u := range urls {
		levels = append(levels, consentTo(conf, u))
	}
	return lowest(levels)
}

// consentTo returns what may be sent to one URL: the lowest level if it is
// configured more than once, with and without a password.
func consentTo(conf git.Config, pushURL string) Consent {
	var said []Consent
	for key := range conf {
		if named, ok := consentURL(key); ok && named == Plain(pushURL) {
			said = append(said, Consent(conf.Get(key)))
		}
	}
	return lowest(said)
}

func lowest(levels []Consent) Consent {
	switch {
	case len(levels) == 0, slices.ContainsFunc(levels, func(l Consent) bool { return l != All && l != Code }):
		return ""
	case slices.Contains(levels, Code):
		return Code
	}
	return All
}

// IsConsent reports whether a key, as git lists it, holds the level of a URL.
func IsConsent(key string) bool {
	_, ok := consentURL(key)
	return ok
}

func consentURL(key string) (string, bool) {
	key, ok := strings.CutPrefix(key, "agent.")
	if !ok {
		return "", false
	}
	named, ok := strings.CutSuffix(key, ".push")
	return Plain(named), ok && named != ""
}

// consented reports whether any level is configured. If not, hooks do no more.
func consented(conf git.Config) bool {
	for key := range conf {
		if _, ok := consentURL(key); ok {
			return true
		}
	}
	return false
}

// urls returns the URLs of a remote that git fetch knows, or with "--push"
// those that git push sends to; "--all" returns every one.
func urls(ctx context.Context, repo *git.Repo, name string, which ...string) ([]string, error) {
	out, err := repo.Output(ctx, nil, append(append([]string{"remote", "get-url"}, which...), "--", name)...)
	if git.Status(err) == 2 {
		return nil, fmt.Errorf("remote %q: %w", name, git.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n"), nil
}

// Escape turns a remote's name, which may have slashes, into one part of a
// path.
func Escape(name string) string { return url.PathEscape(name) }
