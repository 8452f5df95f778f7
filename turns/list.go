package turns

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/go-git/go-git/v5/plumbing"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// List returns the records of a mission's turns, in order, including those that a fork inherited.
// If there is no such mission, the error is a [MissingError].
func List(ctx context.Context, repo *git.Repo, id ledger.ID) ([]*Turn, error) {
	refs, err := repo.Refs(ctx, id.Ref())
	if err != nil {
		return nil, err
	}
	tip, ok := refs[id.Ref()]
	if !ok {
		return nil, missingMission(ctx, repo, string(id))
	}
	files, err := recordFiles(ctx, repo, tip)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b recordFile) int { return a.turn - b.turn })
	return readRecords(ctx, repo, id, files)
}

// A recordFile says which blob is a turn's record.
type recordFile struct {
	turn int
	blob string
}

// recordFiles lists the records of a ledger, in no particular order.
func recordFiles(ctx context.Context, repo *git.Repo, tip plumbing.Hash) ([]recordFile, error) {
	out, err := repo.Output(ctx, nil, "ls-tree", "-r", "-z", tip.String(), "turns/")
	if err != nil {
		return nil, fmt.Errorf("list turns: %w", err)
	}
	var files []recordFile
	for rest := out; len(rest) > 0; {
		var entry []byte
		entry, rest, _ = bytes.Cut(rest, []byte{0})
		meta, name, _ := strings.Cut(string(entry), "\t")
		n, err := strconv.Atoi(strings.TrimSuffix(path.Base(name), ".json"))
		fields := strings.Fields(meta)
		if err != nil || len(fields) != 3 {
			continue // a later version may keep other files here
		}
		files = append(files, recordFile{n, fields[2]})
	}
	return files, nil
}

// readRecords reads records of a mission, in the order of files.
func readRecords(ctx context.Context, repo *git.Repo, id ledger.ID, files []recordFile) ([]*Turn, error) {
	blobs := make([]string, len(files))
	for i, f := range files {
		blobs[i] = f.blob
	}
	list := make([]*Turn, len(files))
	parse := func(i int, data []byte) (err error) {
		list[i], err = parseAt(data, id, files[i].turn)
		return err
	}
	err := decodeAll(func(work func(i int, data []byte)) error {
		return repo.CatFiles(ctx, blobs, func(i int, obj *git.Object) error {
			if obj == nil {
				return fmt.Errorf("read turn %d: %w", files[i].turn, plumbing.ErrObjectNotFound)
			}
			work(i, obj.Content)
			return nil
		})
	}, parse)
	if err != nil {
		return nil, err
	}
	return list, nil
}

// decodeAll parses records while they are still being read: for 10,000 turns, parsing takes most of
// the time.
func decodeAll(read func(work func(i int, data []byte)) error, parse func(i int, data []byte) error) error {
	type record struct {
		i    int
		data []byte
	}
	records := make(chan record, 256)
	var workers sync.WaitGroup
	errs := make([]error, max(1, runtime.GOMAXPROCS(0)))
	for w := range errs {
		workers.Go(func() {
			for r := range records {
				if err := parse(r.i, r.data); err != nil && errs[w] == nil {
					errs[w] = err
				}
			}
		})
	}
	err := read(func(i int, data []byte) { records <- record{i, data} })
	close(records)
	workers.Wait()
	return errors.Join(append(errs, err)...)
}

// Newest reads the turns of a mission, newest first, and hands them over in batches: a small one
// first, so that something can be shown at once.
func Newest(ctx context.Context, repo *git.Repo, id ledger.ID, batch func([]*Turn)) error {
	refs, err := repo.Refs(ctx, id.Ref())
	if err != nil {
		return err
	}
	tip, ok := refs[id.Ref()]
	if !ok {
		return missingMission(ctx, repo, string(id))
	}
	files, err := recordFiles(ctx, repo, tip)
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b recordFile) int { return b.turn - a.turn })
	for size := 200; len(files) > 0; size *= 10 {
		n := min(size, len(files))
		list, err := readRecords(ctx, repo, id, files[:n])
		if err != nil {
			return err
		}
		batch(list)
		files = files[n:]
	}
	return nil
}
