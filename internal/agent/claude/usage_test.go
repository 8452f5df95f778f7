package claude

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// usageLine is an assistant record with its usage, 6 tokens of it for the cache.
func usageLine(model string, context int) string {
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
		name, file string
		want       transcript.ContextUse
		err        error
	}{
		{"one answer", usageLine("m1", 1000), transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"the last of two", usageLine("m1", 1000) + usageLine("m2", 2000) + progress, transcript.ContextUse{Tokens: 2000, Model: "m2"}, nil},
		{"not the sub-agent's", usageLine("m1", 1000) + side, transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"not the client's own", usageLine("m1", 1000) + usageLine("<synthetic>", 5000), transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"not one without figures", usageLine("m1", 1000) + `{"type":"assistant","message":{"model":"m2","usage":{}}}` + "\n", transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"torn last line", usageLine("m1", 1000) + strings.TrimSuffix(usageLine("m2", 2000), "}\n"), transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"whole last line without its newline", usageLine("m1", 1000) + strings.TrimSuffix(usageLine("m2", 2000), "\n"), transcript.ContextUse{Tokens: 2000, Model: "m2"}, nil},
		{"before one image", usageLine("m1", 1000) + image(300<<10) + progress, transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"before an image that is never in memory", usageLine("m1", 1000) + image(3*maxLine) + progress, transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"before an image that ends the file", usageLine("m1", 1000) + strings.TrimSuffix(image(3*maxLine), "\n"), transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"before many records", usageLine("m1", 1000) + strings.Repeat(progress, 20_000), transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"with its model's name", modelRecord("m1[1m]") + usageLine("m1", 1000), transcript.ContextUse{Tokens: 1000, Model: "m1", Variant: "m1[1m]"}, nil},
		{"the model was changed since", modelRecord("m1[1m]") + usageLine("m1", 1000) + modelRecord("m2"), transcript.ContextUse{Tokens: 1000, Model: "m1", Variant: "m2"}, nil},
		{"its model's name is far away", modelRecord("m1[1m]") + image(200<<10) + usageLine("m1", 1000), transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"compacted since", usageLine("m1", 190_000) + compactBoundary("auto", 190_050, 3000) + progress, transcript.ContextUse{Tokens: 3000, Model: "m1"}, nil},
		{"compacted before", usageLine("m1", 190_000) + compactBoundary("auto", 190_050, 3000) + usageLine("m1", 20_000), transcript.ContextUse{Tokens: 20_000, Model: "m1"}, nil},
		{"compacted twice since", usageLine("m1", 190_000) + compactBoundary("auto", 1, 7000) + compactBoundary("manual", 1, 3000), transcript.ContextUse{Tokens: 3000, Model: "m1"}, nil},
		{"said in a prompt", usageLine("m1", 1000) + `{"type":"user","message":{"content":"{\"type\":\"assistant\"} \"compact_boundary\""}}` + "\n", transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"negative figures", usageLine("m1", 1000) + `{"type":"assistant","message":{"model":"m2","usage":{"input_tokens":-5}}}` + "\n", transcript.ContextUse{Tokens: 1000, Model: "m1"}, nil},
		{"too far from the end", usageLine("m1", 1000) + strings.Repeat(image(16<<20), 4), transcript.ContextUse{}, transcript.ErrNoUsage},
		{"empty", "", transcript.ContextUse{}, transcript.ErrNoUsage},
		{"progress only", strings.Repeat(progress, 5000), transcript.ContextUse{}, transcript.ErrNoUsage},
		{"no JSON", strings.Repeat("type assistant usage\n", 100), transcript.ContextUse{}, transcript.ErrNoUsage},
		{"one long line", strings.Repeat("x", 3*maxLine), transcript.ContextUse{}, transcript.ErrNoUsage},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "session.jsonl")
			write(t, path, tt.file)
			got, err := transcript.LastUsage(Reader, path)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("LastUsage = %+v, %v, want %+v, %v", got, err, tt.want, tt.err)
			}
		})
	}
	if _, err := transcript.LastUsage(Reader, filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
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
		got, err := transcript.LastUsage(Reader, filepath.Join("../../../testdata/transcripts", name+".jsonl"))
		if err != nil || got.Tokens != tokens || got.Model != "claude-opus-4-8" {
			t.Errorf("transcript.LastUsage(Reader, %s) = %+v, %v, want %d tokens", name, got, err, tokens)
		}
	}
}

