package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/limit"
)

// A Config is git's effective configuration. Keys are as `git config --list`
// prints them: section and name in lower case, the subsection as written.
type Config map[string][]string

// Config reads the effective configuration in one git process. From then on
// our gits run none of the hooks in it.
func (r *Repo) Config(ctx context.Context) (Config, error) {
	var conf Config
	if read := r.lately.Swap(nil); read != nil {
		conf = *read
	} else {
		out, err := r.Output(ctx, nil, "config", "-z", "--list")
		if err != nil {
			return nil, err
		}
		conf = parseConfig(string(out))
	}
	shared, hooks := conf.Get(sharedRepository), conf.hooks()
	r.sharing.Store(&shared)
	r.named.Store(&hooks)
	return conf, nil
}

// ConfigFile reads one configuration file, without what it includes.
func (r *Repo) ConfigFile(ctx context.Context, file string) (Config, error) {
	out, err := r.Output(ctx, nil, "config", "-z", "--file", file, "--list")
	if err != nil {
		return nil, err
	}
	return parseConfig(string(out)), nil
}

// Configure runs git config to change a file. Git does not wait for another
// process to unlock the file; Configure does, no longer than for an index.
func (r *Repo) Configure(ctx context.Context, args ...string) error {
	r.lately.Store(nil)
	var over <-chan time.Time
	if most := limit.Of(ctx).Index; most > 0 {
		over = time.After(most)
	}
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		_, err := r.Output(ctx, nil, append([]string{"config"}, args...)...)
		e := (*Error)(nil)
		if !errors.As(err, &e) || !strings.Contains(e.Stderr, "could not lock config file") || !strings.HasSuffix(e.Stderr, "File exists") {
			return err
		}
		select {
		case <-poll.C:
		case <-over:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

func parseConfig(out string) Config {
	c := make(Config)
	for entry := range strings.FieldsFuncSeq(out, func(c rune) bool { return c == 0 }) {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true" // a key without a value is a true boolean
		}
		c[key] = append(c[key], value)
	}
	return c
}

// Get returns the last value of key, or "".
func (c Config) Get(key string) string {
	if values := c[key]; len(values) > 0 {
		return values[len(values)-1]
	}
	return ""
}

// Bool reports whether key is one of git's words for true, or not 0.
func (c Config) Bool(key string) bool {
	value := strings.ToLower(c.Get(key))
	switch value {
	case "true", "yes", "on":
		return true
	}
	n, err := strconv.ParseInt(strings.TrimRight(value, "kmg"), 0, 64)
	return err == nil && n != 0
}

// Off reports whether key is set to one of git's words for false, or to 0.
func (c Config) Off(key string) bool {
	switch value := strings.ToLower(c.Get(key)); value {
	case "false", "no", "off", "0":
		return true
	case "":
		return len(c[key]) > 0
	}
	return false
}

// Pager returns the user's pager, a shell command; "cat" means none.
func (r *Repo) Pager(ctx context.Context) (string, error) {
	out, err := r.Output(ctx, nil, "var", "GIT_PAGER")
	return strings.TrimSuffix(string(out), "\n"), err
}

// Date parses a date as git's --since does ("2 weeks ago"). As in git, text
// that it can't read is now.
func (r *Repo) Date(ctx context.Context, text string) (time.Time, error) {
	out, err := r.Output(ctx, nil, "rev-parse", "--since="+text)
	if err != nil {
		return time.Time{}, err
	}
	seconds, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(string(out)), "--max-age="), 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("read the date %q: %w", text, err)
	}
	return time.Unix(seconds, 0), nil
}

// Author returns the user's identity, as git finds it, or git-agent's own
// without one, as in most containers, because a turn must be recorded.
func (c Config) Author(at time.Time) object.Signature { return c.identity("AUTHOR", "author", at) }

// Committer is [Config.Author] for the committer.
func (c Config) Committer(at time.Time) object.Signature {
	return c.identity("COMMITTER", "committer", at)
}

func (c Config) identity(env, section string, at time.Time) object.Signature {
	name := clean(cmp.Or(os.Getenv("GIT_"+env+"_NAME"), c.Get(section+".name"), c.Get("user.name")))
	email := clean(cmp.Or(os.Getenv("GIT_"+env+"_EMAIL"), c.Get(section+".email"), c.Get("user.email"), os.Getenv("EMAIL")))
	if name == "" || email == "" {
		name, email = "git-agent", "git-agent@localhost"
	}
	return object.Signature{Name: name, Email: email, When: at}
}

// clean drops what git drops from an identity, such as what ends the header.
func clean(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' || r == 0x7f {
			return -1
		}
		return r
	}, s), " .,:;\"'\\")
}

// Version returns git's version, for example 2.39.5.
func Version(ctx context.Context) (major, minor int, text string, err error) {
	out, err := Nowhere().Output(ctx, nil, "version")
	if err != nil {
		return 0, 0, "", err
	}
	text = strings.TrimPrefix(strings.TrimSpace(string(out)), "git version ")
	if _, err := fmt.Sscanf(text, "%d.%d", &major, &minor); err != nil {
		return 0, 0, text, fmt.Errorf("read git's version %q: %w", text, err)
	}
	return major, minor, text, nil
}
