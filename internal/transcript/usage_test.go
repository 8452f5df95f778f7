package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// answered is an assistant record with its usage, 6 tokens of it for the cache.
func answered(model string, context int) string {
	return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"type":"assistant","uuid":"u","message":{"id":"m","model":%q,"content":[],`+
		`"usage":{"input_tokens":%d,"cache_creation_input_tokens":2,"cache_read_input_tokens":4,"output_tokens":99}}}`+"\n", model, context-6)
}

func compactBoundary(trigger string, before, after int) string {
	return fmt.Sprintf(`{"parentUuid":null,"isSidechain":false,"type":"system","subtype":"compact_boundary","timestamp":"2026-11-20T12:00:00.000Z",`+
		`"compactMetadata":{"trigger":%q,"preTokens":%d,"postTokens":%d}}`+"\n", trigger, before, after)
}

func modelRecord(id string) string {
	return fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"attachment":{"type":"model","identity":{"modelId":%q}},"type":"attachment"}`+"\n", id)
}

// image is the result, n bytes long, of a tool that has read a picture.
func image(n int) string {
	return `{"type":"user","message":{"content":[{"type":"tool_result","content":"` + strings.Repeat("A", n) + `"}]}}` + "\n"
}

const (
	progress = `{"type":"progress","data":"..."}` + "\n"
	side     = `{"isSidechain":true,"type":"assistant","message":{"model":"m","usage":{"input_tokens":900000}}}` + "\n"
)

func TestLastUsage(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		file string
		want Usage
		err  error
	}{
		{"one answer", answered("m1", 1000), Usage{Tokens: 1000, Model: "m1"}, nil},
		{"the last of two", answered("m1", 1000) + answered("m2", 2000) + progress, Usage{Tokens: 2000, Model: "m2"}, nil},
		{"not the sub-agent's", answered("m1", 1000) + side, Usage{Tokens: 1000, Model: "m1"}, nil},
		{"not the client's own", answered("m1", 1000) + answered("<synthetic>", 5000), Usage{Tokens: 1000, Model: "m1"}, nil},
		{"not one without figures", answered("m1", 1000) + `{"type":"assistant","message":{"model":"m2","usage":{}}}` + "\n", Usage{Tokens: 1000, Model: "m1"}, nil},
		{"torn last line", answered("m1", 1000) + strings.TrimSuffix(answered("m2", 2000), "}\n"), Usage{Tokens: 1000, Model: "m1"}, nil},
		{"whole last line without its newline", answered("m1", 1000) + strings.TrimSuffix(answered("m2", 2000), "\n"), Usage{Tokens: 2000, Model: "m2"}, nil},
		{"before one image", answered("m1", 1000) + image(300<<10) + progress, Usage{Tokens: 1000, Model: "m1"}, nil},
		{"before an image that is never in memory", answered("m1", 1000) + image(3*maxLine) + progress, Usage{Tokens: 1000, Model: "m1"}, nil},
		{"before an image that ends the file", answered("m1", 1000) + strings.TrimSuffix(image(3*maxLine), "\n"), Usage{Tokens: 1000, Model: "m1"}, nil},
		{"before many records", answered("m1", 1000) + strings.Repeat(progress, 20_000), Usage{Tokens: 1000, Model: "m1"}, nil},
		{"with its model's name", modelRecord("m1[1m]") + answered("m1", 1000), Usage{Tokens: 1000, Model: "m1", Variant: "m1[1m]"}, nil},
		{"the model was changed since", modelRecord("m1[1m]") + answered("m1", 1000) + modelRecord("m2"), Usage{Tokens: 1000, Model: "m1", Variant: "m2"}, nil},
		{"its model's name is far away", modelRecord("m1[1m]") + image(200<<10) + answered("m1", 1000), Usage{Tokens: 1000, Model: "m1"}, nil},
		{"compacted since", answered("m1", 190_000) + compactBoundary("auto", 190_050, 3000) + progress, Usage{Tokens: 3000, Model: "m1"}, nil},
		{"compacted before", answered("m1", 190_000) + compactBoundary("auto", 190_050, 3000) + answered("m1", 20_000), Usage{Tokens: 20_000, Model: "m1"}, nil},
		{"compacted twice since", answered("m1", 190_000) + compactBoundary("auto", 1, 7000) + compactBoundary("manual", 1, 3000), Usage{Tokens: 3000, Model: "m1"}, nil},
		{"said in a prompt", answered("m1", 1000) + `{"type":"user","message":{"content":"{\"type\":\"assistant\"} \"compact_boundary\""}}` + "\n", Usage{Tokens: 1000, Model: "m1"}, nil},
		{"negative figures", answered("m1", 1000) + `{"type":"assistant","message":{"model":"m2","usage":{"input_tokens":-5}}}` + "\n", Usage{Tokens: 1000, Model: "m1"}, nil},
		{"too far from the end", answered("m1", 1000) + strings.Repeat(image(16<<20), 4), Usage{}, ErrNoUsage},
		{"empty", "", Usage{}, ErrNoUsage},
		{"progress only", strings.Repeat(progress, 5000), Usage{}, ErrNoUsage},
		{"no JSON", strings.Repeat("type assistant usage\n", 100), Usage{}, ErrNoUsage},
		{"one long line", strings.Repeat("x", 3*maxLine), Usage{}, ErrNoUsage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "session.jsonl")
			if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := LastUsage(path)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("LastUsage = %+v, %v, want %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
	if _, err := LastUsage(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("LastUsage of a file that is not there: %v", err)
	}
}

// TestLastUsageOfRealFiles compares the results with figures read from the files by hand.
func TestLastUsageOfRealFiles(t *testing.T) {
	t.Parallel()
	for name, tokens := range map[string]int64{
		"five-turns":        12 + 300 + 15000,
		"compaction-manual": 12 + 300 + 15000,
		"subagent":          12 + 300 + 15000,
	} {
		got, err := LastUsage(filepath.Join("../../testdata/transcripts", name+".jsonl"))
		if err != nil || got.Tokens != tokens || got.Model != "claude-opus-4-8" {
			t.Errorf("LastUsage(%s) = %+v, %v, want %d tokens", name, got, err, tokens)
		}
	}
}

// TestLastUsageOfLargeFile reads a file of 400 MB, most of it a hole, whose last answer comes
// before 30 MB of images. It measures memory, so no other test runs meanwhile.
func TestLastUsageOfLargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	end := "\n" + answered("m1", 1000) + strings.Repeat(image(5<<20), 6)
	if _, err := f.WriteAt([]byte(end), 400<<20); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := LastUsage(path)
	runtime.ReadMemStats(&after)
	if want := (Usage{Tokens: 1000, Model: "m1"}); got != want || err != nil {
		t.Errorf("LastUsage = %+v, %v, want %+v", got, err, want)
	}
	if used, most := after.TotalAlloc-before.TotalAlloc, uint64(4*maxLine); used > most {
		t.Errorf("LastUsage took %d bytes of memory, want at most %d", used, most)
	}
}

