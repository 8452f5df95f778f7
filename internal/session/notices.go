package session

import (
	"bytes"
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

	"gitagent/internal/config"
	"gitagent/internal/statedir"
)

// A hook has two places for what it has to say: notices to the user, and the
// log. Notices are noted outside of the repository, in a directory for what need
// not survive a restart, since most of them say that nothing can be written in
// the repository. Each is a file that holds what was said.

// A Notice is something that the user was told.
type Notice struct {
	At   time.Time
	Text string
}

// Tell reports whether to tell the user text in a session, which happens once for
// each kind of thing. kind is safe as a part of a file name. Where that can't be
// noted they are told again: better twice than never.
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

// Notices lists what the user was told about the repository since the last
// restart, the newest first.
func (s Store) Notices() []Notice {
	dir := notes()
	entries, _ := dir.ReadDir(".") // they were told nothing
	var list []Notice
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasPrefix(e.Name(), s.repository()) {
			text, _ := dir.ReadFile(e.Name())
			list = append(list, Notice{info.ModTime(), string(text)})
		}
	}
	slices.SortFunc(list, func(a, b Notice) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Text, b.Text)) })
	return list
}

// untell forgets what the user was told about the repository.
func (s Store) untell() error {
	dir := notes()
	entries, err := dir.ReadDir(".")
	if err != nil {
		return nil // they were told nothing, or it is not ours
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), s.repository()) {
			err = errors.Join(err, dir.Remove(e.Name()))
		}
	}
	_ = dir.Remove(".") // if nothing about others is in it
	return err
}

// repository returns what the names of the repository's notes begin with.
func (s Store) repository() string {
	sum := sha256.Sum256([]byte(s.dir.Path(".")))
	return fmt.Sprintf("%x-", sum[:8])
}

// notes returns the directory of the notes: in $XDG_RUNTIME_DIR if that is the
// user's own, otherwise where temporary files are. A directory of that name that
// another user has made there is not used.
func notes() *statedir.Dir {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && statedir.Own(dir) {
		return statedir.Private(dir, "git-agent")
	}
	return statedir.Private(os.TempDir(), fmt.Sprintf("git-agent-%d", os.Getuid()))
}

const (
	logFile = "log"
	maxLine = 4 << 10 // bytes of a line of the log: an error may quote a payload
)

// Log appends a line to the log. A log of more than [config.MaxLogSize] loses its
// older half before that.
func (s Store) Log(at time.Time, text string) error {
	if info, err := s.dir.Lstat(logFile); err == nil && info.Size() > config.MaxLogSize {
		_ = s.TrimLog(time.Time{}, info.Size()/2)
	}
	f, err := s.dir.OpenFile(logFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE)
	if err != nil {
		return fmt.Errorf("write to the log: %w", err)
	}
	text = strings.ReplaceAll(strings.TrimSpace(text), "\n", "\\n")
	text = text[:min(len(text), maxLine)]
	_, err = fmt.Fprintf(f, "%s %s\n", at.UTC().Format(time.RFC3339), text)
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write to the log: %w", err)
	}
	return nil
}

// TrimLog drops from the log what was written before a time, and then the oldest
// lines until at most that many bytes are left. A line that is written at the
// same moment may be lost.
func (s Store) TrimLog(before time.Time, most int64) error {
	data, err := s.dir.ReadFile(logFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		kept := newest(data, before, most)
		if len(kept) == len(data) {
			return nil
		}
		err = s.dir.WriteFile(logFile, kept)
	}
	if err != nil {
		return fmt.Errorf("shorten the log: %w", err)
	}
	return nil
}

// newest returns the end of a log: at most that many bytes, from the first line
// that was not written before a time. A line that is none of ours is as old as
// the next one.
func newest(data []byte, before time.Time, most int64) []byte {
	if cut := int64(len(data)) - most; cut > 0 {
		data = data[cut-1:] // with the newline, if the cut is at the beginning of a line
		data = data[bytes.IndexByte(data, '\n')+1:]
	}
	kept, rest := data, data
	for line := range bytes.Lines(data) {
		at := parseLine(string(line)).At
		if rest = rest[len(line):]; at.IsZero() {
			continue
		}
		if !at.Before(before) {
			break
		}
		kept = rest
	}
	return kept
}

// Probe writes files, to see whether sessions and errors can be noted, and removes them.
func (s Store) Probe() error {
	for _, dir := range []string{".", sessions, "locks"} {
		name := filepath.Join(dir, "probe")
		err := s.dir.WriteFile(name, make([]byte, 64<<10))
		_ = s.dir.Remove(name) // a part of it
		if err != nil {
			return fmt.Errorf("write local state: %w", err)
		}
	}
	return nil
}

// A Logged is an entry of the log.
type Logged struct {
	At   time.Time // zero if the line is none of ours
	Text string
}

// LogTail returns the last n entries of the log, oldest first.
func (s Store) LogTail(n int) []Logged {
	data, err := s.dir.ReadFile(logFile)
	if err != nil {
		return nil
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	var list []Logged
	for _, line := range lines[max(0, len(lines)-n):] {
		list = append(list, parseLine(line))
	}
	return list
}

func parseLine(line string) Logged {
	stamp, text, _ := strings.Cut(line, " ")
	at, err := time.Parse(time.RFC3339, stamp)
	if err != nil {
		text = line
	}
	return Logged{at, strings.ReplaceAll(text, `\n`, "\n")}
}
