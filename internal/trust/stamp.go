package trust

import (
	"io/fs"
	"time"

	"gitagent/internal/journal"
	"gitagent/internal/record"
)

// A Stamp tells whether anything was noted about a mission since it was taken:
// the size and the times of the file. The zero Stamp is of no file.
type Stamp struct {
	Size, Modified, Changed int64 // the times in ns and, where there is one, in ms
}

// settled is how old a file must be for its times to tell of the next change:
// some file systems count in 2 seconds.
const settled = 3 * time.Second

// Settled reports whether the stamp, taken at a time, tells of all that is noted
// from then on.
func (s Stamp) Settled(at time.Time) bool {
	limit := at.Add(-settled)
	return s == (Stamp{}) || s.Modified < limit.UnixNano() && s.Changed < limit.UnixMilli()
}

// Stamps calls f with each mission of which anything is known.
func (t *Trust) Stamps(f func(record.ID, Stamp)) {
	_ = t.dir.Look("trust", func(info fs.FileInfo) { // none before the first event
		if id, err := record.ParseID(info.Name()); err == nil {
			changed, _ := journal.Ctime(info)
			f(id, Stamp{info.Size(), info.ModTime().UnixNano(), changed})
		}
	})
}
