package handoffstore

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// PruneArtifacts removes artifacts in a [DataDir]: of handoffs made before, and
// the oldest beyond most bytes; zero is no bound. Anything else there stays.
func PruneArtifacts(data string, before time.Time, most int64) error {
	root, err := os.OpenRoot(filepath.Join(data, "handoffs"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("prune artifacts: %w", err)
	}
	defer root.Close()
	all, err := artifacts(root)
	if err != nil {
		return fmt.Errorf("prune artifacts: %w", err)
	}
	var errs []error
	for _, a := range surplus(all, before, most) {
		for _, file := range artifactFiles {
			errs = append(errs, missing(root.Remove(filepath.Join(a.name, file))))
		}
		_ = root.Remove(a.name) // it stays if anything else is there
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("prune artifacts: %w", err)
	}
	return nil
}

// missing returns nil for a missing file, as two may prune at once.
func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

type artifact struct {
	name string
	at   time.Time
	size int64 // bytes of our files in it
}

func artifacts(root *os.Root) (list []artifact, err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		at, ok := stamped(e.Name())
		if !ok || !e.IsDir() {
			continue
		}
		a := artifact{name: e.Name(), at: at}
		found := false
		for _, file := range artifactFiles {
			if info, err := root.Lstat(filepath.Join(a.name, file)); err == nil && info.Mode().IsRegular() {
				a.size += info.Size()
				found = true
			}
		}
		if found {
			list = append(list, a)
		}
	}
	return list, nil
}

// stamped returns a handoff's time from its directory's name, which may end in
// a number that tells apart those of one second.
func stamped(name string) (time.Time, bool) {
	const form = "20060102-150405"
	if at := len(name) - len("-"+form); at > 0 && name[at] == '-' {
		if t, err := time.Parse(form, name[at+1:]); err == nil {
			return t, true
		}
	}
	at := strings.LastIndexByte(name, '-')
	if at < 0 || len(name)-at > 4 || strings.Trim(name[at+1:], "0123456789") != "" || at == len(name)-1 {
		return time.Time{}, false
	}
	return stamped(name[:at])
}

func surplus(all []artifact, before time.Time, most int64) (out []artifact) {
	slices.SortFunc(all, func(a, b artifact) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.name, b.name)) })
	var total int64
	for _, a := range all {
		if total += a.size; a.at.Before(before) || most > 0 && total > most {
			out = append(out, a)
		}
	}
	return out
}
