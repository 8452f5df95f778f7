package session

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	logFile = "log"
	maxLine = 4 << 10   // bytes of a line of the log: an error may quote a payload
	maxLog  = 256 << 10 // bytes at which the log loses its older half
)

// Log appends a line to the log.
func (s Store) Log(at time.Time, text string) error {
	if info, err := s.dir.Lstat(logFile); err == nil && info.Size() > maxLog {
		if data, err := s.dir.ReadFile(logFile); err == nil {
			data = data[len(data)/2:]
			data = data[bytes.IndexByte(data, '\n')+1:]
			_ = s.dir.WriteFile(logFile, data)
		}
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
