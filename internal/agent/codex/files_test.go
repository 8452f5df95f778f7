package codex

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

// The files of one thread, in which a person has gone back three times, and others' beside them.
const (
	thread  = "01a20994-f999-7070-ae09-149962ce9ef3"
	day     = "sessions/2026/11/23/"
	firstOf = day + "rollout-2026-11-23T18-04-47-" + thread + ".jsonl"
	second  = day + "rollout-2026-11-23T18-07-36-" + thread + "_01a20997-8db3-7e80-9295-6f8b14881855.jsonl"
	third   = day + "rollout-2026-11-23T18-08-07-" + thread + "_01a20998-06d0-7203-9201-4dfb2f52dbe0.jsonl"
	fourth  = day + "rollout-2026-11-23T18-08-16-" + thread + "_01a20998-2809-7920-bd7f-646f836a742c.jsonl"
	other   = day + "rollout-2026-11-23T18-04-05-01a20994-5545-7913-9338-749dc22610ec.jsonl"
	away    = "archived_sessions/rollout-2026-11-22T01-22-37-01a200d9-1a4c-76d0-a2a0-2c15929b9722.jsonl"
	child   = day + "rollout-2026-11-23T18-14-35-01a2099d-eee9-7793-b3af-7f9551203b88.jsonl"
	forked  = day + "rollout-2026-11-22T01-25-46-01a200db-fc04-7c93-b5bf-f2abe5531e71.jsonl"
)

// home makes a configuration of the client with the captures at these places.
func home(t *testing.T) string {
	t.Helper()
	config := t.TempDir()
	for path, name := range map[string]string{
		firstOf: "tui", second: "rewound", third: "rewound-again", fourth: "rewound-far",
		other: "tools", away: "three-turns", child: "sub-agent", forked: "thread-fork",
	} {
		put(t, filepath.Join(config, path), agenttest.Capture(t, name))
	}
	put(t, filepath.Join(config, day, "rollout-x.jsonl"), nil)
	put(t, filepath.Join(config, day, "rollout-2026-11-23T18-04-05-..%2F.jsonl"), nil)
	put(t, filepath.Join(config, day, strings.Replace(filepath.Base(other), ".jsonl", ".jsonl.bak", 1)), nil)
	return config
}

func put(t *testing.T, path string, data []byte) {
	t.Helper()
	gittest.Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	gittest.Must(t, os.WriteFile(path, data, 0o600))
}

