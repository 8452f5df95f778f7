package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gitagent/internal/record"
)

func TestPolicyApply(t *testing.T) {
	t.Parallel()
	var long []untracked
	for i := range 30000 {
		long = append(long, untracked{fmt.Sprintf("%05d", i), 10})
	}
	for _, tt := range []struct {
		name    string
		policy  Policy
		files   []untracked
		skipped []record.Skip
	}{
		{"nothing", policy, nil, nil},
		{"all right", policy, []untracked{{"a", 1}, {"b/c", 2}}, nil},
		{"exactly at the limits", Policy{MaxFileSize: 10, MaxUntrackedFiles: 2, MaxUntrackedSize: 20}, []untracked{{"a", 10}, {"b", 10}}, nil},
		{"too large", Policy{MaxFileSize: 10, MaxUntrackedFiles: 9, MaxUntrackedSize: 99}, []untracked{{"a", 11}, {"b", 10}}, []record.Skip{{Path: "a", Why: record.WhySize}}},
		{"repository", policy, []untracked{{"a/b/", 0}, {"a/c", 1}}, []record.Skip{{Path: "a/b/", Why: record.WhyRepository}}},
		{"secret before size", Policy{MaxFileSize: 1}, []untracked{{".env", 100}}, []record.Skip{{Path: ".env", Why: record.WhySecret}}},
		{
			"too many: the directory, not the files beside it",
			Policy{MaxFileSize: 9, MaxUntrackedFiles: 3, MaxUntrackedSize: 99},
			[]untracked{{"a", 1}, {"b", 1}, {"cache/1", 1}, {"cache/2", 1}, {"cache/3", 1}},
			[]record.Skip{{Path: "cache/", Why: record.WhyTooMany}},
		},
		{
			"the deepest that suffices",
			Policy{MaxFileSize: 9, MaxUntrackedFiles: 4, MaxUntrackedSize: 99},
			[]untracked{{"build/a", 1}, {"build/cache/x/1", 1}, {"build/cache/x/2", 1}, {"build/cache/y/1", 1}, {"build/z", 1}, {"z", 1}},
			[]record.Skip{{Path: "build/cache/x/", Why: record.WhyTooMany}},
		},
		{
			"several",
			Policy{MaxFileSize: 9, MaxUntrackedFiles: 1, MaxUntrackedSize: 99},
			[]untracked{{"a/1", 1}, {"a/2", 1}, {"b/1", 1}, {"b/2", 1}, {"b/3", 1}, {"c", 1}},
			[]record.Skip{{Path: "b/", Why: record.WhyTooMany}, {Path: "a/", Why: record.WhyTooMany}},
		},
		{
			"too much: the heaviest",
			Policy{MaxFileSize: 60, MaxUntrackedFiles: 9, MaxUntrackedSize: 100},
			[]untracked{{"a", 50}, {"b/1", 30}, {"b/2", 30}, {"c", 20}},
			[]record.Skip{{Path: "b/", Why: record.WhyTooMuch}},
		},
		{
			"files at the top, the heaviest first",
			Policy{MaxFileSize: 60, MaxUntrackedFiles: 9, MaxUntrackedSize: 50},
			[]untracked{{"a", 10}, {"b", 30}, {"c", 30}, {"d", 20}},
			[]record.Skip{{Path: "b", Why: record.WhyTooMuch}, {Path: "c", Why: record.WhyTooMuch}},
		},
		{
			"a directory and a file whose names begin alike",
			Policy{MaxFileSize: 9, MaxUntrackedFiles: 2, MaxUntrackedSize: 99},
			[]untracked{{"ab", 1}, {"a/1", 1}, {"a/2", 1}, {"a.txt", 1}},
			[]record.Skip{{Path: "a/", Why: record.WhyTooMany}},
		},
		{"none allowed", Policy{MaxFileSize: 9}, []untracked{{"a", 1}}, []record.Skip{{Path: "a", Why: record.WhyTooMany}}},
		{"empty files weigh nothing", Policy{MaxFileSize: 9, MaxUntrackedFiles: 9}, []untracked{{"a", 0}, {"b/c", 0}}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			take, skipped := tt.policy.apply(tt.files)
			if !slices.Equal(skipped, tt.skipped) {
				t.Errorf("skipped %v, want %v", skipped, tt.skipped)
			}
			for _, f := range tt.files {
				out := slices.ContainsFunc(skipped, func(s record.Skip) bool {
					return s.Path == f.path || strings.HasSuffix(s.Path, "/") && strings.HasPrefix(f.path, s.Path)
				})
				if slices.Contains(take, f) == out {
					t.Errorf("%s: taken %v, named as left out %v", f.path, !out, out)
				}
			}
		})
	}
	t.Run("thirty thousand at the top", func(t *testing.T) {
		t.Parallel()
		take, skipped := Policy{MaxFileSize: 10, MaxUntrackedFiles: 5000, MaxUntrackedSize: 1000}.apply(long)
		if len(take) != 100 || len(skipped) != 29900 {
			t.Errorf("%d taken, %d left out", len(take), len(skipped))
		}
	})
}

