package redact

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

func TestNothingToDo(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "x", "an ordinary sentence", strings.Repeat("word ", 1000)} {
		if got := String(s); !same(got, s) {
			t.Errorf("String(%.20q) made a copy", s)
		}
		b := []byte(s)
		if got := Bytes(b); !same(view(got), view(b)) {
			t.Errorf("Bytes(%.20q) made a copy", s)
		}
		if got, err := JSONLines(b); err != nil || !same(view(got), view(b)) {
			t.Errorf("JSONLines(%.20q) made a copy, or failed: %v", s, err)
		}
	}
}

// recorded returns the output of real clients, by file: transcripts of Claude Code and Codex, and
// hook payloads. None of it has a secret.
func recorded(tb testing.TB) map[string][]byte {
	tb.Helper()
	all := make(map[string][]byte)
	for _, pattern := range []string{
		"../../testdata/transcripts/*.jsonl", "../../testdata/transcripts/*/*/*.jsonl", "../../testdata/payloads/*.json", "testdata/*.jsonl",
	} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			tb.Fatalf("no files %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			gittest.Must(tb, err)
			all[file] = data
		}
	}
	return all
}

func TestRecorded(t *testing.T) {
	t.Parallel()
	for name, data := range recorded(t) {
		got, err := JSONLines(data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !bytes.Equal(got, data) {
			t.Errorf("%s changed: %v", name, Count(got))
		}
		if got := Bytes(data); !bytes.Equal(got, data) {
			t.Errorf("%s, read as text, changed: %v", name, Count(got))
		}
		if got := String(quote(string(data))); got != quote(string(data)) {
			t.Errorf("%s, as one JSON string, changed: %v", name, Count([]byte(got)))
		}
	}
}

// A token is found anywhere in a longer text.
func TestEveryPlace(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const text = "The build failed; see https://ci.example.invalid/job/42?x=1#log.\n" +
		"func main() {\n\tfmt.Println(\"a\\tb\", 'c') // key=value\n}\n" +
		"{\"name\":\"x\",\"list\":[1,2,{\"y\":null}]} ~ 50% of /usr/lib <b>Tschüß</b> 😀\n"
	separators := []string{" ", "\n", "\"", "'", "`", ",", ";", "|", ")", "\x1b[0m"}
	for n, v := range vectors(t) {
		if len(v.gone) != 1 || strings.ContainsAny(v.gone[0], " \n") || tells(v.rule) < 3 || v.rule == rulePrivateKey && !strings.HasPrefix(v.gone[0], "LS0") || v.rule == "heroku-key" ||
			strings.HasSuffix(v.rule, "webhook") || v.rule == "azure-sas" {
			continue // these need their surroundings
		}
		secret := v.gone[0]
		for i := 0; i <= len(text); i++ {
			if i > 0 && i < len(text) && text[i]&0xC0 == 0x80 {
				continue // inside a rune
			}
			sep := separators[(n+i)%len(separators)]
			s := text[:i] + sep + secret + sep + text[i:]
			want := text[:i] + sep + mark + v.rule + "]" + sep + text[i:]
			if got := String(s); got != want {
				t.Fatalf("%s: at %d, between %q: String(%q)\n got %q\nwant %q", v.pos, i, sep, s, got, want)
			}
			line := `{"a":` + quote(s) + `}`
			if got, err := JSONLines([]byte(line)); err != nil || string(got) != `{"a":`+quote(want)+`}` {
				t.Fatalf("%s: at %d, between %q: JSONLines(%q) = %q, %v", v.pos, i, sep, line, got, err)
			}
		}
		for _, s := range []string{secret, secret + "\n", "\n" + secret, " " + secret + " "} {
			if got := String(s); got != strings.Replace(s, secret, mark+v.rule+"]", 1) {
				t.Errorf("%s: String(%q) = %q", v.pos, s, got)
			}
		}
	}
}

// The id of an AWS key gives away the secret near it.
func TestAWSSecretNear(t *testing.T) {
	t.Parallel()
	id, secret := "AKIA"+"Q3EGYXR5WL4TZ7VN", "kZ9/"+"fT3sQx7LmW2vBn8+Rj5yHc1Dp6Ug4Ka0Eo9i"
	hash := "8f3a1c5e7b9d2f4a6c8e0b1d3f5a7c9e1b3d5f7a"
	in := "Access key ID,Secret access key\n" + id + "," + secret + "\nat " + hash + "\n"
	want := "Access key ID,Secret access key\n[redacted:aws-access-key],[redacted:aws-secret-key]\nat " + hash + "\n"
	if got := String(in); got != want {
		t.Errorf("String(%q)\n got %q\nwant %q", in, got, want)
	}
	if got := String(secret + " alone"); got != secret+" alone" {
		t.Errorf("without its id: %q", got)
	}
}

// Data in base64 is left alone even if it happens to contain a token's form.
func TestBlob(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", 20)
	token := "AKIA" + "Q3EGYXR5WL4TZ7VN"
	for _, s := range []string{
		filler + "/" + token + "/" + filler,
		"data:image/png;base64," + filler + "+" + token + "+" + filler + "==",
		`{"type":"base64","media_type":"image/png","data":"` + filler + "/" + token + "/" + filler + `"}`,
		`{"type":"thinking","thinking":"","signature":"` + filler + "+" + token + "/" + filler + `=="}`,
	} {
		if got := String(s); got != s {
			t.Errorf("String changed %.60q...: %v", s, Count([]byte(got)))
		}
		if got, err := JSONLines([]byte(s)); err != nil || string(got) != s {
			t.Errorf("JSONLines changed %.60q...: %v, %v", s, Count(got), err)
		}
	}
	if s := filler + " " + token; String(s) == s {
		t.Error("a token after data is not found")
	}
}

func TestCount(t *testing.T) {
	t.Parallel()
	if got := Count([]byte("nothing")); got != nil {
		t.Errorf("Count = %v, want nil", got)
	}
	text := []byte("[redacted:jwt] and [redacted:jwt][redacted:password] [redacted:")
	if got, want := Count(text), map[string]int{"jwt": 2, "password": 1}; !maps.Equal(got, want) {
		t.Errorf("Count = %v, want %v", got, want)
	}
}

// TestRandomRecall checks what dense's comment promises: nearly all random values are told from
// words.
func TestRandomRecall(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	const small = "abcdefghijklmnopqrstuvwxyz"
	for _, tt := range []struct {
		name, alphabet string
		length         int
		want           float64
	}{
		{"base62", "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + small + "0123456789", 20, 0.98},
		{"base62", "ABCDEFGHIJKLMNOPQRSTUVWXYZ" + small + "0123456789", 40, 0.999},
		{"hexadecimal", "0123456789abcdef", 20, 0.97},
		{"hexadecimal", "0123456789abcdef", 32, 0.999},
		{"a-z0-9", small + "0123456789", 20, 0.97},
		{"a-z0-9", small + "0123456789", 40, 0.995},
		{"base32", "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 32, 0.93},
	} {
		const n = 100000
		state, found := uint64(1), 0
		piece := make([]byte, tt.length)
		for range n {
			for i := range piece {
				state = state*6364136223846793005 + 1442695040888963407 // Knuth's MMIX
				piece[i] = tt.alphabet[state>>33%uint64(len(tt.alphabet))]
			}
			if random(string(piece)) {
				found++
			}
		}
		if got := float64(found) / n; got < tt.want {
			t.Errorf("%d bytes of %s: %.4f recognised, want %.4f", tt.length, tt.name, got, tt.want)
		}
	}
	for _, s := range []string{
		"accessTokenForUserSession", "my-secret-token-value-2", "getX509Certificate", "TestAddrStringAllocs/ipv6+zone",
		"2026-11-21T00:24:47.662Z", "application/vnd.api+json", "com.example.project.module.ClassName", "0123456789abcdef",
		"aaaaaaaaaaaaaaaaaaaaaaaa", "sha256-of-the-file", "/home/dev/lab/repo/sub/five.txt", "127.0.0.1:8080", "claude-opus-4-8",
	} {
		if random(s) {
			t.Errorf("random(%q), but a person wrote it", s)
		}
	}
}

func TestNameKind(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]kind{
		"password": password, "DB_PASSWORD": password, "dbPassword": password, "pgpassword": password, "PGPASSWORD": password,
		"spring.datasource.password": password, "MYSQL_PWD": password, "smtp_pass": password, "passphrase": password,
		"client_secret": password, "clientSecret": password, "CLIENT-SECRET": password, "SECRET_KEY_BASE": password, "secretKey": password,
		"token": key, "GITHUB_TOKEN": key, "accessToken": key, "access_token": key, "authtoken": key, "_authToken": key, "TOKEN_2": key,
		"api_key": key, "apiKey": key, "APIKey": key, "x-api-key": key, "OPENAI_API_KEY": key, "AWS_SECRET_ACCESS_KEY": key,
		"AccountKey": key, "SharedAccessKey": key, "private_key": key, "ENCRYPTION_KEY": key, "STRIPE_KEY": key, "GH_PAT": key,
		"credentials": key, "Authorization": header, "proxy-authorization": header, "auth": basic, "_auth": basic,

		"": plain, "id": plain, "key": plain, "keys": plain, "keyboard": plain, "monkey": plain, "primary_key": plain, "CACHE_KEY": plain,
		"public_key": plain, "PUBLIC_KEY": plain, "NEXT_PUBLISHABLE_KEY": plain, "tokens": plain, "max_tokens": plain, "input_tokens": plain,
		"token_type": plain, "tokenizer": plain, "tokenize": plain, "secretary": plain, "author": plain, "authority": plain,
		"compass": plain, "bypass": plain, "passenger": plain, "pathology": plain, "password_hash": plain, "secretName": plain,
		"api_key_id": plain, "aws_access_key_id": plain, "token_url": plain, "signature": plain, "uuid": plain, "parentUuid": plain,
		"sessionId": plain, "tool_use_id": plain, "requestId": plain, "data": plain, "hash": plain, "sha256": plain, "SSH_AUTH_SOCK": plain,
	} {
		if got := nameKind(name); got != want {
			t.Errorf("nameKind(%q) = %d, want %d", name, got, want)
		}
	}
	long := strings.Repeat("x", 100) + "_password"
	if got := nameKind(long); got != password {
		t.Errorf("nameKind of a long name = %d, want %d", got, password)
	}
}

// Nothing in this package may run when a program starts: the hook pays for it every time.
func TestNoInit(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("run the test binary: %v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("init runtime @")) {
		t.Fatalf("no trace of inits in %q", out)
	}
	if bytes.Contains(out, []byte("init gitagent/internal/redact")) {
		t.Errorf("the package initialises something at start:\n%s", out)
	}
}

func Example() {
	token := "ghp_" + strings.Repeat("k3Yq", 9) // made up, and in two parts so that no scanner stops it
	fmt.Println(String("export GITHUB_TOKEN=" + token))
	fmt.Println(String(`{"url":"postgres://app:hunter2@db.example.invalid/app"}`))
	// Output:
	// export GITHUB_TOKEN=[redacted:github-token]
	// {"url":"postgres://app:[redacted:url-password]@db.example.invalid/app"}
}
