package redact

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gitagent/test/gittest"
)

// source returns the text files below dir.
func source(tb testing.TB, dir string) (files []string, size int64) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err == nil && !bytes.Contains(data[:min(len(data), 8000)], []byte{0}) {
			files = append(files, string(data))
			size += int64(len(data))
		}
		return err
	})
	gittest.Must(tb, err)
	return files, size
}

// standardLibrary returns the text files below GOROOT's src: 105 MB of code, prose and test data.
func standardLibrary(b *testing.B) (files []string, size int64) {
	b.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		b.Fatalf("find GOROOT: %v", err)
	}
	return source(b, filepath.Join(strings.TrimSpace(string(root)), "src"))
}

func BenchmarkSource(b *testing.B) {
	files, size := standardLibrary(b)
	b.SetBytes(size)
	hits := 0
	for b.Loop() {
		hits = 0
		for _, s := range files {
			if r := String(s); !same(r, s) {
				hits += strings.Count(r, mark) - strings.Count(s, mark)
			}
		}
	}
	b.ReportMetric(float64(hits), "found")
}

// BenchmarkSourceInRecords uses the same code, as tool results in a transcript.
func BenchmarkSourceInRecords(b *testing.B) {
	files, _ := standardLibrary(b)
	var lines strings.Builder
	for i := 0; i < len(files); i += 10 {
		fmt.Fprintf(&lines, `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":%s}]}}`+"\n", quote(files[i]))
	}
	benchmarkJSONLines(b, []byte(lines.String()))
}

func BenchmarkTranscripts(b *testing.B) {
	var all []byte
	for name, data := range recorded(b) {
		if strings.HasSuffix(name, ".jsonl") {
			all = append(all, data...)
		}
	}
	benchmarkJSONLines(b, all)
}

func BenchmarkImages(b *testing.B) {
	image := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", 100000)
	benchmarkJSONLines(b, []byte(`{"source":{"type":"base64","media_type":"image/png","data":"`+image+`"}}`))
}

func benchmarkJSONLines(b *testing.B, segment []byte) {
	b.SetBytes(int64(len(segment)))
	for b.Loop() {
		if _, err := JSONLines(segment); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHostile uses text made to be slow: half-finished forms, nested in each other.
func BenchmarkHostile(b *testing.B) {
	for _, piece := range []string{
		"eyJ", "eyJ.eyJ.", "sk-", "ghp_", "AKIA", "xoxb-", "AKIAQ3EGYXR5WL4TZ7VN ", "://", "://a:", "://a:b@", "password=", `password="`, `password=\"`,
		"-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\nMIIEpAIBAAKCAQEAt7Yq2Rk9\n", "Private-Lines: 1\nabc\n",
		`\`, `\\\"`, `\u0041`, `\/`, "a=", "user=a password=b ", "machine a login b password ", "token ", `"name":"value":`, "hooks.slack.com/",
		"kind: Secret\n", "kind: Secret\ndata:\n  a: b\n", `"kind":"Secret","data":{`, "mysql -p", "docker login -p x ", " -u a:b", "Cookie: a=b;", "$6$a$", "token:\n- ", "token: [", `"d":"`, "LS0tLS1CRUdJTi", "a:5432:b:c:", `{"a":`, `[`,
	} {
		text := strings.Repeat(piece, 1<<20/len(piece))
		b.Run(strconv.Quote(piece), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				String(text)
			}
		})
	}
}

// BenchmarkFirstUse measures 20 KB of a transcript in a process that has not used the package
// before, once per process, and reports it as first-ns; ns/op is the cost of the process.
func BenchmarkFirstUse(b *testing.B) {
	var first time.Duration
	n := 0
	for b.Loop() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), firstUse+"=1")
		out, err := cmd.Output()
		gittest.Must(b, err)
		d, err := time.ParseDuration(string(out))
		gittest.Must(b, err)
		first += d
		n++
	}
	b.ReportMetric(float64(first.Nanoseconds())/float64(n), "first-ns")
}

// firstUse in the environment makes this test binary print the duration of its first use of the
// package.
const firstUse = "REDACT_FIRST_USE"

func TestMain(m *testing.M) {
	if os.Getenv(firstUse) == "" {
		os.Exit(m.Run())
	}
	data, err := os.ReadFile("../../testdata/transcripts/five-turns.jsonl")
	if err != nil {
		panic(err)
	}
	segment := append(data[:20<<10], "\n{\"content\":\"API_KEY="+fakeKey+" "+fakeToken+"\"}\n"...)
	runtime.GC()
	start := time.Now()
	out, err := JSONLines(segment)
	took := time.Since(start)
	if err != nil || bytes.Contains(out, []byte(fakeKey)) || bytes.Contains(out, []byte(fakeToken)) {
		panic("first use does not redact")
	}
	fmt.Print(took)
}
