package turns

import (
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

// readTurn reads one record of a ledger. If there is none, the error wraps [git.ErrNotFound].
func readTurn(l *ledger.Ledger, number int) (*Turn, error) {
	data, err := l.Read(ledger.TurnPath("turns", number, ".json"))
	if err != nil {
		return nil, err
	}
	return parseAt(data, l.ID, l.Tip, number)
}

// parseAt decodes the record stored under a turn's number in a mission's ledger, at one of its commits.
func parseAt(data []byte, in ledger.ID, at plumbing.Hash, number int) (*Turn, error) {
	t, err := Parse(data)
	if err == nil && t.Turn != number {
		err = fmt.Errorf("the record has number %d", t.Turn)
	}
	if err != nil {
		return nil, fmt.Errorf("read turn %s: %w", ledger.TurnID{Mission: in, Turn: number}, err)
	}
	t.in, t.at = in, at
	return t, nil
}

// Last returns the record of a ledger's last turn, or nil if it has none.
func Last(l *ledger.Ledger) (*Turn, error) {
	number, err := l.LastTurn()
	if err != nil || number == 0 {
		return nil, err
	}
	return readTurn(l, number)
}

// Read returns the record of a turn, or of the last one if number is 0. If there is none, the error
// wraps [git.ErrNotFound].
func Read(ctx context.Context, repo *git.Repo, id ledger.ID, number int) (*Turn, error) {
	objects := repo.Objects(ctx)
	defer objects.Close()
	l, err := ledger.Open(ctx, repo, objects, id)
	if err != nil {
		return nil, err
	}
	last, err := l.LastTurn()
	if err != nil {
		return nil, err
	}
	if number == 0 {
		number = last
	}
	t, err := readTurn(l, number)
	if errors.Is(err, git.ErrNotFound) {
		return nil, missingTurn(l, number, last)
	}
	return t, err
}

// List returns the records of a mission's turns, in order, including those that a fork inherited.
// If there is no such mission, the error is a [MissingError].
func List(ctx context.Context, repo *git.Repo, id ledger.ID) ([]*Turn, error) {
	tip, files, err := recordFiles(ctx, repo, id)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b recordFile) int { return a.turn - b.turn })
	return readRecords(ctx, repo, id, tip, files)
}

// A recordFile says which blob is a turn's record.
type recordFile struct {
	turn int
	blob string
}

// recordFiles lists the records of a mission, in no particular order, and says at which commit.
func recordFiles(ctx context.Context, repo *git.Repo, id ledger.ID) (tip plumbing.Hash, files []recordFile, err error) {
	refs, err := repo.Refs(ctx, id.Ref())
	if err != nil {
		return tip, nil, err
	}
	tip, ok := refs[id.Ref()]
	if !ok {
		return tip, nil, missing(ctx, repo, "mission "+string(id), string(id))
	}
	out, err := repo.Output(ctx, nil, "ls-tree", "-r", "-z", tip.String(), "turns/")
	if err != nil {
		return tip, nil, fmt.Errorf("list turns: %w", err)
	}
	for entry := range strings.SplitSeq(string(out), "\x00") {
		meta, name, _ := strings.Cut(entry, "\t")
		n, err := strconv.Atoi(strings.TrimSuffix(path.Base(name), ".json"))
		fields := strings.Fields(meta)
		if err != nil || len(fields) != 3 {
			continue // a later version may keep other files here
		}
		files = append(files, recordFile{n, fields[2]})
	}
	return tip, files, nil
}

// readRecords reads records of a mission, in the order of files. They are parsed while others are
// still being read: for 10,000 turns, parsing takes most of the time.
func readRecords(ctx context.Context, repo *git.Repo, id ledger.ID, tip plumbing.Hash, files []recordFile) ([]*Turn, error) {
	blobs := make([]string, len(files))
	for i, f := range files {
		blobs[i] = f.blob
	}
	list := make([]*Turn, len(files))
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
				var err error
				if list[r.i], err = parseAt(r.data, id, tip, files[r.i].turn); err != nil && errs[w] == nil {
					errs[w] = err
				}
			}
		})
	}
	err := repo.CatFiles(ctx, blobs, func(i int, obj *git.Object) error {
		if obj == nil {
			return fmt.Errorf("read turn %d: %w", files[i].turn, plumbing.ErrObjectNotFound)
		}
		records <- record{i, obj.Content}
		return nil
	})
	close(records)
	workers.Wait()
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return list, nil
}

// Newest reads the turns of a mission, newest first, and hands them over in batches: a small one
// first, so that something can be shown at once.
func Newest(ctx context.Context, repo *git.Repo, id ledger.ID, batch func([]*Turn)) error {
	tip, files, err := recordFiles(ctx, repo, id)
	if err != nil {
		return err
	}
	slices.SortFunc(files, func(a, b recordFile) int { return b.turn - a.turn })
	for size := 200; len(files) > 0; size *= 10 {
		n := min(size, len(files))
		list, err := readRecords(ctx, repo, id, tip, files[:n])
		if err != nil {
			return err
		}
		batch(list)
		files = files[n:]
	}
	return nil
}
