package except_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/internal/except"
	"gitagent/test/gittest"
)

func TestMain(m *testing.M) { os.Exit(gittest.Tests{M: m}.Run()) }

func TestMatches(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, path string // an URL for a pattern of URLs
		want          bool
	}{
		{"gitdir:~/clients/secret/", "/home/dev/clients/secret/.git", true},
		{"gitdir:~/clients/secret/", "/home/dev/clients/secret/a/b/.git/worktrees/x", true},
		{"gitdir:~/clients/secret/", "/home/dev/clients/secrets/.git", false},
		{"gitdir:~/clients/secret/", "/home/dev/clients/Secret/.git", false},
		{"gitdir/i:~/clients/secret/", "/home/dev/CLIENTS/Secret/.git", true},
		{"gitdir:./a/", "/home/dev/.config/a/.git", true},
		{"gitdir:secret/", "/srv/x/secret/.git", true},
		{"gitdir:secret/", "/secret/.git", true},
		{"gitdir:secret", "/srv/secret", true}, // the worktree, which git does not look at
		{"gitdir:/srv/*/.git", "/srv/a/.git", true},
		{"gitdir:/srv/*/.git", "/srv/a/b/.git", false},
		{"gitdir:/srv/**/.git", "/srv/.git", true},
		{"gitdir:/srv/**/.git", "/srv/a/b/.git", true},
		{"gitdir:/srv/a?c/", "/srv/abc/.git", true},
		{"gitdir:/srv/a?c/", "/srv/a/c/.git", false},
		{"gitdir:/srv/[a-c]/", "/srv/b/.git", true},
		{"gitdir:/srv/[!a-c]/", "/srv/b/.git", false},
		{`gitdir:/srv/\*/`, "/srv/a/.git", false},
		{`gitdir:/srv/\*/`, "/srv/*/.git", true},
		{"hasconfig:remote.*.url:https://corp.example/**", "https://corp.example/a/b.git", true},
		{"hasconfig:remote.*.url:https://corp.example/*", "https://corp.example/a/b.git", false},
		{"hasconfig:remote.*.url:git@corp.example:**", "git@corp.example:a/b.git", true}, // not to git
		{"hasconfig:remote.*.url:git@corp.example:**", "git@corp.example.invalid:a/b.git", false},
		{"hasconfig:remote.*.url:https://corp.example/**", "https://CORP.example/a", true},
		{"gitdir:~/clients/secret", "/home/dev/clients/secret/a/.git", true}, // not to git
		{"gitdir:~/clients/secret", "/home/dev/clients/secrets/.git", false},
	} {
		p, err := except.Parse(tt.pattern, "/home/dev/.config", "/home/dev")
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		at := except.Place{Paths: []string{tt.path}}
		if strings.HasPrefix(tt.pattern, "hasconfig") {
			at = except.Place{URLs: []string{tt.path}}
		}
		if got := p.Matches(at); got != tt.want {
			t.Errorf("%s matches %s: %t", tt.pattern, tt.path, got)
		}
	}
}

