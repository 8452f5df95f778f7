package journal

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/statedir"
	"gitagent/test/gittest"
)

// repository returns a worktree's repository as far as a journal needs one.
func repository(t *testing.T) (repo *git.Repo, file string) {
	dir := t.TempDir()
	return &git.Repo{Top: dir, GitDir: dir, CommonDir: dir}, filepath.Join(dir, "agent", File)
}

// sessions returns what the journal says, by the ids of sessions.
func sessions(t *testing.T, repo *git.Repo) (list []string) {
	t.Helper()
	all, err := Read(repo)
	gittest.Must(t, err)
	newest, err := Newest(repo)
	gittest.Must(t, err)
	last := slices.Collect(newest)
	for i, e := range all {
		list = append(list, e.Session)
		if at := len(all) - 1 - i; at < len(last) && !reflect.DeepEqual(last[at], e) {
			t.Errorf("the newest are %+v, and %d is %+v", last, i, e)
		}
	}
	return list
}

func TestEntry(t *testing.T) {
	t.Parallel()
	repo, file := repository(t)
	want := []*Entry{
		{At: 1, Event: Prompt, Session: "a", PromptID: "p", Tree: object.NewHash(gittest.Hash("1")), Head: object.NewHash(gittest.Hash("2")), Plain: true},
		{At: 2, From: 1, Session: "b", Agent: "x", Calls: []Call{{"1", "Edit", "a <b>/ü\n.go"}, {"2", "Bash", ""}}, Named: []string{"c"}, Git: true, Open: true, Ctimes: map[string]int64{"c": 2}},
		{At: 3, Event: Stop, Session: "a", Tree: object.NewHash(gittest.Hash("1")), Cost: 1, Steps: 2, Bytes: 3},
	}
	for _, e := range want {
		stored := *e
		stored.Ctimes = nil // set below, as the clock of this file system may differ
		if e.Ctimes == nil {
			gittest.Must(t, Append(repo, &stored))
			continue
		}
		line, err := encode(e)
		gittest.Must(t, err)
		gittest.Must(t, os.WriteFile(file, append(bytes.Clone(content(t, file)), line...), 0o600))
	}
	got, err := Read(repo)
	gittest.Must(t, err)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	gittest.Must(t, Drop(repo))
	gittest.Must(t, Drop(repo))
	if all, err := Read(repo); all != nil || err != nil {
		t.Errorf("without a journal there are %v, %v", all, err)
	}
}

func content(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if !errors.Is(err, os.ErrNotExist) {
		gittest.Must(t, err)
	}
	return data
}

// TestUnread: what is in the file and no entry of ours is left out, and spoils nothing beside it.
func TestUnread(t *testing.T) {
	t.Parallel()
	const ours = `{"v":1,"at":5,"session":"ours"}`
	for name, line := range map[string]string{
		"torn":                     `{"v":1,"at":5,"ses`,
		"empty":                    ``,
		"no object":                `null`,
		"no version":               `{"at":5}`,
		"another version":          `{"v":2,"at":5}`,
		"no time":                  `{"v":1}`,
		"it ends before it begins": `{"v":1,"at":5,"from":6}`,
		"another event":            `{"v":1,"at":5,"event":"?"}`,
		"no hash":                  `{"v":1,"at":5,"tree":"1"}`,
		"a path outside":           `{"v":1,"at":5,"calls":[["","Edit","../a"]]}`,
		"an absolute one":          `{"v":1,"at":5,"named":["/etc"]}`,
		"the worktree itself":      `{"v":1,"at":5,"ctimes":{".":1}}`,
		"half a call":              `{"v":1,"at":5,"calls":[["","Edit"]]}`,
		"a negative number":        `{"v":1,"at":5,"bytes":-1}`,
		"too long":                 `{"v":1,"at":5,"session":"` + strings.Repeat("x", maxLine) + `"}`,
		"binary":                   "\x00\xff",
	} {
		repo, file := repository(t)
		gittest.Must(t, os.Mkdir(filepath.Dir(file), 0o700))
		gittest.Must(t, os.WriteFile(file, []byte(line+"\n"+ours+"\n"+line), 0o600)) // the last one was torn
		if got := sessions(t, repo); !slices.Equal(got, []string{"ours"}) {
			t.Errorf("%s: got %v", name, got)
		}
		gittest.Must(t, Append(repo, &Entry{At: 6, Session: "next"}))
		if got := sessions(t, repo); !slices.Equal(got, []string{"ours", "next"}) {
			t.Errorf("%s: after the next entry got %v", name, got)
		}
	}
}

