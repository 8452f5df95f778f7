package session

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gitagent/internal/statedir"
)

// What the user was told is noted outside of the repository, in a directory for what need not
// survive a restart: what he is told is mostly that nothing can be written in the repository. Each
// note is a file, with what was said.

// A Told is what the user was told.
type Told struct {
	At   time.Time
	Text string
}

// Tell reports whether to tell the user text in a session, which happens once for each kind of
// thing. kind is safe as a part of a file name. Where that can't be noted he is told again: better
// twice than never.
func (s Store) Tell(id, kind, text string) bool {
	f, err := notes().OpenFile(s.repository()+id+"-"+kind, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	_, _ = f.WriteString(text) // on a full disk the file is there all the same
	_ = f.Close()
	return true
}

// WasTold reports whether the user was told something of that kind in a session.
func (s Store) WasTold(id, kind string) bool {
	_, err := notes().Lstat(s.repository() + id + "-" + kind)
	return err == nil
}

// Told lists what the user was told about the repository since the last restart, the newest first.
func (s Store) Told() []Told {
	dir := notes()
	entries, _ := dir.ReadDir(".") // he was told nothing
	var list []Told
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), s.repository()) {
			text, _ := dir.ReadFile(e.Name())
			list = append(list, Told{info.ModTime(), string(text)})
		}
	}
	slices.SortFunc(list, func(a, b Told) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Text, b.Text)) })
	return list
}

// untell forgets what the user was told about the repository.
func (s Store) untell() error {
	dir := notes()
	entries, err := dir.ReadDir(".")
	if err != nil {
		return nil // he was told nothing, or it is not ours
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), s.repository()) {
			err = errors.Join(err, dir.Remove(e.Name()))
		}
	}
	_ = dir.Remove(".") // if nothing about others is in it
	return err
}

// repository begins the names of the repository's notes.
func (s Store) repository() string {
	sum := sha256.Sum256([]byte(s.dir.Path(".")))
	return fmt.Sprintf("%x-", sum[:8])
}

// notes is the directory of the notes: in $XDG_RUNTIME_DIR if that is the user's own, otherwise where
// temporary files are. Somebody else may have made a directory of that name there; it is not used.
func notes() *statedir.Dir {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && statedir.Own(dir) {
		return statedir.Private(dir, "git-agent")
	}
	return statedir.Private(os.TempDir(), fmt.Sprintf("git-agent-%d", os.Getuid()))
}