func TestFiles(t *testing.T) {
	t.Parallel()
	config := home(t)
	for _, tt := range []struct {
		prefix string
		want   []string
	}{
		{"01a20994", []string{other, fourth}},
		{thread, []string{fourth}},
		{"01a200d9", []string{away}},
		{"01a20997", nil}, // a file's id, not a thread's
		{"", []string{away, forked, other, fourth, child}},
	} {
		files, err := Files(config, tt.prefix)
		var got []string
		for _, f := range files {
			path, _ := filepath.Rel(config, f.Path)
			if got = append(got, path); !strings.Contains(path, f.Session) {
				t.Errorf("%s is of thread %s", path, f.Session)
			}
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Files(%q) = %q, %v, want %q", tt.prefix, got, err, tt.want)
		}
	}
	if got, err := Files(t.TempDir(), ""); got != nil || err != nil {
		t.Errorf("without any: %v, %v", got, err)
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	config := home(t)
	for _, tt := range []struct{ dirs, want []string }{
		{[]string{"/home/dev/cx/below"}, nil},
		{[]string{"/home/dev/"}, []string{away, forked, other, fourth}},
		{[]string{"/home/dev/c"}, []string{away, forked, other, fourth}}, // beside it, with commits
		{[]string{"/home/d"}, nil},
		{nil, nil},
	} {
		files, err := History(config, tt.dirs)
		var got []string
		for _, f := range files {
			path, _ := filepath.Rel(config, f.Path)
			got = append(got, path)
			if info, err := os.Stat(f.Path); err != nil || f.Size != info.Size() || !strings.Contains(f.Path, f.Session) {
				t.Errorf("%+v", f)
			}
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("History(%q) = %q, %v, want %q", tt.dirs, got, err, tt.want)
		}
	}
}

// TestHistoryUnread: what the client has compressed is listed once, and what can't be read with the reason.
func TestHistoryUnread(t *testing.T) {
	t.Parallel()
	config := home(t)
	e, err := zstd.NewWriter(nil)
	gittest.Must(t, err)
	packed := e.EncodeAll(agenttest.Capture(t, "three-turns"), nil)
	const name = day + "rollout-2026-11-23T20-00-00-"
	put(t, filepath.Join(config, away+".zst"), packed) // and as it was
	put(t, filepath.Join(config, name+"packed.jsonl.zst"), packed)
	put(t, filepath.Join(config, "archived_sessions/rollout-2026-11-23T20-00-00-archived.jsonl.zst"), packed)
	put(t, filepath.Join(config, name+"cut.jsonl.zst"), packed[:100])
	put(t, filepath.Join(config, name+"plain.jsonl.zst"), agenttest.Capture(t, "three-turns"))
	put(t, filepath.Join(config, name+"gzip.jsonl.gz"), packed)
	put(t, filepath.Join(config, name+"old.jsonl"), []byte(`{"id":"old","timestamp":"2025-06-01T00:00:00Z"}`+"\n"))
	put(t, filepath.Join(config, name+"torn.jsonl"), []byte(`{"type":"session_meta","payl`))
	put(t, filepath.Join(config, name+"empty.jsonl"), nil)
	put(t, filepath.Join(config, name+"temporary.jsonl.tmp"), packed)
	files, err := History(config, []string{"/home/dev/cx"})
	gittest.Must(t, err)
	want := map[string]string{
		"packed": "", "archived": "", "cut": transcript.ErrDamaged.Error(), "plain": transcript.ErrDamaged.Error(),
		"gzip": transcript.ErrForeign.Error(), "old": "another version", "torn": "EOF",
	}
	for _, f := range files {
		why, is := want[f.Session]
		if delete(want, f.Session); is && (why == "") != (f.Err == nil) || f.Err != nil && !strings.Contains(f.Err.Error(), why) {
			t.Errorf("%s: %v, want %s", f.Session, f.Err, why)
		}
		if !is && (f.Err != nil || f.Dir == "" || strings.HasSuffix(f.Path, ".zst")) {
			t.Errorf("it is %+v", f)
		}
	}
	if len(want) > 0 || len(files) != 11 {
		t.Errorf("%v are missing of %+v", want, files)
	}
}

// TestContinuesPacked: the file that one goes on from may be compressed.
func TestContinuesPacked(t *testing.T) {
	t.Parallel()
	config := home(t)
	e, err := zstd.NewWriter(nil)
	gittest.Must(t, err)
	data, err := os.ReadFile(filepath.Join(config, firstOf))
	gittest.Must(t, err)
	put(t, filepath.Join(config, firstOf+".zst"), e.EncodeAll(data, nil))
	gittest.Must(t, os.Remove(filepath.Join(config, firstOf)))
	if got, jumps, err := Continues(filepath.Join(config, second), 0); got != "01a20995-6f16-7d00-aeca-5ac5249cbff2" || !jumps || err != nil {
		t.Errorf("Continues: %q, %t, %v", got, jumps, err)
	}
}

func TestContinues(t *testing.T) {
	t.Parallel()
	config := home(t)
	for _, tt := range []struct{ path, want string }{
		{firstOf, ""},
		{other, ""},
		{second, "01a20995-6f16-7d00-aeca-5ac5249cbff2"}, // three, after which /compact was no turn
		{third, "01a20997-98c1-7c43-b7e2-8b939adfb8c1"},  // the first one of the second file
		{fourth, "01a20995-634d-7482-8da4-e540a1c6a052"}, // two, in the first file
		{forked, ""}, // from a thread that isn't here
	} {
		if got, jumps, err := Continues(filepath.Join(config, tt.path), 0); got != tt.want || jumps != (tt.want != "" || tt.path == forked) || err != nil {
			t.Errorf("Continues(%s) = %q, %t, %v, want %q", tt.path, got, jumps, err, tt.want)
		}
		if got, jumps, err := Continues(filepath.Join(config, tt.path), 1); got != "" || jumps || err != nil {
			t.Errorf("a later turn of %s jumps to %q, %v", tt.path, got, err)
		}
	}
}

// TestContinuesDeeper: a file that has no turn before the place leads to the one that it goes on from,
// and what is wrong with a file ends the search.
func TestContinuesDeeper(t *testing.T) {
	t.Parallel()
	meta := func(base string, end int64) []byte {
		return fmt.Appendf(nil, `{"type":"session_meta","payload":{"history_base":{"thread_id":%q,"end_byte_offset":%d}}}`+"\n", base, end)
	}
	_, place := upTo(t, "tui", "rewound")
	between := meta(thread, place)
	whole := int64(len(between))
	for _, tt := range []struct {
		name, base string
		end        int64
		want       string
	}{
		{"through a file without turns", "between", whole, "01a20995-6f16-7d00-aeca-5ac5249cbff2"},
		{"a path", "../../../../between", whole, ""},
		{"itself, again and again", "new", 0, ""},
		{"in the middle of a line", thread, place - 1, ""},
		{"behind its end", thread, 1 << 40, ""},
		{"before its beginning", thread, -1, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			config := home(t)
			put(t, filepath.Join(config, day, "rollout-2026-11-23T19-00-00-t_between.jsonl"), between)
			path := filepath.Join(config, day, "rollout-2026-11-23T19-00-01-t_new.jsonl")
			put(t, path, meta(tt.base, tt.end))
			if got, _, _ := Continues(path, 0); got != tt.want {
				t.Errorf("Continues gives %q, want %q", got, tt.want)
			}
		})
	}
	if got, _, err := Continues(filepath.Join(t.TempDir(), "x.jsonl"), 0); got != "" || err != nil {
		t.Errorf("of a file elsewhere: %q, %v", got, err)
	}
}

