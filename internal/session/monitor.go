package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The context monitor keeps its state of a session in a file of its own: it is small, and changes
// with every batch of tool calls, while the client waits. A session's state has some kilobytes.

const monitorSize = 512 // bytes, at least, of such a file

func monitorPath(id string) string { return filepath.Join(sessions, id+".monitor") }

// UpdateMonitor loads the context monitor's state of a session into v, lets f change it, and saves
// it. If there is none, or none that can be read, known is false. The session's lock is not taken,
// since it is held as long as a turn is being recorded.
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

// LoadMonitor reads the context monitor's state of a session into v. If there is none, or none that
// can be read, ok is false, and v must not be used.
func (s Store) LoadMonitor(id string, v any) (ok bool) {
	data, err := s.dir.ReadFile(monitorPath(id))
	return err == nil && json.Unmarshal(data, v) == nil
}

// saveMonitor saves v. A reader sees the old state or the new one: blanks make both equally long,
// and one write replaces everything. Writing a new file and renaming it, as for the session's own
// state, costs 0.6 ms more.
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
	return errors.Join(err, f.Truncate(int64(len(data))), f.Close())
}
