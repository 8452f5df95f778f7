package review

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/sshsig"
	"gitagent/internal/trust"
	"gitagent/turns"
)

// keyOf returns a key of somebody's.
func keyOf(t testing.TB) sshsig.Key {
	t.Helper()
	key, err := sshsig.NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func turn(mission record.ID, number int) *turns.Turn {
	return &turns.Turn{Mission: mission, Turn: number, Code: object.NewHash(fmt.Sprintf("%040x", number)), LedgerTip: object.NewHash(fmt.Sprintf("%040x", 1000+number))}
}

var at = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// mark is the line of a mark by Jo.
func mark(t testing.TB, key sshsig.Key, mission record.ID, number int, after time.Duration) string {
	t.Helper()
	note, err := newMark(key, turn(mission, number), turn(mission, number).LedgerTip, at.Add(after), object.Signature{Name: "Jo", Email: "jo@example.invalid"}).with(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(note)
}

// TestMarks: which lines of a note count for somebody who trusts the key of Jo alone.
func TestMarks(t *testing.T) {
	t.Parallel()
	jo, stranger := keyOf(t), keyOf(t)
	keys := trust.ReadKeys(filepath.Join(t.TempDir(), "git-agent"), "")
	if err := keys.Add(t.Context(), "jo", jo.Public()); err != nil {
		t.Fatal(err)
	}
	keys = trust.ReadKeys(filepath.Dir(keys.ListPath), "")
	good := mark(t, jo, "a1b2c3d4", 12, 0)
	changed := func(from, to string) string {
		if !strings.Contains(good, from) {
			t.Fatalf("no %q in %s", from, good)
		}
		return strings.Replace(good, from, to, 1)
	}
	for _, test := range []struct {
		name, note, want string
	}{
		{"one", good, "a1b2c3d4/12 by jo"},
		{"without a newline", strings.TrimSpace(good), "a1b2c3d4/12 by jo"},
		{"among others", "no mark\n{}\n\n" + good + `{"v":1,"kind":"turn","turn":1}` + "\n", "a1b2c3d4/12 by jo"},
		{"a stranger's", mark(t, stranger, "a1b2c3d4", 13, 0), ""},
		{"both", mark(t, stranger, "a1b2c3d4", 13, 0) + good, "a1b2c3d4/12 by jo"},
		{"the newest of a key, though it is of an earlier turn", good + mark(t, jo, "a1b2c3d4", 3, time.Second), "a1b2c3d4/3 by jo"},
		{"in any order", mark(t, jo, "a1b2c3d4", 3, time.Second) + good, "a1b2c3d4/3 by jo"},
		{"of a fork, and then of a turn that it inherits", mark(t, jo, "f0f0f0f0", 14, 0) + mark(t, jo, "a1b2c3d4", 3, time.Second), "a1b2c3d4/3 by jo"},
		{"another turn", changed(`"turn":12`, `"turn":13`), ""},
		{"another mission", changed(`"a1b2c3d4"`, `"a1b2c3d5"`), ""},
		{"another code", changed(`000000c"`, `000000d"`), ""},
		{"another ledger", changed(`00003f4"`, `00003f5"`), ""},
		{"another time", changed("12:00:00Z", "12:00:01Z"), ""},
		{"another name", changed("Jo ", "Jim "), ""},
		{"another kind", changed(`"review"`, `"turn"`), ""},
		{"another version", changed(`"v":1`, `"v":2`), ""},
		{"another spelling of the signature", changed(`-----END`, `\n-----END`), ""},
		{"too long a line", changed(`{`, `{"x":"`+strings.Repeat("x", maxLine)+`",`), ""},
		{"behind too many lines", strings.Repeat("x\n", maxLines) + good, ""},
	} {
		var got []string
		for _, m := range counting([]byte(test.note), keys) {
			got = append(got, fmt.Sprintf("%s/%d by %s", m.Mission, m.Turn, m.Reviewer()))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestWith: a mark takes the place of its key's, is first, and leaves others'.
func TestWith(t *testing.T) {
	t.Parallel()
	jo, other := keyOf(t), keyOf(t)
	theirs := mark(t, other, "a1b2c3d4", 9, 0)
	now := newMark(jo, turn("a1b2c3d4", 3), turn("a1b2c3d4", 3).LedgerTip, at, object.Signature{Name: "Jo", Email: "jo@example.invalid"})
	alone := mark(t, jo, "a1b2c3d4", 3, 0)
	for _, test := range []struct{ name, note, want string }{
		{"none", "", alone},
		{"its own", mark(t, jo, "a1b2c3d4", 12, time.Hour), alone},
		{"others'", theirs + mark(t, jo, "f0f0f0f0", 12, 0), alone + theirs},
		{"what is not understood", "{\"v\":2}\nno newline", alone + "{\"v\":2}\nno newline\n"},
		{"what no reader would look at", strings.Repeat("x", maxLine+1) + "\n" + strings.Repeat("x\n", maxLines), alone + strings.Repeat("x\n", maxLines-1)},
	} {
		got, err := now.with([]byte(test.note))
		if err != nil || string(got) != test.want {
			t.Errorf("%s: %.300q, %v; want %.300q", test.name, got, err, test.want)
		}
	}
}

// TestAfter: a mark is newer than those that it takes the place of, also where the clock was set back.
func TestAfter(t *testing.T) {
	t.Parallel()
	jo, other := keyOf(t), keyOf(t)
	note := mark(t, other, "a1b2c3d4", 9, time.Hour) + mark(t, jo, "a1b2c3d4", 12, 0) + mark(t, jo, "a1b2c3d4", 3, time.Minute)
	for _, test := range []struct{ at, want time.Duration }{
		{0, time.Minute + time.Millisecond},
		{time.Minute, time.Minute + time.Millisecond},
		{time.Hour, time.Hour},
	} {
		if got := after([]byte(note), jo.Public(), at.Add(test.at)); !got.Equal(at.Add(test.want)) {
			t.Errorf("at %v: %v, want %v", test.at, got.Sub(at), test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(mark(f, keyOf(f), "a1b2c3d4", 12, 0)))
	f.Add([]byte(`{"v":1,"kind":"review","turn":1}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		m := parse(bytes.TrimSpace(line))
		if m == nil {
			return
		}
		if _, err := sshsig.VerifyAs(namespace, []byte(m.Signature), m.text()); err != nil {
			t.Errorf("%q is a mark, and is not signed", line)
		}
	})
}
