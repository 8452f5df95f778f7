// Package sshsig signs texts as ssh-keygen does, with Ed25519 keys only, and
// verifies such signatures. Its output is that of `ssh-keygen -Y sign -n git`,
// so plain git verifies it. Other encodings are refused: a key, a text and a
// signer have only one signature.
package sshsig

import (
	"bytes"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cloudflare/circl/sign/ed25519"
)

// A Key is a private key, which signs. The zero Key can't.
type Key struct{ private ed25519.PrivateKey }

// Public returns the public part of the key.
func (k Key) Public() Public {
	return Public(k.private[ed25519.SeedSize:])
}

// A Public is the public part of an Ed25519 key.
type Public [ed25519.PublicKeySize]byte

// ErrInvalid reports what is no signature of the text, or encoded otherwise.
var ErrInvalid = errors.New("not a valid signature")

// Words of the format, see PROTOCOL.sshsig of OpenSSH.
const (
	magic     = "SSHSIG"
	algorithm = "ssh-ed25519"
	ofGit     = "git" // the namespace of git's commits
	hashed    = "sha512"

	begin = "-----BEGIN SSH SIGNATURE-----\n"
	end   = "-----END SSH SIGNATURE-----\n"
	width = 70 // of a line of base64
)

// Sign returns the signature of a text, as lines.
func Sign(k Key, text []byte) []byte { return SignAs(ofGit, k, text) }

// SignAs is [Sign] in a namespace: a signature is not valid in any other.
func SignAs(namespace string, k Key, text []byte) []byte {
	return armor(namespace, k.Public(), ed25519.Sign(k.private, digest(namespace, text)))
}

// Verify returns the key that signed a text; other errors are [ErrInvalid].
func Verify(armored, text []byte) (Public, error) { return VerifyAs(ofGit, armored, text) }

// VerifyAs is [Verify] in a namespace.
func VerifyAs(namespace string, armored, text []byte) (Public, error) {
	by, signed, ok := parse(armored)
	if !ok || !bytes.Equal(armor(namespace, by, signed), armored) || !ed25519.Verify(by[:], digest(namespace, text), signed) {
		return Public{}, ErrInvalid
	}
	return by, nil
}

// Signer returns the key that a signature names, without verifying it.
func Signer(armored []byte) (Public, bool) {
	by, _, ok := parse(armored)
	return by, ok
}

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

// parse parses an armored signature. [Verify] compares the rest.
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

// blob returns the key in ssh's format.
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

// appendField appends an ssh string: its length in four bytes, then the bytes.
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

// String returns a line of a public key file, without a comment.
func (p Public) String() string {
	return algorithm + " " + base64.StdEncoding.EncodeToString(p.blob())
}

// ParsePublic reads the words of a public key: "ssh-ed25519" and base64.
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
