package purge

import (
	"errors"
	"io/fs"
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/internal/session"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// TestCachesGo: a purge and what follows a filter delete a mission's prepared records, without a look into them.
func TestCachesGo(t *testing.T) {
	t.Parallel()
	finder, err := scrub.Fixed([]byte("hunter2-secret"))
	gittest.Must(t, err)
	s := &fileScrub{finder: finder, successor: func(h object.Hash) object.Hash { return h }}
	for name, do := range map[string]func(dirs []*statedir.Dir) error{
		"purge":  func(dirs []*statedir.Dir) error { _, err := s.files(dirs); return err },
		"filter": s.sessions,
	} {
		dir := statedir.In(t.TempDir(), "agent")
		file := session.RecordsFile("a1b2c3d4")
		gittest.Must(t, dir.WriteFile(file, []byte("hunter2-secret")))
		if list, err := s.holding([]*statedir.Dir{dir}); err != nil || len(list) > 0 {
			t.Errorf("%s: %v would be changed, %v", name, list, err)
		}
		gittest.Must(t, do([]*statedir.Dir{dir}))
		if _, err := dir.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: the file is still there (%v)", name, err)
		}
	}
}

func TestScrub(t *testing.T) {
	t.Parallel()
	old, fresh, gone := gittest.Hash("a"), gittest.Hash("b"), gittest.Hash("c")
	finder, err := scrub.Fixed([]byte("hunter2-secret"))
	if err != nil {
		t.Fatal(err)
	}
	s := &fileScrub{
		finder: finder,
		successor: func(h object.Hash) object.Hash {
			switch h.String() {
			case old:
				return object.NewHash(fresh)
			case gone:
				return object.Hash{}
			}
			return h
		},
		renamed: map[record.ID]record.ID{"aaaaaaaaaaaa": "bbbbbbbbbbbb"},
	}
	for in, want := range map[string]string{
		"":                               "",
		"nothing":                        "nothing",
		"say hunter2-secret now":         "say [redacted:purged] now",
		`{"code":"` + old + `"}`:         `{"code":"` + fresh + `"}`,
		"own " + old + " " + gone + "\n": "own " + fresh + " " + gone + "\n", // it has no successor
		old + "a":                        old + "a",                          // longer than a hash
		`{"mission":"aaaaaaaaaaaa"}`:     `{"mission":"bbbbbbbbbbbb"}`,
		`{"mission":"aaaaaaaaaaaaa"}`:    `{"mission":"aaaaaaaaaaaaa"}`,
	} {
		if got := string(s.text([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
