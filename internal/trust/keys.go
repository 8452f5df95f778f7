package trust

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gitagent/internal/sshsig"
	"gitagent/internal/statedir"
)

// Keys are a user's keys. They are the user's own files, never a repository's.
type Keys struct {
	Own      *sshsig.Key // nil if there is no usable one
	OwnPath  string      // where it is, or would be
	OwnError error       // why Own is nil; wraps [fs.ErrNotExist] if there is no file
	Signers  []Signer    // in the list's order
	Ignored  []string    // lines of the list that are not understood, with the reason
	ListPath string

	usual  bool // MakeKey may make OwnPath
	names  map[sshsig.Public]string
	digest string // of the trusted keys; any change changes it
}

// A Signer is a key that the user trusts.
type Signer struct {
	Name string
	Key  sshsig.Public
}

// Names of the files in the user's configuration directory.
const (
	keyFile  = "key"
	listFile = "allowed_signers" // as git and ssh-keygen know it
	maxList  = 1 << 20           // bytes
)

// ReadKeys reads the keys in the user's configuration directory, none if dir is
// "". own is another private key to sign with, or "".
func ReadKeys(dir, own string) *Keys {
	k := &Keys{OwnPath: own, ListPath: filepath.Join(dir, listFile), names: make(map[sshsig.Public]string)}
	if dir == "" {
		k.OwnError = errors.New("read the keys: the environment names no home directory")
		return k
	}
	if own == "" {
		k.OwnPath, k.usual = filepath.Join(dir, keyFile), true
	}
	k.Own, k.OwnError = readKey(k.OwnPath)
	data, err := readList(k.ListPath)
	if err != nil {
		k.Ignored = append(k.Ignored, err.Error())
	}
	for n, line := range strings.Split(string(data), "\n") {
		s, err := parseSigner(line)
		if err != nil {
			k.Ignored = append(k.Ignored, fmt.Sprintf("%s:%d: %v", k.ListPath, n+1, err))
		} else if s != nil {
			k.Signers = append(k.Signers, *s)
			k.names[s.Key] = cmp.Or(k.names[s.Key], s.Name)
		}
	}
	if k.Own != nil {
		k.names[k.Own.Public()] = Machine
	}
	sum := sha256.New()
	for _, key := range slices.SortedFunc(maps.Keys(k.names), func(a, b sshsig.Public) int { return slices.Compare(a[:], b[:]) }) {
		sum.Write(key[:])
	}
	k.digest = hex.EncodeToString(sum.Sum(nil)[:8])
	return k
}

// Trusts reports whether a key counts: the user's own, or one with a name.
func (k *Keys) Trusts(p sshsig.Public) bool { return k.Name(p) != Unknown }

// Name returns the owner of a key: [Machine], a name of the list, or [Unknown].
func (k *Keys) Name(p sshsig.Public) string { return cmp.Or(k.names[p], Unknown) }

// readKey reads a private key. It refuses one that others own or can read.
func readKey(path string) (*sshsig.Key, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		err = private(info)
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, 64<<10))
	}
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", path, err)
	}
	k, err := sshsig.ParseKey(data)
	if err != nil {
		return nil, fmt.Errorf("read the key %s: %w", path, err)
	}
	return &k, nil
}

// parseSigner reads a line of an allowed_signers file, nil if empty. Options,
// patterns and several names, which may mean more to ssh-keygen, are errors.
func parseSigner(line string) (*Signer, error) {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasPrefix(words[0], "#") {
		return nil, nil
	}
	if len(words) < 3 {
		return nil, errors.New("not a name, ssh-ed25519 and a key")
	}
	if err := checkName(words[0]); err != nil {
		return nil, err
	}
	key, err := sshsig.ParsePublic(words[1], words[2])
	if err != nil {
		return nil, err
	}
	return &Signer{words[0], key}, nil
}

const maxName = 100