func TestPolicyExclude(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		patterns        string // separated by spaces
		excluded, taken []string
	}{
		{"*.log", []string{"a.log", "d/b.log"}, []string{"log", "a.logs"}},
		{"*.log !keep.log", []string{"a.log"}, []string{"keep.log", "d/keep.log"}},
		{"build/", []string{"build/x", "d/build/x/y"}, []string{"build", "d/build", "builds/x"}},
		{"/build", []string{"build", "build/x"}, []string{"d/build", "d/build/x"}},
		{"/build/", []string{"build/x"}, []string{"build", "d/build/x"}},
		{"d/*.tmp", []string{"d/a.tmp"}, []string{"a.tmp", "d/e/a.tmp"}},
		{"**/cache", []string{"cache", "a/cache", "a/b/cache", "a/cache/x"}, []string{"caches"}},
		{"logs/**", []string{"logs/a", "logs/b/c"}, []string{"log"}},
		{"a?c", []string{"abc"}, []string{"ac", "abbc"}},
		{"[ab].txt", []string{"a.txt"}, []string{"c.txt"}},
	} {
		p := Policy{MaxFileSize: 1, MaxUntrackedFiles: 100, MaxUntrackedSize: 100, Exclude: strings.Fields(tt.patterns)}
		for _, name := range tt.excluded {
			if _, skipped := p.apply([]untracked{{name, 1}}); !slices.Equal(skipped, []record.Skip{{Path: name, Why: record.WhyExcluded}}) {
				t.Errorf("%q: %s is taken", tt.patterns, name)
			}
		}
		for _, name := range tt.taken {
			if _, skipped := p.apply([]untracked{{name, 1}}); skipped != nil {
				t.Errorf("%q: %s is left out: %v", tt.patterns, name, skipped)
			}
		}
	}
}

func TestSecretName(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		".env", ".env.local", "prod.env", "d/.ENV", ".envrc", "id_rsa", "home/.ssh/id_ed25519", "server.key", "cert.pem", "store.p12", "release.keystore",
		".netrc", ".npmrc", ".git-credentials", ".aws/credentials", "credentials.json", "client_secret_1.apps.json", ".docker/config.json", ".kube/config",
		"terraform.tfstate", "prod.tfvars", "vault.kdbx",
	} {
		if !Secret(name) {
			t.Errorf("%s is taken", name)
		}
	}
	for _, name := range []string{
		".env.example", ".env.sample", "env", "environment.ts", ".env.template", "id_rsa.pub", "key.go", "pem.md", "monkey", "config.json", "docker/config.json.md", "credentials.go",
		"keys.txt", "secret_test.go",
	} {
		if Secret(name) {
			t.Errorf("%s is left out", name)
		}
	}
}
