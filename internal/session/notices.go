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

// A hook talks to the user in notices, and to the log. Notices are noted
// outside the repository, a file each, in a directory that a restart may clear,
// because most are about a repository that can't be written.

// A Notice is a text that the user was told.
type Notice struct {
	At   time.Time
	Text string
}

// Tell reports whether to tell the user text, once per session and kind, which
// must be safe in a file name. If that can't be noted, it returns true.
func (s Store) Tell(id, kind, text string) bool {
	f, err := notes().OpenFile(s.repository()+id+"-"+kind, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return !errors.Is(err, fs.ErrExist)
	}
	_, _ = f.WriteString(text) // the file exists even if the disk is full
	_ = f.Close()
	return true
}

// WasTold reports whether the user was told something of a kind in a session.
func (s Store) WasTold(id, kind string) bool {
	_, err := notes().Lstat(s.repository() + id + "-" + kind)
	return err == nil
}

// Owe keeps a text that the user has yet to be told in a session.
func (s Store) Owe(id, text string) error {
	f, err := notes().OpenFile(s.owed(id), os.O_WRONLY|os.O_CREATE|os.O_APPEND)
	if err == nil {
		_, err = f.WriteString(text + "\n")
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return fmt.Errorf("keep a notice for the next prompt: %w", err)
	}
	return nil
}

// Owed returns what is owed, to one of those who ask, and "" if nothing is.
func (s Store) Owed(id string) string {
	dir, name := notes(), s.owed(id)
	if dir.Rename(name, name+taken) != nil {
		return ""
	}
	text, _ := dir.ReadFile(name + taken)
	_ = dir.Remove(name + taken)
	return strings.TrimSpace(string(text))
}

// What is owed is in files beside those of notices, which have it, too.
const (
	owed  = "owed-"
	taken = ".taken"
)

func (s Store) owed(id string) string { return owed + s.repository() + id }

// Notices returns what the user was told about the repository since the last
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

func (s Store) untell() error {
	dir := notes()
	entries, err := dir.ReadDir(".")
	if err != nil {
		return nil // they were told nothing, or it is not ours
	}
	for _, e := range entries {
		if strings.HasPrefix(strings.TrimPrefix(e.Name(), owed), s.repository()) {
			err = errors.Join(err, dir.Remove(e.Name()))
		}
	}
	_ = dir.Remove(".") // if nothing about others is in it
	return err
}

// repository returns the prefix of the repository's notices.
func (s Store) repository() string {
	sum := sha256.Sum256([]byte(s.dir.Path(".")))
	return fmt.Sprintf("%x-", sum[:8])
}

// notes returns the directory of notices: in $XDG_RUNTIME_DIR if it is the
// user's, else in the temporary directory. One that another user made there is
// not used.
func notes() *statedir.Dir {
	if dir := os.Getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) && statedir.Own(dir) {
		return statedir.Private(dir, "git-agent")
	}
	return statedir.Private(os.TempDir(), fmt.Sprintf("git-agent-%d", os.Getuid()))
}

const (
	logFile = "log"
	maxLine = 4 << 10 // bytes of a log line: an error may quote a payload
)

// Log appends a line to the log. Beyond [config.MaxLogSize], it first drops the
// log's older half.
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

// TrimLog drops lines written before a time, then the oldest ones down to most
// bytes. A line written at the same moment may be lost.
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

// newest returns at most the last most bytes of a log, from the first line not
// before a time. A malformed line is as old as the next.
func newest(data []byte, before time.Time, most int64) []byte {
	if cut := int64(len(data)) - most; cut > 0 {
		data = data[cut-1:] // with the newline, if the cut is at a line's beginning
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

// Probe checks that state can be written, by writing files and removing them.
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
	At   time.Time // zero for a malformed line
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