func TestVariant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, want string }{
		{"first record", modelRecord("m1[1m]") + answered("m1", 1000), "m1[1m]"},
		{"the first of two", progress + modelRecord("m1") + modelRecord("m2"), "m1"},
		{"none", progress + answered("m1", 1000), ""},
		{"torn", modelRecord("m1")[:100], ""},
		{"empty", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "session.jsonl")
		if err := os.WriteFile(path, []byte(tt.file), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := Variant(path); got != tt.want || err != nil {
			t.Errorf("%s: Variant = %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	if got, err := Variant("../../testdata/transcripts/five-turns.jsonl"); got != "claude-opus-4-8" || err != nil {
		t.Errorf("Variant of a real file = %q, %v", got, err)
	}
}

func TestCompactions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	file := progress + answered("m1", 1000) + compactBoundary("manual", 1100, 100) + image(300<<10) +
		modelRecord("m2[1m]") + answered("m2", 2000) + compactBoundary("auto", 2100, 100) + answered("m2", 500) + compactBoundary("auto", 600, 10)[:150]
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	at := parseTime("2026-11-20T12:00:00.000Z")
	want := []Compaction{
		{Model: "m1", Tokens: 1100, At: at},
		{Model: "m2", Variant: "m2[1m]", Tokens: 2100, At: at, Auto: true},
	}
	if got, err := Compactions(path); err != nil || !slices.Equal(got, want) {
		t.Errorf("Compactions = %+v, %v, want %+v", got, err, want)
	}
	got, err := Compactions("../../testdata/transcripts/compaction-manual.jsonl")
	if err != nil || len(got) != 1 || got[0].Model != "claude-opus-4-8" || got[0].Variant != "claude-opus-4-8" || got[0].Tokens != 15354 || got[0].Auto {
		t.Errorf("Compactions of a real file = %+v, %v", got, err)
	}
}

// FuzzBackwards compares the result with splitting the whole file.
func FuzzBackwards(f *testing.F) {
	f.Add([]byte("a\nbb\n\nccc"), uint16(3), uint8(1))
	f.Add([]byte("\n\n"), uint16(60_000), uint8(2))
	f.Add([]byte("x\n"), uint16(65_535), uint8(40))
	f.Fuzz(func(t *testing.T, text []byte, fill uint16, times uint8) {
		// Long lines come from repetition: fuzzing would not find 100 KB of them by chance.
		file := bytes.Repeat(append(bytes.Repeat([]byte{'x'}, int(fill)), text...), int(times)%50)
		type line struct {
			at   int64
			text string
		}
		var want, got []line
		for at, text := range lines(file) {
			if len(text) < tailSize-1 {
				want = append(want, line{int64(at), string(text)})
			}
		}
		slices.Reverse(want)
		for at, text := range backwards(bytes.NewReader(file), 0, int64(len(file))) {
			if len(text) < tailSize-1 {
				got = append(got, line{at, string(text)})
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("backwards of %d bytes gave %d lines, want %d", len(file), len(got), len(want))
		}
	})
}

// BenchmarkLastUsage reads a file of 400 MB, most of it a hole.
func BenchmarkLastUsage(b *testing.B) {
	for _, images := range []int{0, 1, 6} {
		b.Run(fmt.Sprintf("%d images of 5 MB since", images), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "session.jsonl")
			f, err := os.Create(path)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			end := "\n" + modelRecord("m1") + answered("m1", 1000) + strings.Repeat(image(5<<20), images)
			if _, err := f.WriteAt([]byte(end), 400<<20); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := LastUsage(path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