// TestContinuesLarge: the last turns of a file are read, however large it is, and more of it if they are long.
func TestContinuesLarge(t *testing.T) {
	t.Parallel()
	for _, before := range []int64{0, 1 << 20, 300 << 20} {
		for _, after := range []int64{0, 1 << 20, 9 << 20} {
			config := t.TempDir()
			base := filepath.Join(config, day, "rollout-2026-11-23T19-00-00-t.jsonl")
			put(t, base, nil)
			f, err := os.OpenFile(base, os.O_WRONLY, 0)
			gittest.Must(t, err)
			end := before // a hole takes no place
			for _, part := range []struct {
				text string
				hole int64
			}{
				{"\n" + `{"type":"event_msg","payload":{"type":"task_started","turn_id":"one","turn_attribution":{"turn_trigger":"user"}}}` + "\n", after},
				{"\n", 0},
			} {
				n, err := f.WriteAt([]byte(part.text), end)
				gittest.Must(t, err)
				end += int64(n) + part.hole
			}
			gittest.Must(t, f.Close())
			next := filepath.Join(config, day, "rollout-2026-11-23T19-00-01-t_new.jsonl")
			put(t, next, fmt.Appendf(nil, `{"type":"session_meta","payload":{"history_base":{"thread_id":"t","end_byte_offset":%d}}}`+"\n", end))
			if got, _, err := Continues(next, 0); got != "one" || err != nil {
				t.Errorf("with %d bytes before the last turn, and %d in it: %q, %v", before, after, got, err)
			}
		}
	}
}

// upTo returns what a rollout has in common with one that goes on from it.
func upTo(t *testing.T, name, next string) (data []byte, end int64) {
	t.Helper()
	end = gjson.GetBytes(agenttest.Capture(t, next), "payload.history_base.end_byte_offset").Int()
	return agenttest.Capture(t, name)[:end], end
}
