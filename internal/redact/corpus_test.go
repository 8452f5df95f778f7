package redact

import (
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// A shape is one form of secrets, as testdata/corpus/shapes.txt has it.
type shape struct {
	pos  string
	text string // a template
	bare bool   // nothing but the token
}

func shapes(tb testing.TB, file string) (all []shape) {
	tb.Helper()
	data, err := os.ReadFile(file)
	gittest.Must(tb, err)
	bare := false
	for i, line := range strings.Split(string(data), "\n") {
		switch {
		case line == "", strings.HasPrefix(line, "# "), line == "#":
		case line == "bare", line == "text":
			bare = line == "bare"
		default:
			all = append(all, shape{fmt.Sprintf("%s:%d", file, i+1), line, bare})
		}
	}
	return all
}

// A generator fills in the holes of templates.
type generator struct {
	*rand.Rand
	hole *regexp.Regexp
}

func newGenerator(seed int) generator {
	return generator{
		rand.New(rand.NewPCG(uint64(seed), 20261122)),
		regexp.MustCompile(`\[([aAhdustn])(\d+)\]|\[id\]|\[b64:[^]]*\]|\[(?:pem\d*|keyid)\]`),
	}
}

// bytes returns n random bytes of the alphabet that kind stands for.
func (g generator) bytes(kind string, n int) string {
	const abc, digits = "abcdefghijklmnopqrstuvwxyz", "0123456789"
	alphabet := map[string]string{
		"a": abc + strings.ToUpper(abc) + digits, "A": strings.ToUpper(abc) + digits, "h": digits + "abcdef", "d": digits,
		"u": abc + strings.ToUpper(abc) + digits + "-_", "s": abc + strings.ToUpper(abc) + digits + "+/",
		"t": abc + digits, "n": abc + strings.ToUpper(abc) + digits + "_",
	}[kind]
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[g.IntN(len(alphabet))]
	}
	return string(b)
}

// make returns a text of the shape, and the secrets in it.
func (s shape) make(g generator) (text string, secrets []string) {
	text = strings.NewReplacer("¦", "", "⏎", "\n").Replace(s.text)
	text = g.hole.ReplaceAllStringFunc(text, func(h string) string {
		m := g.hole.FindStringSubmatch(h)
		switch {
		case m[1] != "":
			n, _ := strconv.Atoi(m[2])
			return g.bytes(m[1], n)
		case h == "[id]":
			return g.bytes("h", 8) + "-" + g.bytes("h", 4) + "-4" + g.bytes("h", 3) + "-a" + g.bytes("h", 3) + "-" + g.bytes("h", 12)
		case strings.HasPrefix(h, "[b64:"):
			return base64.StdEncoding.EncodeToString([]byte(h[len("[b64:") : len(h)-1]))
		case h == "[keyid]":
			return "key id AKIA" + g.bytes("A", 16) + "\nsecret «" + g.bytes("s", 39) + "7»"
		}
		key := "-----BEGIN RSA PRIVATE" + " KEY-----\n"
		for range 12 {
			key += g.bytes("s", 64) + "\n"
		}
		out := base64.StdEncoding.EncodeToString([]byte(key + "-----END RSA PRIVATE" + " KEY-----\n"))
		width, _ := strconv.Atoi(strings.Trim(h, "[pem]"))
		if width == 0 {
			width = len(out)
		}
		var lines []string
		for ; out != ""; out = out[min(width, len(out)):] {
			lines = append(lines, "«"+out[:min(width, len(out))]+"»")
		}
		return strings.Join(lines, "\n")
	})
	fill(text, "«", "»", "", &secrets)
	return strings.NewReplacer("«", "", "»", "").Replace(text), secrets
}

// lines calls f for every line of text, and joins what it returns.
func lines(text string, f func(n int, line string) string) string {
	all := strings.Split(text, "\n")
	for i := range all {
		all[i] = f(i+1, all[i])
	}
	return strings.Join(all, "\n")
}

// context is one place where a secret stands.
type context struct {
	name string
	bare func(token string) string
	text func(text string) string
}

