package sshsig

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func newKey(t testing.TB) Key {
	t.Helper()
	k, err := NewKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func TestVerify(t *testing.T) {
	k, text := newKey(t), []byte("tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n")
	signed := Sign(k, text)
	by, err := Verify(signed, text)
	if err != nil || by != k.Public() {
		t.Fatalf("Verify = %v, %v", by, err)
	}
	other := Sign(newKey(t), text)
	for name, bad := range map[string]struct{ signed, text []byte }{
		"another text":         {signed, append(text, ' ')},
		"empty":                {nil, text},
		"no end":               {bytes.TrimSuffix(signed, []byte(end)), text},
		"no last newline":      {bytes.TrimSuffix(signed, []byte("\n")), text},
		"more after the end":   {append(bytes.Clone(signed), "x\n"...), text},
		"two":                  {append(bytes.Clone(signed), other...), text},
		"two, ours the second": {append(bytes.Clone(other), signed...), text},
		"a line break":         {bytes.Replace(signed, []byte("U1NIU0lH"), []byte("U1NI\nU0lH"), 1), text},
		"carriage returns":     {bytes.ReplaceAll(signed, []byte("\n"), []byte("\r\n")), text},
		"a blank":              {bytes.Replace(signed, []byte("U1NI"), []byte("U1NI "), 1), text},
	} {
		if by, err := Verify(bad.signed, bad.text); err == nil {
			t.Errorf("%s: accepted, by %v", name, by)
		}
	}
	for i := range signed { // every byte counts
		bad := bytes.Clone(signed)
		bad[i] ^= 1
		if _, err := Verify(bad, text); err == nil {
			t.Errorf("byte %d changed: accepted", i)
		}
	}
}

// ssh-keygen and this package read what the other has written.
func TestOpenSSH(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal(err)
		}
		t.Skip("ssh-keygen is not installed")
	}
	dir := t.TempDir()
	run := func(stdin []byte, args ...string) []byte {
		t.Helper()
		cmd := exec.Command("ssh-keygen", args...)
		cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen %q: %v\n%s", args, err, out)
		}
		return out
	}
	text := []byte("something to sign\n")

	k := newKey(t)
	file, err := k.Encode("anna@example.invalid")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, "ours", file)
	if got := string(run(nil, "-y", "-f", "ours")); got != k.Public().String()+" anna@example.invalid\n" {
		t.Errorf("ssh-keygen reads our key as %q", got)
	}
	write(t, dir, "signers", []byte("anna "+k.Public().String()+"\n"))
	write(t, dir, "sig", Sign(k, text))
	run(text, "-Y", "verify", "-f", "signers", "-I", "anna", "-n", "git", "-s", "sig")

	run(nil, "-q", "-t", "ed25519", "-N", "", "-C", "two words", "-f", "theirs")
	theirs, err := ParseKey(read(t, dir, "theirs"))
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Fields(string(read(t, dir, "theirs.pub")))
	if public, err := ParsePublic(words[0], words[1]); err != nil || public != theirs.Public() {
		t.Errorf("ParsePublic = %v, %v; want %v", public, err, theirs.Public())
	}
	write(t, dir, "text", text)
	run(nil, "-q", "-Y", "sign", "-n", "git", "-f", "theirs", "text")
	if !bytes.Equal(read(t, dir, "text.sig"), Sign(theirs, text)) {
		t.Error("ssh-keygen spells its signature in another way")
	}

	run(nil, "-q", "-t", "ed25519", "-N", "a passphrase", "-f", "locked")
	if _, err := ParseKey(read(t, dir, "locked")); err != errEncrypted {
		t.Errorf("a key with a passphrase: %v", err)
	}
	run(nil, "-q", "-t", "ecdsa", "-N", "", "-f", "ecdsa")
	if _, err := ParseKey(read(t, dir, "ecdsa")); err != errNoKey {
		t.Errorf("a key of another kind: %v", err)
	}
}

func write(t *testing.T, dir, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func FuzzVerify(f *testing.F) {
	k := newKey(f)
	f.Add(Sign(k, []byte("text")), []byte("text"))
	f.Fuzz(func(t *testing.T, signed, text []byte) {
		by, err := Verify(signed, text)
		if err == nil && !bytes.Equal(armor(ofGit, by, mustParse(t, signed)), signed) {
			t.Error("accepted in another spelling")
		}
	})
}

func mustParse(t *testing.T, signed []byte) []byte {
	_, s, ok := parse(signed)
	if !ok {
		t.Error("verified, but can't be parsed")
	}
	return s
}

func FuzzParseKey(f *testing.F) {
	file, err := newKey(f).Encode("a comment")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Fuzz(func(t *testing.T, file []byte) {
		if k, err := ParseKey(file); err == nil {
			if _, err := Verify(Sign(k, file), file); err != nil {
				t.Error("the key's signature is not its own")
			}
		}
	})
}

func BenchmarkSign(b *testing.B) {
	k, text := newKey(b), bytes.Repeat([]byte("x"), 500)
	for b.Loop() {
		Sign(k, text)
	}
}

func BenchmarkVerify(b *testing.B) {
	k, text := newKey(b), bytes.Repeat([]byte("x"), 500)
	signed := Sign(k, text)
	for b.Loop() {
		if _, err := Verify(signed, text); err != nil {
			b.Fatal(err)
		}
	}
}
