package session

import (
	"errors"
	"io/fs"
	"path/filepath"

	"gitagent/internal/record"
)

// RecordsDir has files with the records of missions' turns, which package turns
// makes of the ledgers to read them sooner. Any of them may be deleted.
const RecordsDir = "records"

// RecordsFile returns a mission's file in the store's directory.
func RecordsFile(id record.ID) string { return filepath.Join(RecordsDir, string(id)) }

// dropRecords deletes a mission's file.
func (s Store) dropRecords(id record.ID) error {
	if err := s.dir.Remove(RecordsFile(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
