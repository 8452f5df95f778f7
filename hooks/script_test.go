package hooks

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

func TestScript(t *testing.T) {
	t.Parallel()
	const content = scriptMark + "1, written by a test\nexport default 1\n"
	script := Script{Client: "A client", Content: func() []byte { return []byte(content) }, Dir: "plugin", Also: "plugins", Project: ".client", Alone: "it has none"}
	places := Places{Config: t.TempDir()}
	path := filepath.Join(places.Config, "plugin", "git-agent.js")
	problems := func() (all []Problem) {
		for _, f := range script.Inspect(places).Findings {
			all = append(all, f.Problem)
		}
		return all
	}
	apply := func(plan func(Places, bool) (*Edit, error)) {
		t.Helper()
		e, err := plan(places, false)
		gittest.Must(t, err)
		gittest.Must(t, e.Apply())
	}
	write := func(path, text string) {
		t.Helper()
		gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o777))
		gittest.Must(t, os.WriteFile(path, []byte(text), 0o666))
	}
	want := func(what string, want ...Problem) {
		t.Helper()
		if got := problems(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	want("nothing", Missing)
	apply(script.Install)
	want("installed")
	write(path, content+"\n")
	want("changed by hand", Changed)
	write(path, strings.Replace(content, "plugin ", "plugin 0.", 1))
	want("another version", Changed)
	apply(script.Install)
	want("installed again")
	write(filepath.Join(places.Config, "plugins", "git-agent.js"), content)
	want("twice", Twice)
	gittest.Must(t, os.RemoveAll(filepath.Join(places.Config, "plugins")))
	apply(script.Remove)
	want("removed", Missing)
	apply(script.Remove)
	write(path, "// mine\n")
	if _, err := script.Install(places, false); err == nil {
		t.Error("another's file would be replaced")
	}
	apply(script.Remove)
	if data, err := os.ReadFile(path); err != nil || string(data) != "// mine\n" {
		t.Errorf("another's file: %q, %v", data, err)
	}
	if _, err := script.Install(places, true); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("in a project: %v", err)
	}
}
