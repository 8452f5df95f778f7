package session

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gitagent/internal/config"
)

const (
	logFile = "log"
	maxLine = 4 << 10 // bytes of a line of the log: an error may quote a payload
)

// Log appends a line to the log. A log of more than [config.MaxLogSize] loses its older half before that.
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

// TrimLog drops from the log what was written before, and of the rest the oldest lines until it has at most so
// many bytes. A line that is written at this very moment may go as well.
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

// newest is the end of a log, from its first line that was not written before a time, and of at most so many
// bytes. A line that is none of ours is as old as the next one.
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