// checkName refuses names that are no literal word in the list, or are ours.
func checkName(name string) error {
	switch {
	case name == "" || len(name) > maxName || strings.ContainsFunc(name, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`*?!,"'#\`, r)
	}):
		return fmt.Errorf("the name %q: it is one word of letters, digits and -_.@+ of ASCII", name)
	case name == Unknown, name == "cert-authority":
		return fmt.Errorf("the name %q has a meaning of its own", name)
	}
	return nil
}

// ParseKey reads a public key: the one line of a public key file.
func ParseKey(line string) (sshsig.Public, error) {
	words := strings.Fields(line)
	if len(words) < 2 || strings.ContainsAny(strings.TrimRight(line, "\r\n"), "\r\n") {
		return sshsig.Public{}, errors.New("not the one line of a public key file")
	}
	return sshsig.ParsePublic(words[0], words[1])
}

// Add adds a key to the list. A name has one key, and a key one name.
func (k *Keys) Add(ctx context.Context, name string, key sshsig.Public) error {
	if err := checkName(name); err != nil {
		return err
	}
	for _, s := range k.Signers {
		switch {
		case s.Name == name && s.Key == key:
			return nil
		case s.Name == name:
			return fmt.Errorf("%s has another key in %s", name, k.ListPath)
		case s.Key == key:
			return fmt.Errorf("the key is in %s as %s", k.ListPath, s.Name)
		}
	}
	return k.edit(ctx, func(lines []string) []string { return append(lines, name+" "+key.String()) })
}

// ErrExposed reports an unused private key that others can read.
var ErrExposed = errors.New("others can read it; change that with: chmod 600")

var ErrNoSigner = errors.New("not in the list")

// Remove removes a name from the list. All that its key signed is untrusted
// from then on, also what is older: the holder of a key can sign with any date.
func (k *Keys) Remove(ctx context.Context, name string) error {
	found := false
	err := k.edit(ctx, func(lines []string) []string {
		return slices.DeleteFunc(lines, func(line string) bool {
			s, err := parseSigner(line)
			is := err == nil && s != nil && s.Name == name
			found = found || is
			return is
		})
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: %w", name, ErrNoSigner)
	}
	return err
}

// edit changes the lines of the list. Lines not understood stay.
func (k *Keys) edit(ctx context.Context, change func([]string) []string) error {
	dir := filepath.Dir(k.ListPath)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	dir, err := filepath.EvalSymlinks(dir) // people keep such files elsewhere
	if err != nil {
		return err
	}
	held, err := statedir.In(filepath.Dir(dir), filepath.Base(dir)).Lock(ctx, listFile+".lock")
	if err != nil {
		return err
	}
	defer held.Release()
	data, err := readList(k.ListPath)
	if err != nil {
		return err
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(data) == 0 {
		lines = nil
	}
	text := ""
	for _, line := range change(lines) {
		text += line + "\n"
	}
	path := k.ListPath
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readList returns the list of keys, empty if there is no file.
func readList(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxList+1))
	if err == nil && len(data) > maxList {
		err = fmt.Errorf("read %s: more than %d bytes", path, maxList)
	}
	return data, err
}

// CanMake reports whether [Keys.MakeKey] would make the user's first key.
func (k *Keys) CanMake() bool {
	return k.usual && errors.Is(k.OwnError, fs.ErrNotExist)
}

// MakeKey makes the user's key if [Keys.CanMake]. comment is for people.
func (k *Keys) MakeKey(comment string) (made bool, err error) {
	if !k.CanMake() {
		return false, nil
	}
	key, err := sshsig.NewKey(rand.Reader)
	if err != nil {
		return false, err
	}
	private, err := key.Encode(comment)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(k.OwnPath), 0o700)
	}
	for _, file := range []struct {
		path string
		data []byte
		mode fs.FileMode
	}{{k.OwnPath, private, 0o600}, {k.OwnPath + ".pub", []byte(strings.TrimSpace(key.Public().String()+" "+comment) + "\n"), 0o644}} {
		if err == nil {
			err = writeNew(file.path, file.data, file.mode)
		}
	}
	if err != nil {
		return false, fmt.Errorf("make a key: %w", err)
	}
	k.Own, k.OwnError = &key, nil
	return true, nil
}

func writeNew(path string, data []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}

// Digest changes whenever another key is trusted.
func (k *Keys) Digest() string { return k.digest }
