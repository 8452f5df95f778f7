package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// The context monitor's state has its own small file, because it changes with
// every batch of tool calls, while the client waits.

const (
	monitorSize = 512       // bytes of such a file, at least
	maxMonitor  = 256 << 10 // bytes that are read; 50 visits of the longest paths are 210,000
)

func monitorPath(id string) string { return filepath.Join(sessions, id+".monitor") }

// UpdateMonitor loads a session's monitor state into v, calls f to change it,
// and saves it. known is false if none can be read. It has its own lock,
// because the session's is held while a turn is recorded.
func (s Store) UpdateMonitor(ctx context.Context, id string, v any, f func(known bool)) error {
	held, err := s.shared(ctx, "monitor", id)
	if err != nil {
		return err
	}
	defer held.Release()
	f(s.LoadMonitor(id, v))
	if err := s.saveMonitor(id, v); err != nil {
		return fmt.Errorf("save the monitor's state of session %s: %w", id, err)
	}
	return nil
}

// Monitors reports whether there is a monitor's state of a session. It costs a
// look at a directory.
func (s Store) Monitors(id string) bool {
	_, err := s.dir.Lstat(monitorPath(id))
	return err == nil
}

// LoadMonitor reads a session's monitor state into v. v is invalid if ok is
// false.
func (s Store) LoadMonitor(id string, v any) (ok bool) {
	f, err := s.dir.OpenFile(monitorPath(id), os.O_RDONLY)
	if err != nil {
		return false
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxMonitor))
	return err == nil && json.Unmarshal(data, v) == nil
}

// saveMonitor saves v, padded to a fixed length, in one write, so that readers
// see the old or the new state. Renaming a new file costs 0.6 ms more.
func (s Store) saveMonitor(id string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if pad := monitorSize - len(data); pad > 0 {
		data = append(data, bytes.Repeat([]byte{' '}, pad)...)
	}
	f, err := s.dir.OpenFile(monitorPath(id), os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return cmp.Or(err, f.Truncate(int64(len(data))), f.Close())
}
