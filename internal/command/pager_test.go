package command

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/git"
	"gitagent/internal/terminal"
	"gitagent/test/gittest"
)

func TestLook(t *testing.T) {
	t.Parallel()
	terminal := &cmdline.Screen{Columns: 80}
	for _, tt := range []struct {
		name     string
		terminal bool
		key      string
		value    string
		env      map[string]string
		want     bool
	}{
		{"a terminal", true, "", "", nil, true},
		{"a file", false, "", "", nil, false},
		{"never", true, "color.ui", "never", nil, false},
		{"false", true, "color.ui", "false", nil, false},
		{"true", true, "color.ui", "true", nil, true},
		{"always", false, "color.ui", "always", nil, true},
		{"auto, in a file", false, "color.ui", "auto", nil, false},
		{"NO_COLOR", true, "color.ui", "always", map[string]string{"NO_COLOR": "1"}, false},
		{"a dumb terminal", true, "", "", map[string]string{"TERM": "dumb"}, false},
		{"not in a pager", true, "color.pager", "false", nil, false},
	} {
		conf := git.Config{}
		if tt.key != "" {
			conf[tt.key] = []string{tt.value}
		}
		getenv := func(name string) string { return tt.env[name] }
		got := lookOf(new(bytes.Buffer), conf, getenv)
		if tt.terminal {
			got = lookOf(terminal, conf, getenv)
		}
		if got.colour != tt.want || got.terminal != tt.terminal {
			t.Errorf("%s: %+v, want colour %t", tt.name, got, tt.want)
		}
	}
}

// TestPagerMissing: what was to be shown is printed without the pager that is not there.
func TestPagerMissing(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	l := &lazyPager{plain: &out, start: func() (*terminal.Pager, error) { return terminal.StartPager("no-such-pager-of-git-agent") }}
	for range 2 {
		if n, err := l.Write([]byte("text\n")); n != 5 || err != nil {
			t.Errorf("wrote %d, %v", n, err)
		}
	}
	if quit := l.close(); quit || out.String() != "text\ntext\n" {
		t.Errorf("printed %q, quit %t", out.String(), quit)
	}
}

// TestPagerOfVariable: GIT_PAGER beats pager.<program>, and an empty one is no pager, as in git.
func TestPagerOfVariable(t *testing.T) {
	repo := gittest.New(t)
	repo.Git("config", "pager.agent-turn", "cat >own")
	t.Chdir(repo.Dir)
	for _, tt := range []struct {
		set   bool
		value string
		want  string // the file that was written, if a pager ran
	}{
		{false, "", "own"},
		{true, "cat >variable", "variable"},
		{true, "cat", ""},
		{true, "", ""},
	} {
		t.Setenv("GIT_PAGER", tt.value)
		if !tt.set {
			_ = os.Unsetenv("GIT_PAGER")
		}
		var out bytes.Buffer
		app := &cli.App{Name: "git-agent-turn", Writer: &cmdline.Screen{Writer: &out, Columns: 80}, Action: Paged(func(c *cli.Context) error {
			_, err := fmt.Fprint(c.App.Writer, "text")
			return err
		})}
		if err := app.RunContext(t.Context(), []string{app.Name}); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"own", "variable"} {
			if _, err := os.Stat(name); (err == nil) != (name == tt.want) {
				t.Errorf("GIT_PAGER %t %q: the pager that writes %q: %v", tt.set, tt.value, name, err)
			}
			_ = os.Remove(name)
		}
		if got := out.String(); (got == "text") != (tt.want == "") {
			t.Errorf("GIT_PAGER %t %q: printed %q", tt.set, tt.value, got)
		}
	}
}
