package session

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
)

// What the context monitor keeps about a session has a file of its own, sessions/<id>.monitor: it changes with
// every batch of tool calls, at a time when a client waits, and has 100 bytes where a state has some kilobytes.

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

// SaveMonitor keeps v for the context monitor. A reader sees the old one or the new one.
func (s Store) SaveMonitor(id string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = replace(s.monitorPath(id), data)
	}
	if err != nil {
		return fmt.Errorf("save the monitor's state of session %s: %w", id, err)
	}
	return nil
}