// TestRefused: what git would never match is refused, and so is what git would match otherwise.
func TestRefused(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]string{
		"":                         "it has none of",
		"~/clients/secret/":        "it has none of",
		"onbranch:main":            "it has none of",
		"gitdir:":                  "nothing after the colon",
		"gitdir:~/a/../b/":         "a name like others",
		"gitdir:/a/./b/":           "a name like others",
		"gitdir:~other/a/":         "names a home directory",
		"gitdir:/a/[b/":            "a [ has no ]",
		"gitdir:/a/[[:no:]]/":      "no class",
		`gitdir:/a\`:               `ends in \`,
		"gitdir:/a\nb/":            "one line",
		"hasconfig:remote.*.url:":  "nothing after the colon",
		"hasconfig:user.name:x":    "it has none of",
		"gitdir:" + longest + "/":  "longer than",
		"gitdir:/a/\xff\xfe/":      "not a pattern",
		"hasconfig:remote.*.url:[": "a [ has no ]",
	} {
		if p, err := except.Parse(pattern, "/etc", "/home/dev"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q: %v, %v; want %q", pattern, p, err, want)
		}
	}
	if _, err := except.Parse("gitdir:~/a/", "/etc", ""); err == nil {
		t.Error("~/ is nowhere without a home directory")
	}
}

var longest = strings.Repeat("a", 6000)

// TestAsGit: whatever git includes by a pattern is matched. What is matched beyond that is listed.
func TestAsGit(t *testing.T) {
	t.Parallel()
	r := gittest.New(t)
	home := filepath.Dir(r.Dir)
	gittest.Must(t, os.MkdirAll(filepath.Join(home, "Deep", "a[b]"), 0o777))
	gittest.Must(t, os.Symlink(filepath.Join(home, "Deep"), filepath.Join(home, "link")))
	patterns := []string{
		"gitdir:" + home + "/", "gitdir:" + home + "/Deep/", "gitdir:" + home + "/deep/", "gitdir/i:" + home + "/deep/", "gitdir:" + home + "/link/",
		"gitdir:" + home + "/*/.git", "gitdir:" + home + "/**/.git", "gitdir:" + home + "/D?ep/", "gitdir:" + home + "/[A-E]eep/",
		"gitdir:" + home + "/[!A-E]eep/", "gitdir:" + home + "/[[:upper:]]eep/**", `gitdir:` + home + `/Deep/a\[b\]/`, "gitdir:Deep/", "gitdir:eep/", "gitdir:**/Deep/**",
		"gitdir:Deep", "gitdir:" + home + "/Deep/*", "gitdir:.git", "gitdir:Deep/**/.git", "gitdir:" + home + "/Deep/a[[]b]/.git", "gitdir:~/Deep/", "gitdir:./Deep/",
		"hasconfig:remote.*.url:https://corp.example/**", "hasconfig:remote.*.url:https://corp.example/*", "hasconfig:remote.*.url:https://*/a/*",
		"hasconfig:remote.*.url:git@corp.example:*/*", "hasconfig:remote.*.url:git@corp.example:**", "hasconfig:remote.*.url:**corp**", "hasconfig:remote.*.url:**/b.git", "hasconfig:remote.*.url:*",
	}
	more := map[string]bool{ // than git
		"gitdir:" + home + "/link/":                  true, // reached by another name
		"hasconfig:remote.*.url:git@corp.example:**": true, "hasconfig:remote.*.url:**corp**": true,
		"gitdir:" + home + "/Deep/*": true, // .git of a worktree in Deep
		"gitdir:Deep":                true,
	}
	var conf strings.Builder
	for i, p := range patterns {
		file := filepath.Join(home, fmt.Sprintf("hit%d", i))
		gittest.Must(t, os.WriteFile(file, fmt.Appendf(nil, "[hit]\n\tp%d = true\n", i), 0o666))
		fmt.Fprintf(&conf, "[includeIf %q]\n\tpath = %s\n", p, file)
	}
	global := filepath.Join(home, "global")
	gittest.Must(t, os.WriteFile(global, []byte(conf.String()), 0o666))
	for _, tt := range []struct{ dir, url string }{
		{"Deep", "https://corp.example/a/b.git"}, {"Deep/a[b]", "git@corp.example:a/b.git"}, {"other", "https://corp.example/b.git"}, {"link/two", "git@corp.example:b.git"},
	} {
		dir := filepath.Join(home, filepath.FromSlash(tt.dir))
		r.Git("init", "-q", dir)
		there := r.In(dir)
		there.Git("remote", "add", "origin", tt.url)
		there.Env = append(there.Env, "HOME="+home, "GIT_CONFIG_GLOBAL="+global)
		listed := there.Git("config", "--list")
		real, err := filepath.EvalSymlinks(dir)
		gittest.Must(t, err)
		at := except.Place{Paths: []string{filepath.Join(real, ".git"), real}, URLs: []string{tt.url}}
		for i, text := range patterns {
			p, err := except.Parse(text, home, home)
			gittest.Must(t, err)
			want := strings.Contains(listed, fmt.Sprintf("hit.p%d=true", i))
			if got := p.Matches(at); want && !got || got && !want && !more[text] {
				t.Errorf("%s, %s: %s matches: %t; to git: %t", tt.dir, tt.url, text, got, want)
			}
		}
	}
}

// TestOtherName: a link to a directory, or into it, is no way around a pattern, nor is its own name
// around a pattern of the link.
func TestOtherName(t *testing.T) {
	t.Parallel()
	top := gittest.TempDir(t)
	gittest.Must(t, os.MkdirAll(filepath.Join(top, "secret", "repo", ".git"), 0o777))
	gittest.Must(t, os.Symlink("secret", filepath.Join(top, "link")))
	for _, pattern := range []string{"secret/", "link/", "secret/repo/", "link/repo/.git", "link/*/.git", "link/**/.git"} {
		p, err := except.Parse("gitdir:"+top+"/"+pattern, top, top)
		gittest.Must(t, err)
		for _, name := range []string{"secret", "link"} {
			if !p.Matches(except.Place{Paths: []string{filepath.Join(top, name, "repo", ".git")}}) {
				t.Errorf("%s does not match what is reached by %s", pattern, name)
			}
		}
	}
	p, err := except.Parse("gitdir:/SRV/secret/", top, top)
	gittest.Must(t, err)
	if at := (except.Place{Paths: []string{"/srv/Secret/.git"}, IgnoreCase: true}); !p.Matches(at) {
		t.Error("another case is another directory, where the file system has none")
	}
}

// FuzzParse: no pattern panics, and what is accepted can be matched.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"gitdir:~/a/", "gitdir/i:[!a-]]", `gitdir:\`, "hasconfig:remote.*.url:[[:alpha:]-z]**"} {
		f.Add(s, "/a")
	}
	f.Fuzz(func(_ *testing.T, pattern, path string) {
		if p, err := except.Parse(pattern, "/nowhere", "/nowhere"); err == nil {
			p.Matches(except.Place{Paths: []string{"/" + path}, URLs: []string{path}, IgnoreCase: true})
		}
	})
}
