package session

import "fmt"

// RecallFile has the hints of package recall, in the store's directory. They can
// be made again, and go when a mission is forgotten.
const (
	RecallFile  = "recall"
	RecallFresh = "recall.new" // that is being written
)

// WriteRecall writes the hints. One process at a time may.
func (s Store) WriteRecall(hints []byte) error {
	err := s.dir.WriteFile(RecallFresh, hints)
	if err == nil {
		err = s.dir.Rename(RecallFresh, RecallFile)
	}
	if err != nil {
		return fmt.Errorf("note where to look for what was tried: %w", err)
	}
	return nil
}

// ReadRecall returns the hints; the error may wrap [fs.ErrNotExist].
func (s Store) ReadRecall() ([]byte, error) { return s.dir.ReadFile(RecallFile) }
