package sshsig

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"io"

	"github.com/cloudflare/circl/sign/ed25519"
)

// Words of OpenSSH's format of private keys, see PROTOCOL.key.
const (
	keyMagic = "openssh-key-v1\x00"
	pemType  = "OPENSSH PRIVATE KEY"
	block    = 8 // bytes; the private part is padded to a multiple
)

// NewKey returns a key made of random bytes.
func NewKey(random io.Reader) (Key, error) {
	_, private, err := ed25519.GenerateKey(random)
	if err != nil {
		return Key{}, fmt.Errorf("make a key: %w", err)
	}
	return Key{private}, nil
}

// Encode returns the key as an OpenSSH file without a passphrase.
func (k Key) Encode(comment string) ([]byte, error) {
	var check [4]byte
	if _, err := rand.Read(check[:]); err != nil {
		return nil, fmt.Errorf("encode a key: %w", err)
	}
	public := k.Public()
	private := append(check[:], check[:]...)
	for _, field := range [][]byte{[]byte(algorithm), public[:], k.private, []byte(comment)} {
		private = appendField(private, field)
	}
	for n := byte(1); len(private)%block != 0; n++ {
		private = append(private, n)
	}
	b := []byte(keyMagic)
	for _, field := range [][]byte{[]byte("none"), []byte("none"), nil} { // cipher, derivation and its options
		b = appendField(b, field)
	}
	b = binary.BigEndian.AppendUint32(b, 1)
	b = appendField(appendField(b, public.blob()), private)
	return pem.EncodeToMemory(&pem.Block{Type: pemType, Bytes: b}), nil
}

var (
	errNoKey     = errors.New("not an Ed25519 private key of OpenSSH's")
	errEncrypted = errors.New("the key has a passphrase, which could not be asked for")
)

// ParseKey reads an OpenSSH private key file without a passphrase.
func ParseKey(file []byte) (Key, error) {
	p, _ := pem.Decode(file)
	if p == nil || p.Type != pemType {
		return Key{}, errNoKey
	}
	b, ok := bytes.CutPrefix(p.Bytes, []byte(keyMagic))
	var fields [3][]byte
	for i := range fields {
		if ok {
			fields[i], b, ok = cutField(b)
		}
	}
	switch {
	case !ok || len(b) < 4 || binary.BigEndian.Uint32(b) != 1:
		return Key{}, errNoKey
	case string(fields[0]) != "none" || string(fields[1]) != "none":
		return Key{}, errEncrypted
	}
	if _, b, ok = cutField(b[4:]); !ok {
		return Key{}, errNoKey
	}
	if b, _, ok = cutField(b); !ok || len(b) < 8 || !bytes.Equal(b[:4], b[4:8]) {
		return Key{}, errNoKey
	}
	name, b, ok := cutField(b[8:])
	if !ok || string(name) != algorithm {
		return Key{}, errNoKey
	}
	public, b, ok := cutField(b)
	if !ok {
		return Key{}, errNoKey
	}
	private, _, ok := cutField(b)
	if !ok || len(private) != ed25519.PrivateKeySize {
		return Key{}, errNoKey
	}
	k := Key{ed25519.NewKeyFromSeed(private[:ed25519.SeedSize])} // the file's public part is not trusted
	if !bytes.Equal(k.private, private) || !bytes.Equal(k.private[ed25519.SeedSize:], public) {
		return Key{}, errNoKey
	}
	return k, nil
}