var contexts = []context{
	{
		"prose",
		func(s string) string { return "I tried it with " + s + " and it worked, so keep " + s + "." },
		func(s string) string {
			return "This is what I found:\n\n" + s + "\n\nTell me whether it is still used."
		},
	},
	{
		"shell",
		func(s string) string { return "$ ./deploy --with " + s + " --verbose\n\x1b[32mok\x1b[0m " + s + "\n$ " },
		func(s string) string { return "$ cat <<'EOF' > out.txt\n" + s + "\nEOF\n$ cat out.txt\n" + s + "\n$ " },
	},
	{
		"record",
		func(s string) string { return `{"output":` + quote("it says\n"+s+"\tthere") + `,"exit_code":0}` },
		func(s string) string { return `{"output":` + quote("it says\n"+s+"\nthere") + `,"exit_code":0}` },
	},
	{
		"listing",
		func(s string) string { return "     9→const a = 1\n    10→const b = '" + s + "'\n    11→" },
		func(s string) string {
			return lines("first\n"+s+"\nlast", func(n int, line string) string { return fmt.Sprintf("%6d→%s", n, line) }) +
				"\n" + lines("first\n"+s+"\nlast", func(n int, line string) string { return fmt.Sprintf("%6d\t%s", n+97, line) })
		},
	},
	{
		"diff",
		func(s string) string { return "@@ -1,2 +1,2 @@\n first\n-x: " + s + "\n+  y: " + s + "\n" },
		func(s string) string {
			out := "@@ -1,9 +1,9 @@\n first\n"
			for _, sign := range []string{" ", "-", "+"} {
				out += lines(s, func(_ int, line string) string { return sign + line }) + "\n"
			}
			return out
		},
	},
	{
		"yaml",
		func(s string) string { return "app:\n  first: " + s + "\n  list:\n    - \"" + s + "\"\n  last: 1\n" },
		func(s string) string {
			return "app:\n  config: |\n" + lines(s, func(_ int, line string) string { return "    " + line }) + "\n  last: 1\n"
		},
	},
	{
		"settings",
		func(s string) string { return "FIRST=1\nOF_THE_APP=" + s + "\n[section]\nof_it = " + s + "\n" },
		func(s string) string { return "# it was:\n" + s + "\n# and now:\nLAST=1\n" },
	},
	{
		"web",
		func(s string) string {
			return "GET /a?b=c HTTP/1.1\r\nX-Of-It: " + s + "\r\nHost: example.invalid\r\n\r\n"
		},
		func(s string) string {
			return "See:\n\n```text\n" + s + "\n```\n\n> " + strings.ReplaceAll(s, "\n", "\n> ") + "\n"
		},
	},
}

// patch is how a client keeps a diff in its transcript: an array of lines.
func patch(text string) string {
	var quoted []string
	for line := range strings.SplitSeq(text, "\n") {
		quoted = append(quoted, quote(line))
	}
	return `{"structuredPatch":[{"lines":[` + strings.Join(quoted, ",") + `]}]}`
}

// TestCorpus measures how many secrets are found, by shape and context, in text and in records of
// transcripts. Run it with -v for the figures.
func TestCorpus(t *testing.T) {
	t.Parallel()
	all := shapes(t, "testdata/corpus/shapes.txt")
	if len(all) < 150 {
		t.Errorf("%d shapes", len(all))
	}
	rounds := gittest.Size(20, 2)
	total, foundAll := 0, 0
	for at, c := range contexts {
		n, found := 0, 0
		missed := map[string]int{}
		for i, s := range all {
			g := newGenerator(1000*at + i)
			for range rounds {
				secret, gone := s.make(g)
				text := c.text(secret)
				if s.bare {
					text = c.bare(secret)
				}
				n++
				if kept := survives(t, s, text, gone); kept == "" {
					found++
				} else {
					missed[s.pos+" "+s.text+" "+kept]++
				}
			}
		}
		total, foundAll = total+n, foundAll+found
		recall := float64(found) / float64(n)
		t.Logf("%-9s %d shapes, %5d texts: recall %.4f", c.name, len(all), n, recall)
		for shape, times := range missed {
			t.Logf("          missed %d of %d: %s", times, rounds, shape)
		}
		if recall < 0.99 {
			t.Errorf("%s: recall %.4f, want 0.99", c.name, recall)
		}
	}
	t.Logf("%-9s recall %.4f", "all", float64(foundAll)/float64(total))
}

// survives returns where one of the secrets in text survives, or "". It checks the promises of the
// package on the way.
func survives(t *testing.T, s shape, text string, secrets []string) string {
	t.Helper()
	record := `{"type":"user","message":{"content":[{"type":"tool_result","content":` + quote(text) + `}]}}`
	for _, form := range []struct{ name, in string }{{"text", text}, {"record", record}, {"patch", patch(text)}} {
		got := String(form.in)
		if form.name != "text" {
			lines, err := JSONLines([]byte(form.in))
			if err != nil {
				t.Fatalf("%s: JSONLines(%s): %v", s.pos, form.in, err)
			}
			checkLines(t, []byte(form.in), lines)
			if again, err := JSONLines(lines); err != nil || string(again) != string(lines) {
				t.Errorf("%s: JSONLines twice\nonce  %s\ntwice %s, %v", s.pos, lines, again, err)
			}
			checkLines(t, []byte(form.in), []byte(got))
			if form.name == "patch" {
				got = ""
			}
			got += string(lines)
		}
		if again := String(got); again != got && form.name == "text" {
			t.Errorf("%s: String twice\nonce  %s\ntwice %s", s.pos, got, again)
		}
		for _, secret := range secrets {
			if strings.Contains(got, secret) || strings.Contains(got, strings.Trim(quote(secret), `"`)) {
				return form.name
			}
		}
	}
	return ""
}
