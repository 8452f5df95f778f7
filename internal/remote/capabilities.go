package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"gitagent/internal/record"
	"gitagent/internal/statedir"
)

// capabilities are what was learned about a remote. They may be lost.
type capabilities struct {
	NoAtomic  time.Time               `json:"no_atomic,omitzero"`  // when it refused several refs in one transaction
	NoOptions time.Time               `json:"no_options,omitzero"` // when it refused push options
	As        map[record.ID]record.ID `json:"as,omitempty"`        // missions that have another name there
	Kept      map[record.ID]bool      `json:"kept,omitempty"`      // missions whose branch was rejected, as logged
	Failures  int                     `json:"failures,omitempty"`  // in a row
	Failed    time.Time               `json:"failed,omitzero"`     // the last one
}

// state returns the local state, and name a path in it of this remote's files.
func (r *Remote) state() *statedir.Dir    { return r.w.Store.Dir() }
func (r *Remote) name(file string) string { return filepath.Join("push", escape(r.Name), file) }

func (r *Remote) memoryName() string { return r.name("memory.json") }

func (r *Remote) remember() capabilities {
	var m capabilities
	data, err := r.state().ReadFile(r.memoryName())
	if err != nil || json.Unmarshal(data, &m) != nil {
		return capabilities{}
	}
	return m
}

func (r *Remote) learn(ctx context.Context, change func(*capabilities)) error {
	held, err := r.lock(ctx, "push-memory")
	if err != nil {
		return err
	}
	defer held.Release()
	m := r.remember()
	change(&m)
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	tmp := r.memoryName() + ".new"
	if err = r.state().WriteFile(tmp, data); err == nil {
		err = r.state().Rename(tmp, r.memoryName())
	}
	if err != nil {
		return fmt.Errorf("remember %s: %w", r.Name, err)
	}
	return nil
}

// name returns the name that a mission has at the remote.
func (m capabilities) name(id record.ID) record.ID { return cmp.Or(m.As[id], id) }

func (r *Remote) rememberAs(ctx context.Context, id, as record.ID) error {
	if r.remember().name(id) == as {
		return nil
	}
	return r.learn(ctx, func(m *capabilities) {
		if m.As == nil {
			m.As = make(map[record.ID]record.ID)
		}
		m.As[id] = as
		if id == as {
			delete(m.As, id)
		}
	})
}

// rememberLacking notes that the remote refuses push options, or several refs
// in one transaction. The network may be to blame, so it is believed for a day.
func (r *Remote) rememberLacking(ctx context.Context, options bool) error {
	return r.learn(ctx, func(m *capabilities) {
		if options {
			m.NoOptions = time.Now()
		} else {
			m.NoAtomic = time.Now()
		}
	})
}

func lacking(found time.Time) bool { return time.Since(found) < 24*time.Hour }
