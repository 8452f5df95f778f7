package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/statedir"
)

// Learned is what was learned about a remote. It may be lost.
type Learned struct {
	NoAtomic  time.Time                   `json:"no_atomic,omitzero"`  // when it refused several refs in one transaction
	NoOptions time.Time                   `json:"no_options,omitzero"` // when it refused push options
	As        map[record.ID]record.ID     `json:"as,omitempty"`        // missions that have another name there
	Kept      map[record.ID]bool          `json:"kept,omitempty"`      // missions whose branch was rejected, as logged
	Outside   map[string]object.Hash      `json:"outside,omitempty"`   // refs, as of when all that their commits name outside of git was seen to
	Warned    string                      `json:"warned,omitempty"`    // the last warning
	Clean     time.Time                   `json:"clean,omitzero"`      // when it was last seen with a map of purges, and nothing of what that purges
	CleanMap  object.Hash                 `json:"clean_map,omitzero"`  // that map
	Again     bool                        `json:"again,omitempty"`     // it has what was purged again since then
	Unkept    map[object.Hash]object.Hash `json:"unkept,omitempty"`    // commits that its archive names and lacks, with what kept that archive
	Failures  int                         `json:"failures,omitempty"`  // in a row
	Failed    time.Time                   `json:"failed,omitzero"`     // the last one
	Rejected  bool                        `json:"rejected,omitempty"`  // by the remote, which was reached
}

// state returns the local state, and name a path in it of this remote's files.
func (r *Remote) state() *statedir.Dir    { return r.Workspace.Store.Dir() }
func (r *Remote) name(file string) string { return filepath.Join(queues, r.key, file) }

func (r *Remote) memoryName() string { return r.name("memory.json") }

// Learned returns what is known about the remote.
func (r *Remote) Learned() Learned {
	var m Learned
	data, err := r.state().ReadFile(r.memoryName())
	if err != nil || json.Unmarshal(data, &m) != nil {
		return Learned{}
	}
	return m
}

// Learn changes what is known about the remote.
func (r *Remote) Learn(ctx context.Context, change func(*Learned)) error {
	held, err := r.LockPush(ctx, "memory-")
	if err != nil {
		return err
	}
	defer held.Release()
	m := r.Learned()
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
		return fmt.Errorf("remember %s: %w", r, err)
	}
	return nil
}

// Name returns the name that a mission has at the remote.
func (m Learned) Name(id record.ID) record.ID { return cmp.Or(m.As[id], id) }

// LearnName notes the name that a mission has at the remote.
func (r *Remote) LearnName(ctx context.Context, id, as record.ID) error {
	if r.Learned().Name(id) == as {
		return nil
	}
	return r.Learn(ctx, func(m *Learned) {
		if m.As == nil {
			m.As = make(map[record.ID]record.ID)
		}
		m.As[id] = as
		if id == as {
			delete(m.As, id)
		}
	})
}

// LearnLacking notes that the remote refuses push options, or several refs
// in one transaction. The network may be to blame, so it is believed for a day.
func (r *Remote) LearnLacking(ctx context.Context, options bool) error {
	return r.Learn(ctx, func(m *Learned) {
		if options {
			m.NoOptions = time.Now()
		} else {
			m.NoAtomic = time.Now()
		}
	})
}

// Atomic reports whether the remote may take several refs in one transaction.
func (m Learned) Atomic() bool { return !lacking(m.NoAtomic) }

// Options reports whether the remote may take push options.
func (m Learned) Options() bool { return !lacking(m.NoOptions) }

func lacking(found time.Time) bool { return time.Since(found) < 24*time.Hour }
