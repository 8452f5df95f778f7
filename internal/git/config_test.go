package git

import (
	"context"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

func TestConfig(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	r.Write("more", "[a]\n\tincluded = yes\n")
	r.Write(".git/config", r.Read(".git/config")+`
[A]
	Novalue
	empty =
	NUM = 2
	hex = 0x10
	kilo = 1k
	zero = 0
	OnOff = On
	off = OFF
	word = maybe
	quoted = " x # y "
[a "Sub.Section"]
	Key = one
	key = two
[include]
	path = ../more
`)
	c, err := find(t, r).Config(context.Background())
	gittest.Must(t, err)
	for key, want := range map[string]string{
		"a.novalue": "true", "a.empty": "", "a.num": "2", "a.quoted": " x # y ", "a.Sub.Section.key": "two", "a.sub.section.key": "", "a.included": "yes", "none": "",
	} {
		if got := c.Get(key); got != want {
			t.Errorf("Get(%q) = %q, want %q", key, got, want)
		}
	}
	if got := c["a.Sub.Section.key"]; len(got) != 2 {
		t.Errorf("values %q", got)
	}
	for _, key := range []string{"novalue", "empty", "num", "hex", "kilo", "zero", "onoff", "off", "included"} {
		want := r.Git("config", "--type=bool", "a."+key) == "true"
		if got := c.Bool("a." + key); got != want {
			t.Errorf("Bool(%q) = %v, git says %v", c.Get("a."+key), got, want)
		}
	}
	if c.Bool("a.word") || c.Bool("none") {
		t.Error("what is no boolean is true")
	}
	if err := c.Supported(); err != nil {
		t.Error(err)
	}
}

func FuzzParseConfig(f *testing.F) {
	f.Add("a.b\nc\x00a.novalue\x00")
	f.Fuzz(func(t *testing.T, out string) {
		for key, values := range parseConfig(out) {
			for _, v := range values {
				if v != "true" && !strings.Contains(out, key+"\n"+v) {
					t.Errorf("%q = %q is not in %q", key, v, out)
				}
			}
		}
	})
}

// A signature must be one that git takes, whatever is configured.
func TestIdentity(t *testing.T) {
	r := gittest.New(t)
	for _, name := range []string{"GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"} {
		t.Setenv(name, "")
	}
	for _, tt := range []struct {
		name   string
		config Config
		env    []string
		author string
	}{
		{"nothing", nil, nil, "git-agent <git-agent@localhost>"},
		{"user", Config{"user.name": {"Dev"}, "user.email": {"dev@example.invalid"}}, nil, "Dev <dev@example.invalid>"},
		{"author", Config{"user.name": {"Dev"}, "user.email": {"dev@example.invalid"}, "author.name": {"Aut"}}, nil, "Aut <dev@example.invalid>"},
		{"name only", Config{"user.name": {"Dev"}}, nil, "git-agent <git-agent@localhost>"},
		{"EMAIL", Config{"user.name": {"Dev"}}, []string{"EMAIL=e@example.invalid"}, "Dev <e@example.invalid>"},
		{"environment", Config{"user.name": {"Dev"}, "user.email": {"x@example.invalid"}}, []string{"GIT_AUTHOR_NAME=Env"}, "Env <x@example.invalid>"},
		{"hostile", Config{"user.name": {"A <b>\nparent 0"}, "user.email": {"<x@y>\n"}}, nil, "A bparent 0 <x@y>"},
		{"nothing but what git drops", Config{"user.name": {" .,;<> "}, "user.email": {"x@example.invalid"}}, nil, "git-agent <git-agent@localhost>"},
		{"crud around", Config{"user.name": {" 'Dev.' "}, "user.email": {"\"x@y\""}}, nil, "Dev <x@y>"},
		{"unicode", Config{"user.name": {"Ünï \U0001f600"}, "user.email": {"x@y"}}, nil, "Ünï \U0001f600 <x@y>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, v := range tt.env {
				name, value, _ := strings.Cut(v, "=")
				t.Setenv(name, value)
			}
			at := time.Unix(1_700_000_000, 0).UTC()
			author := tt.config.Author(at)
			if got := author.Name + " <" + author.Email + ">"; got != tt.author {
				t.Errorf("author %q, want %q", got, tt.author)
			}
			o := find(t, r).Objects(context.Background())
			defer o.Close()
			tree, err := o.EmptyTree()
			gittest.Must(t, err)
			commit, err := o.CommitTree(tree, nil, author, tt.config.Committer(at), "x\n")
			gittest.Must(t, err)
			gittest.Must(t, o.Flush())
			if got := r.Git("log", "-1", "--format=%an <%ae> %at", commit.String()); got != tt.author+" 1700000000" {
				t.Errorf("git reads %q", got)
			}
			r.Git("fsck", "--strict", "--no-dangling")
		})
	}
}

func TestVersion(t *testing.T) {
	t.Parallel()
	major, minor, text, err := Version(context.Background())
	if err != nil || major < 2 || text == "" {
		t.Errorf("Version = %d, %d, %q, %v", major, minor, text, err)
	}
}