// TestDuring: a turn is found by its prompt's id, and where the client gave it one only later, by when it started.
func TestDuring(t *testing.T) {
	t.Parallel()
	repo, _ := repository(t)
	tree := object.NewHash(gittest.Hash("1"))
	for _, e := range []*Entry{
		{At: 5, Event: Prompt, Session: "other"},
		{At: 10, Event: Prompt, Session: "s"},
		{At: 12, Session: "s"},
		{At: 20, Event: Prompt, Session: "s"},
		{At: 22, Session: "s"},
		{At: 30, Event: Prompt, Session: "s", PromptID: "p"},
		{At: 32, Session: "s"},
	} {
		e.Tree = tree
		gittest.Must(t, Append(repo, e))
	}
	for _, tt := range []struct {
		prompt        string
		started, from int64
		seen          int
		found         bool
	}{
		{"", 10, 10, 5, true},
		{"", 11, 20, 3, true},
		{"late", 10, 10, 5, true},
		{"late", 20, 20, 3, true},
		{"late", 21, 21, 3, false},
		{"p", 30, 30, 1, true},
		{"p", 33, 30, 1, true},
	} {
		got, err := During(repo, "s", tt.prompt, time.UnixMilli(tt.started))
		gittest.Must(t, err)
		if got.From != tt.from || len(got.Seen) != tt.seen || got.Began.IsZero() == tt.found {
			t.Errorf("turn %q of %d: it began at %d with %v, and %d were seen; want %d, %t, %d", tt.prompt, tt.started, got.From, got.Began, len(got.Seen), tt.from, tt.found, tt.seen)
		}
	}
}

// TestShortenTimes: where the times of files take the room, they go first, and a turn keeps its beginning.
func TestShortenTimes(t *testing.T) {
	t.Parallel()
	repo, _ := repository(t)
	times := make(map[string]int64)
	for i := range 900 {
		times[fmt.Sprintf("src/file%d.txt", i)] = 1
	}
	started := time.Now()
	gittest.Must(t, Append(repo, &Entry{At: started.UnixMilli(), Event: Prompt, Session: "s", Tree: object.NewHash(gittest.Hash("1"))}))
	for i := range 100 {
		e := &Entry{At: time.Now().UnixMilli(), Session: "s", Calls: []Call{{Tool: "Bash"}}, Ctimes: maps.Clone(times)}
		gittest.Must(t, Append(repo, e))
		got, err := During(repo, "s", "", started)
		gittest.Must(t, err)
		if got.Began.IsZero() || len(got.Seen) != i+1 || len(got.Seen[0].Calls) != 1 {
			t.Fatalf("after %d entries it began with %v, and %d were seen", i+1, got.Began, len(got.Seen))
		}
	}
}

// TestShorten: the file stays below its limit and has the newest entries. Those of more than two weeks ago go, too.
func TestShorten(t *testing.T) {
	t.Parallel()
	repo, file := repository(t)
	const at = 2 * 14 * 24 * 3600 * 1000
	gittest.Must(t, Append(repo, &Entry{At: 1, Session: "first"}))
	var before int64
	for i := 0; ; i++ {
		e := &Entry{At: at, Session: fmt.Sprint(i), Agent: strings.Repeat("x", 10_000)}
		if i%3 == 0 {
			e.At = 2
		}
		gittest.Must(t, Append(repo, e))
		info, err := os.Stat(file)
		gittest.Must(t, err)
		if info.Size() > maxSize {
			t.Fatalf("it has %d bytes", info.Size())
		}
		if info.Size() < before {
			got := sessions(t, repo)
			if last := fmt.Sprint(i); got[len(got)-1] != last || len(got) > i/2+1 || slices.Contains(got, "first") {
				t.Errorf("%d: got %v", i, got)
			}
			for _, s := range got[:len(got)-1] {
				if n, err := strconv.Atoi(s); err != nil || n%3 == 0 {
					t.Errorf("%s is old", s)
				}
			}
			break
		}
		before = info.Size()
	}
	if _, err := os.Lstat(file + ".new"); err == nil {
		t.Error("the replacement is still there")
	}
}

// TestLarge: of a file that somebody else has made large, the end is read.
func TestLarge(t *testing.T) {
	t.Parallel()
	repo, file := repository(t)
	gittest.Must(t, os.Mkdir(filepath.Dir(file), 0o700))
	line := []byte(`{"v":1,"at":5,"session":"` + strings.Repeat("x", 1000) + `"}` + "\n")
	gittest.Must(t, os.WriteFile(file, bytes.Repeat(line, 3*maxSize/len(line)), 0o600))
	if got := len(sessions(t, repo)); got < 900 || got > maxSize/len(line) {
		t.Errorf("%d entries were read", got)
	}
	gittest.Must(t, Append(repo, &Entry{At: 5, Session: "next"}))
	if info, err := os.Stat(file); err != nil || info.Size() > maxSize {
		t.Errorf("it has %d bytes, %v", info.Size(), err)
	}
}

