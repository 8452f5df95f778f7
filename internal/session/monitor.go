package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// What the context monitor keeps about a session has a file of its own, sessions/<id>.monitor: it changes with
// every batch of tool calls, at a time when a client waits, and is small where a state has some kilobytes.

// monitorSize is the size in bytes of such a file, if not more is to be kept.
const monitorSize = 512

func (s Store) monitorPath(id string) string { return filepath.Join(s.dir, "sessions", id+".monitor") }

// LockMonitor waits until no other process is changing what the context monitor keeps about a session, and returns the
// function that lets the next one. It is not the session's lock, which is held as long as a turn is recorded.
func (s Store) LockMonitor(ctx context.Context, id string) (release func(), err error) {
	return s.Lock(ctx, fmt.Sprintf("monitor-%02d", crc32.ChecksumIEEE([]byte(id))%64))
}

// LoadMonitor reads into v what the context monitor keeps about a session.
// If there is nothing, or nothing that can be read, ok is false, and v must not be used.
func (s Store) LoadMonitor(id string, v any) (ok bool) {
	data, err := os.ReadFile(s.monitorPath(id))
	return err == nil && json.Unmarshal(data, v) == nil
}

// SaveMonitor keeps v for the context monitor. The caller holds the monitor's lock.
//
// A reader that does not hold it sees the old one, or the new one: blanks make both equally long, and a write takes the
// place of all at once. To write a new file and rename it, as for the session's own state, costs 0.6 ms more.
func (s Store) SaveMonitor(id string, v any) error {
	if err := s.saveMonitor(id, v); err != nil {
		return fmt.Errorf("save the monitor's state of session %s: %w", id, err)
	}
	return nil
}

func (s Store) saveMonitor(id string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if pad := monitorSize - len(data); pad > 0 {
		data = append(data, bytes.Repeat([]byte{' '}, pad)...)
	}
	path := s.monitorPath(id)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if errors.Is(err, fs.ErrNotExist) {
		if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
			f, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		}
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Truncate(int64(len(data))), f.Close())
}
