package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// TestSetRecord: what is not of [record] stays byte for byte, and what is can be taken back.
func TestSetRecord(t *testing.T) {
	t.Parallel()
	const secret = "gitdir:~/clients/secret/"
	for _, tt := range []struct{ name, before, on, off string }{
		{"no file", "", "[record]\neverywhere = true\nexcept = [\n\t\"" + secret + "\",\n]\n", ""},
		{
			"others", "# mine\n[capture]\nexclude = [\"*.iso\"] # images\n",
			"# mine\n[capture]\nexclude = [\"*.iso\"] # images\n[record]\neverywhere = true\nexcept = [\n\t\"" + secret + "\",\n]\n",
			"# mine\n[capture]\nexclude = [\"*.iso\"] # images\n",
		},
		{
			"between", "[record] # where\neverywhere = false\n[company]\ntell = false\n",
			"[record] # where\neverywhere = true\nexcept = [\n\t\"" + secret + "\",\n]\n[company]\ntell = false\n", "[company]\ntell = false\n",
		},
		{
			"a list in lines", "[record]\nexcept = [\n  'gitdir:/a/', # a\n  \"gitdir:/[b]/\",\n]\neverywhere = true",
			"[record]\neverywhere = true\nexcept = [\n\t\"" + secret + "\",\n]\n", "",
		},
		{"dotted", "record.everywhere = true\n", "[record]\neverywhere = true\nexcept = [\n\t\"" + secret + "\",\n]\n", ""},
	} {
		on, err := SetRecord([]byte(tt.before), true, []string{secret})
		if err != nil || string(on) != tt.on {
			t.Errorf("%s: %v, %q; want %q", tt.name, err, on, tt.on)
		}
		if off, err := SetRecord(on, false, nil); err != nil || string(off) != tt.off {
			t.Errorf("%s, back: %v, %q; want %q", tt.name, err, off, tt.off)
		}
	}
	for _, before := range []string{"record = 1\n", "record = {everywhere = true}\n[capture]\nx", "[[record]]\n", "[other]\nx = 1\nrecord.everywhere = 1\n[record]\n[record]\n"} {
		if text, err := SetRecord([]byte(before), true, nil); err == nil {
			t.Errorf("%q became %q", before, text)
		}
	}
}

// TestRecord: who is recorded where is the user's own to say, and mistakes in it leave nothing to guess.
func TestRecord(t *testing.T) {
	t.Parallel()
	dir := gittest.TempDir(t)
	user, repo := filepath.Join(dir, "config.toml"), filepath.Join(dir, RepoFile)
	for _, tt := range []struct {
		user, repo string
		everywhere bool
		broken     string // in the error, "" for none
	}{
		{},
		{user: "[record]\neverywhere = true\nexcept = ['gitdir:~/a/']\n", everywhere: true},
		{repo: "[record]\neverywhere = true\n"},
		{user: "[record]\neverywhere = true\n", repo: "[record]\neverywhere = false\nexcept = []\n", everywhere: true},
		{user: "[record]\neverywhere = true\nexcept = ['~/a/']\n", everywhere: true, broken: "config.toml:3: record.except: \"~/a/\": it has none of "},
		{user: "[record]\neverywhere = true\nexcept = 'gitdir:~/a/'\n", everywhere: true, broken: "want a list of texts"},
		{user: "[record]\neverywhere = true\nexempt = []\n", everywhere: true, broken: "unknown key"},
		{user: "[records]\nexcept = []\n", broken: "unknown key"},
		{user: "[record\neverywhere = true\n", broken: "config.toml:2: "},
		{user: "[capture\n"},
		{user: "[capture]\nmax_file_size = true\n[record]\neverywhere = true\n", everywhere: true},
	} {
		gittest.Must(t, os.WriteFile(user, []byte(tt.user), 0o666))
		gittest.Must(t, os.WriteFile(repo, []byte(tt.repo), 0o666))
		c, _ := Load(user, repo)
		if c.Recording.Everywhere != tt.everywhere || (c.Recording.Err == nil) != (tt.broken == "") || c.Recording.Err != nil && !strings.Contains(c.Recording.Err.Error(), tt.broken) {
			t.Errorf("%q, %q: %+v", tt.user, tt.repo, c.Recording)
		}
	}
	gittest.Must(t, os.WriteFile(user, []byte("[record]\nexcept = [\n'gitdir:/a/',\n'gitdir:/b/']\neverywhere = true\n"), 0o666))
	c, err := Load(user, "")
	gittest.Must(t, err)
	if e, b := c.EverywhereLine(), c.ExceptLine("gitdir:/b/"); e != user+":5" || b != user+":4" {
		t.Errorf("lines are %s and %s", e, b)
	}
}
