package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"gitagent/test/gittest"
)

func TestDebianVersion(t *testing.T) {
	t.Parallel()
	// In dpkg's order.
	versions := []struct{ version, want string }{
		{"0.0.0-0-g0123456789ab", "0.0.0+0.g0123456789ab-1"},
		{"1.2.3-beta", "1.2.3~beta-1"},
		{"1.2.3-rc.1", "1.2.3~rc.1-1"},
		{"1.2.3-rc.1-4-g0123456789ab", "1.2.3~rc.1+4.g0123456789ab-1"},
		{"1.2.3-rc.2", "1.2.3~rc.2-1"},
		{"1.2.3", "1.2.3-1"},
		{"1.2.3-4-g0123456789ab", "1.2.3+4.g0123456789ab-1"},
		{"1.2.3-12-gba9876543210", "1.2.3+12.gba9876543210-1"},
		{"1.2.4", "1.2.4-1"},
	}
	for i, tt := range versions {
		got := debianVersion(tt.version)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.version, got, tt.want)
		}
		if _, err := exec.LookPath("dpkg"); err != nil || i == 0 {
			continue
		}
		if err := exec.Command("dpkg", "--compare-versions", debianVersion(versions[i-1].version), "lt", got).Run(); err != nil {
			t.Errorf("for dpkg %s is not before %s", versions[i-1].version, tt.version)
		}
	}
}

func TestVersionOf(t *testing.T) {
	t.Parallel()
	const hash = "0123456789abcdef0123456789abcdef01234567"
	for archived, want := range map[string]string{
		hash + " v1.2.3\n":                 "1.2.3",
		hash + " v1.2.3-4-g0123456789ab\n": "1.2.3-4-g0123456789ab",
		hash + " \n":                       "0.0.0-0-g0123456789ab",
		"$Format:%H$\n":                    "",
		"":                                 "",
	} {
		if got, err := versionOf([]byte(archived)); got != want || (err == nil) != (want != "") {
			t.Errorf("versionOf(%q) = %q, %v, want %q", archived, got, err, want)
		}
	}
}

// TestTemplates has each language read what is made for its package manager.
func TestTemplates(t *testing.T) {
	t.Parallel()
	r := &release{source: source{version: "1.2.3"}, out: t.TempDir(), site: "https://example.invalid/git-agent"}
	for _, p := range platforms {
		if err := r.add("git-agent-1.2.3-"+p.goos+"-"+p.goarch+".tar.gz", nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.fillTemplates(); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"git-agent.rb", []string{"ruby", "-c"}},
		{"git-agent.nix", []string{"nix-instantiate", "--parse"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			gittest.Nightly(t) // .ci/run nightly installs them
			if _, err := exec.LookPath(tt.args[0]); err != nil {
				if os.Getenv("CI") != "" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			if out, err := exec.Command(tt.args[0], append(tt.args[1:], filepath.Join(r.out, tt.name))...).CombinedOutput(); err != nil {
				t.Errorf("%q: %v\n%s", tt.args, err, out)
			}
		})
	}
}