// TestLong: an entry that is too long for a line says less.
func TestLong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("p", 4000)
	e := &Entry{At: 5, Ctimes: map[string]int64{}, Named: []string{"n"}, Calls: []Call{{"1", "Edit", "a"}}}
	for i := range 100 {
		e.Ctimes[fmt.Sprint(i, long)] = 1
	}
	line, err := encode(e)
	gittest.Must(t, err)
	if got := decode(line); got == nil || got.Ctimes != nil || len(got.Calls) != 1 || len(got.Named) != 1 {
		t.Errorf("without its ctimes it is %+v", got)
	}
	for i := range 100 {
		e.Calls = append(e.Calls, Call{"1", "Edit", fmt.Sprint(i, long)})
	}
	line, err = encode(e)
	gittest.Must(t, err)
	if got := decode(line); got == nil || len(got.Calls) != 1 || got.Calls[0].Path != "" || got.Named != nil {
		t.Errorf("with many paths it is %+v", got)
	}
	if _, err := encode(&Entry{At: 5, Session: strings.Repeat(long, 100)}); err == nil {
		t.Error("a session's id of 400 KB was taken")
	}
}

// TestConcurrent: processes that add entries under the worktree's lock lose none, also when the file is made shorter.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	repo, _ := repository(t)
	const writers, each = 3, 30
	var wg, last sync.WaitGroup
	last.Add(writers)
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				if i == each-1 { // else what the first one has written is old when the others end
					last.Done()
					last.Wait()
				}
				held, err := statedir.Of(repo.GitDir).Lock(t.Context(), "lock")
				if err == nil {
					err = Append(repo, &Entry{At: 5, Session: fmt.Sprint(w), Steps: i, Agent: strings.Repeat("x", 20_000)})
					held.Release()
				}
				if err != nil {
					t.Error(err)
				}
				if _, err := Read(repo); err != nil { // without the lock
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	all, err := Read(repo)
	gittest.Must(t, err)
	next := map[string]int{}
	for i, e := range slices.Backward(all) {
		if n, known := next[e.Session]; known && e.Steps != n-1 {
			t.Fatalf("%d: %s has %d before %d", i, e.Session, e.Steps, n)
		} else if !known && e.Steps != each-1 {
			t.Fatalf("the last of %s is %d", e.Session, e.Steps)
		}
		next[e.Session] = e.Steps
	}
	if len(next) != writers {
		t.Errorf("entries of %v", next)
	}
}

// TestCtimes: they are stored if the file system has our clock.
func TestCtimes(t *testing.T) {
	t.Parallel()
	repo, file := repository(t)
	gittest.Must(t, Append(repo, &Entry{At: 5, Session: "a"}))
	info, err := os.Stat(file)
	gittest.Must(t, err)
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	gittest.Must(t, err)
	defer f.Close()
	_, known := Ctime(info)
	if got := sameClock(f, info); got != known {
		t.Errorf("the clock is ours: %v, and ctimes are known: %v", got, known)
	}
	gittest.Must(t, Append(repo, &Entry{At: 6, Session: "b", Ctimes: map[string]int64{"a": 1}}))
	all, err := Read(repo)
	gittest.Must(t, err)
	if len(all) != 2 || (all[1].Ctimes != nil) != known {
		t.Errorf("got %+v", all)
	}
}

// TestPlace: what is in the journal's place is refused by name.
func TestPlace(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(file string) error{
		"a link":      func(file string) error { return os.Symlink(filepath.Join(filepath.Dir(file), "other"), file) },
		"a directory": func(file string) error { return os.Mkdir(file, 0o700) },
		"a file with another name": func(file string) error {
			return errors.Join(os.WriteFile(file+".x", nil, 0o600), os.Link(file+".x", file))
		},
	} {
		repo, file := repository(t)
		gittest.Must(t, os.Mkdir(filepath.Dir(file), 0o700))
		gittest.Must(t, put(file))
		err := Append(repo, &Entry{At: 5})
		if !errors.Is(err, statedir.ErrRefused) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "a link" {
			if _, err := Read(repo); !errors.Is(err, statedir.ErrRefused) {
				t.Errorf("%s was read: %v", name, err)
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(file), "other")); err == nil {
				t.Error("it was written through")
			}
		}
	}
}

// FuzzDecode checks that what is read is what would be written.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"v":1,"at":5,"calls":[["1","Edit","a"]],"named":["b"],"ctimes":{"a":1},"tree":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e := decode(text)
		if e == nil {
			return
		}
		line, err := encode(e)
		if err != nil {
			t.Fatal(err)
		}
		again := decode(line)
		if again == nil {
			t.Fatalf("%s became %s", text, line)
		}
		second, err := encode(again)
		if err != nil || !bytes.Equal(line, second) {
			t.Fatalf("%s, then %s, %v", line, second, err)
		}
	})
}
