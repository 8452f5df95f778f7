package purge

import (
	"testing"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
	"gitagent/test/gittest"
)

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