// TestLastUsageOfLargeFile reads a file of 400 MB, most of it a hole, whose last answer comes
// before 30 MB of images. It measures memory, so no other test runs meanwhile.
func TestLastUsageOfLargeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "session.jsonl")
	f, err := os.Create(path)
	gittest.Must(t, err)
	defer f.Close()
	end := "\n" + usageLine("m1", 1000) + strings.Repeat(image(5<<20), 6)
	if _, err := f.WriteAt([]byte(end), 400<<20); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := transcript.LastUsage(Reader, path)
	runtime.ReadMemStats(&after)
	if want := (transcript.ContextUse{Tokens: 1000, Model: "m1"}); got != want || err != nil {
		t.Errorf("LastUsage = %+v, %v, want %+v", got, err, want)
	}
	if used, most := after.TotalAlloc-before.TotalAlloc, uint64(4*maxLine); used > most {
		t.Errorf("LastUsage took %d bytes of memory, want at most %d", used, most)
	}
}

func TestVariant(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, file, want string }{
		{"first record", modelRecord("m1[1m]") + usageLine("m1", 1000), "m1[1m]"},
		{"the first of two", progress + modelRecord("m1") + modelRecord("m2"), "m1"},
		{"none", progress + usageLine("m1", 1000), ""},
		{"torn", modelRecord("m1")[:100], ""},
		{"empty", "", ""},
	} {
		path := filepath.Join(t.TempDir(), "session.jsonl")
		write(t, path, tt.file)
		if got, err := transcript.Variant(Reader, path); got != tt.want || err != nil {
			t.Errorf("%s: Variant = %q, %v, want %q", tt.name, got, err, tt.want)
		}
	}
	if got, err := transcript.Variant(Reader, "../../../testdata/transcripts/five-turns.jsonl"); got != "claude-opus-4-8" || err != nil {
		t.Errorf("Variant of a real file = %q, %v", got, err)
	}
}

func TestCompactions(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "session.jsonl")
	file := progress + usageLine("m1", 1000) + compactBoundary("manual", 1100, 100) + image(300<<10) +
		modelRecord("m2[1m]") + usageLine("m2", 2000) + compactBoundary("auto", 2100, 100) + usageLine("m2", 500) + compactBoundary("auto", 600, 10)[:150]
	write(t, path, file)
	at := transcript.Moment("2026-11-20T12:00:00.000Z")
	want := []transcript.Compaction{
		{Model: "m1", Tokens: 1100, At: at},
		{Model: "m2", Variant: "m2[1m]", Tokens: 2100, At: at, Auto: true},
	}
	if got, err := transcript.Compactions(Reader, path, 0); err != nil || !slices.Equal(got, want) {
		t.Errorf("Compactions = %+v, %v, want %+v", got, err, want)
	}
	got, err := transcript.Compactions(Reader, "../../../testdata/transcripts/compaction-manual.jsonl", 0)
	if err != nil || len(got) != 1 || got[0].Model != "claude-opus-4-8" || got[0].Variant != "claude-opus-4-8" || got[0].Tokens != 15354 || got[0].Auto {
		t.Errorf("Compactions of a real file = %+v, %v", got, err)
	}
}

// BenchmarkLastUsage reads a file of 400 MB, most of it a hole.
func BenchmarkLastUsage(b *testing.B) {
	for _, images := range []int{0, 1, 6} {
		b.Run(fmt.Sprintf("%d images of 5 MB since", images), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "session.jsonl")
			f, err := os.Create(path)
			gittest.Must(b, err)
			defer f.Close()
			end := "\n" + modelRecord("m1") + usageLine("m1", 1000) + strings.Repeat(image(5<<20), images)
			if _, err := f.WriteAt([]byte(end), 400<<20); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := transcript.LastUsage(Reader, path); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestLastAnswer: when the model last asked for tools; neither a sub-agent's message nor the client's own is the
// model's.
func TestLastAnswer(t *testing.T) {
	t.Parallel()
	at := func(line, time string) string { return `{"timestamp":"` + time + `",` + line[1:] }
	const first, second = "2026-11-20T12:00:00.000Z", "2026-11-20T12:00:05.250Z"
	for _, tt := range []struct{ name, file, want string }{
		{"the last one", at(usageLine("m", 1000), first) + at(usageLine("m", 2000), second) + image(10) + progress, second},
		{"not a sub-agent's", at(usageLine("m", 1000), first) + at(side, second), first},
		{"not the client's own", at(usageLine("m", 1000), first) + at(usageLine("<synthetic>", 5000), second), first},
		{"none", progress, ""},
		{"too far from the end", at(usageLine("m", 1000), first) + image(300<<10), ""},
	} {
		path := filepath.Join(t.TempDir(), "session.jsonl")
		gittest.Must(t, os.WriteFile(path, []byte(tt.file), 0o600))
		want := time.Time{}
		if tt.want != "" {
			want = transcript.Moment(tt.want)
		}
		if got := transcript.LastAnswer(Reader, path); !got.Equal(want) {
			t.Errorf("%s: got %v, want %v", tt.name, got, want)
		}
	}
	if got := transcript.LastAnswer(Reader, filepath.Join(t.TempDir(), "none")); !got.IsZero() {
		t.Errorf("without a file it is %v", got)
	}
}
