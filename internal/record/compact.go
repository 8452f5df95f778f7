package record

import (
	"encoding/json"
	"maps"
	"slices"

	"gitagent/internal/compact"
	"gitagent/internal/git/object"
	"gitagent/internal/usage"
)

// Write writes a mission, with the fields that this version does not know, and
// reports whether [Mission.Read] reads it as it is.
func (m *Mission) Write(w *compact.Writer) (whole bool) {
	w.Int(int64(m.V))
	for _, s := range []string{string(m.ID), m.Title, m.Agent, m.Base, m.Branch, string(m.Predecessor), string(m.Began)} {
		w.Text(s)
	}
	whole = w.Time(m.Created)
	w.Int(int64(len(m.Sessions)))
	for _, s := range m.Sessions {
		w.Text(s)
	}
	if w.Is(m.ForkedFrom != nil); m.ForkedFrom != nil {
		w.Text(string(m.ForkedFrom.Mission))
		w.Int(int64(m.ForkedFrom.Turn))
	}
	if w.Is(m.Finished != nil); m.Finished != nil {
		WriteHash(w, m.Finished.Commit)
		WriteHash(w, m.Finished.Tip)
		w.Int(int64(m.Finished.Turn))
		whole = w.Time(m.Finished.At) && whole
	}
	if w.Is(m.Adopted != nil); m.Adopted != nil {
		WriteHash(w, m.Adopted.Commit)
		w.Int(int64(m.Adopted.Turn))
		w.Is(m.Adopted.Undone)
		whole = w.Time(m.Adopted.At) && whole
	}
	if w.Is(m.Spent != nil); m.Spent != nil {
		w.Int(int64(m.Spent.Since))
		writeModels(w, m.Spent.Models)
		writeModels(w, m.Spent.Agents)
	}
	w.Int(int64(len(m.unknown)))
	for _, name := range slices.Sorted(maps.Keys(m.unknown)) {
		w.Text(name)
		w.Text(string(m.unknown[name]))
	}
	return whole
}

// Read reads what [Mission.Write] has written into the zero Mission.
func (m *Mission) Read(r *compact.Reader) {
	m.V = int(r.Int())
	m.ID, m.Title, m.Agent, m.Base, m.Branch = ID(r.Text()), r.Text(), r.Text(), r.Text(), r.Text()
	m.Predecessor, m.Began = ID(r.Text()), ID(r.Text())
	m.Created = r.Time()
	if n := r.Count(); n > 0 {
		m.Sessions = make([]string, n)
		for i := range m.Sessions {
			m.Sessions[i] = r.Text()
		}
	}
	if r.Is() {
		m.ForkedFrom = &TurnID{Mission: ID(r.Text()), Turn: int(r.Int())}
	}
	if r.Is() {
		m.Finished = &Finish{Commit: ReadHash(r), Tip: ReadHash(r), Turn: int(r.Int()), At: r.Time()}
	}
	if r.Is() {
		m.Adopted = &Adoption{Commit: ReadHash(r), Turn: int(r.Int()), Undone: r.Is(), At: r.Time()}
	}
	if r.Is() {
		m.Spent = &Usage{Since: int(r.Int()), Models: readModels(r), Agents: readModels(r)}
	}
	if n := r.Count(); n > 0 {
		m.unknown = make(Fields, n)
		for range n {
			name := r.Text()
			m.unknown[name] = json.RawMessage(r.Text())
		}
	}
}

func writeModels(w *compact.Writer, models usage.ByModel) {
	w.Int(int64(len(models)))
	for _, name := range slices.Sorted(maps.Keys(models)) {
		t := models[name]
		w.Text(name)
		for _, n := range []int64{t.Input, t.CacheRead, t.CacheWrite, t.Output} {
			w.Int(n)
		}
	}
}

func readModels(r *compact.Reader) usage.ByModel {
	n := r.Count()
	if n == 0 {
		return nil
	}
	models := make(usage.ByModel, n)
	for range n {
		name := r.Text()
		models[name] = usage.Tokens{Input: r.Int(), CacheRead: r.Int(), CacheWrite: r.Int(), Output: r.Int()}
	}
	return models
}

// WriteHash writes a hash, which may be zero.
func WriteHash(w *compact.Writer, h object.Hash) { w.Text(string(h.Bytes())) }

// ReadHash reads a hash.
func ReadHash(r *compact.Reader) object.Hash {
	text := r.Text()
	for _, f := range []object.Format{object.SHA1, object.SHA256} {
		if len(text) == f.Size() {
			return f.Hash([]byte(text))
		}
	}
	return object.Hash{}
}
