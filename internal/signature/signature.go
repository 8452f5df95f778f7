// Package signature signs texts as ssh-keygen does, with Ed25519 keys alone, and checks such
// signatures. What it writes is what `ssh-keygen -Y sign -n git` writes, so plain git verifies it.
//
// A signature is accepted in one spelling only, the one that is written here: a key, a text and a
// signer have exactly one signature.
package signature

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cloudflare/circl/sign/ed25519"
)

// A Key signs. The zero Key can't.
type Key struct{ private ed25519.PrivateKey }

// Public is the public part of the key.
func (k Key) Public() Public {
	return Public(k.private[ed25519.SeedSize:])
}

// A Public is the public part of an Ed25519 key.
type Public [ed25519.PublicKeySize]byte

// ErrInvalid reports something that is no signature of the text, or one in another spelling.
var ErrInvalid = errors.New("not a valid signature")

// Words of the format, see PROTOCOL.sshsig of OpenSSH.
const (
	magic     = "SSHSIG"
	algorithm = "ssh-ed25519"
	ofGit     = "git" // what git signs commits under
	hashed    = "sha512"

	begin = "-----BEGIN SSH SIGNATURE-----\n"
	end   = "-----END SSH SIGNATURE-----\n"
	width = 70 // of a line of base64
)

// Sign returns the signature of a text, as lines.
func Sign(k Key, text []byte) []byte { return SignAs(ofGit, k, text) }

// SignAs is Sign in a namespace: what was signed for one purpose is no signature for another one.
func SignAs(namespace string, k Key, text []byte) []byte {
	return armor(namespace, k.Public(), ed25519.Sign(k.private, digest(namespace, text)))
}

// Verify returns the key that made a signature of a text. If it is not one, the error is
// [ErrInvalid].
func Verify(armored, text []byte) (Public, error) { return VerifyAs(ofGit, armored, text) }

// VerifyAs is Verify of a signature in a namespace.
func VerifyAs(namespace string, armored, text []byte) (Public, error) {
	by, signed, ok := parse(armored)
	if !ok || !bytes.Equal(armor(namespace, by, signed), armored) || !ed25519.Verify(by[:], digest(namespace, text), signed) {
		return Public{}, ErrInvalid
	}
	return by, nil
}

// Signer returns the key that a signature names, without checking the signature.
func Signer(armored []byte) (Public, bool) {
	by, _, ok := parse(armored)
	return by, ok
}

// digest is what is signed of a text.
func digest(namespace string, text []byte) []byte {
	sum := sha512.Sum512(text)
	b := []byte(magic)
	for _, field := range [][]byte{[]byte(namespace), nil, []byte(hashed), sum[:]} {
		b = appendField(b, field)
	}
	return b
}

func armor(namespace string, by Public, signed []byte) []byte {
	b := binary.BigEndian.AppendUint32([]byte(magic), 1)
	for _, field := range [][]byte{by.blob(), []byte(namespace), nil, []byte(hashed), appendField(appendField(nil, []byte(algorithm)), signed)} {
		b = appendField(b, field)
	}
	text := base64.StdEncoding.EncodeToString(b)
	out := []byte(begin)
	for len(text) > 0 {
		n := min(width, len(text))
		out = append(append(out, text[:n]...), '\n')
		text = text[n:]
	}
	return append(out, end...)
}

// parse takes an armored signature apart; what it does not look at is compared by [Verify].
func parse(armored []byte) (by Public, signed []byte, ok bool) {
	body, ok := bytes.CutPrefix(armored, []byte(begin))
	if !ok {
		return by, nil, false
	}
	if body, ok = bytes.CutSuffix(body, []byte(end)); !ok || len(body) > 1024 {
		return by, nil, false
	}
	b, err := base64.StdEncoding.DecodeString(string(bytes.ReplaceAll(body, []byte("\n"), nil)))
	if err != nil || len(b) < len(magic)+4 {
		return by, nil, false
	}
	b = b[len(magic)+4:]
	var fields [5][]byte // key, namespace, reserved, hash, signature
	for i := range fields {
		if fields[i], b, ok = cutField(b); !ok {
			return by, nil, false
		}
	}
	if by, ok = parseBlob(fields[0]); !ok {
		return by, nil, false
	}
	if _, rest, ok := cutField(fields[4]); ok {
		signed, _, _ = cutField(rest)
	}
	return by, signed, len(signed) == ed25519.SignatureSize
}

// blob is the public key as the formats of ssh have it.
func (p Public) blob() []byte {
	return appendField(appendField(nil, []byte(algorithm)), p[:])
}

func parseBlob(b []byte) (p Public, ok bool) {
	name, rest, ok := cutField(b)
	if !ok || string(name) != algorithm {
		return p, false
	}
	key, rest, ok := cutField(rest)
	if !ok || len(rest) > 0 || len(key) != len(p) {
		return p, false
	}
	return Public(key), true
}

// appendField appends a string in the sense of ssh: its length in four bytes, then the bytes.
func appendField(b, field []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(field))), field...)
}

func cutField(b []byte) (field, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if b = b[4:]; uint64(n) > uint64(len(b)) {
		return nil, nil, false
	}
	return b[:n], b[n:], true
}

// String is the key as a line of a public key file, without a comment.
func (p Public) String() string {
	return algorithm + " " + base64.StdEncoding.EncodeToString(p.blob())
}

// ParsePublic reads the words of a public key: "ssh-ed25519" and the key in base64.
func ParsePublic(name, text string) (Public, error) {
	if name != algorithm {
		return Public{}, fmt.Errorf("a key of the kind %q: only %s keys are used", name, algorithm)
	}
	b, err := base64.StdEncoding.Strict().DecodeString(text)
	p, ok := parseBlob(b)
	if err != nil || !ok {
		return Public{}, errors.New("not an Ed25519 public key")
	}
	return p, nil
}
