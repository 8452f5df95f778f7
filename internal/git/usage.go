package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"gitagent/internal/git/object"
)

// A DiskUse is a number of objects and their size on disk.
type DiskUse struct {
	Objects, Bytes int64
}

// Usage counts the objects that tips reach, but HEAD, tags, remotes and
// branches (without those with the prefix own) do not.
func Usage(ctx context.Context, r *Repo, tips []object.Hash, own string) (u DiskUse, err error) {
	var in strings.Builder
	for _, h := range tips {
		in.WriteString(r.Format().Text(h) + "\n")
	}
	count := func(what string) (int64, error) {
		out, err := r.With(Wary).Output(ctx, strings.NewReader(in.String()),
			"rev-list", "--objects", what, "--stdin", "--not", "--exclude="+own+"*", "--branches", "--tags", "--remotes", "--ignore-missing", "HEAD")
		if err != nil {
			return 0, err
		}
		return strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	}
	u.Objects, err = count("--count")
	if err == nil {
		u.Bytes, err = count("--disk-usage")
	}
	if err != nil {
		return u, fmt.Errorf("measure objects: %w", err)
	}
	return u, nil
}

// A Disorder is what `git maintenance` and `git gc` would tidy.
type Disorder struct {
	Loose      DiskUse // objects in a file each
	Packs      int64
	LooseRefs  int
	PackedSize int64 // bytes of all packs with their indexes
}

// Disorders counts the repository's loose objects, packs and loose refs.
func Disorders(ctx context.Context, r *Repo) (Disorder, error) {
	var d Disorder
	out, err := r.Output(ctx, nil, "count-objects", "-v")
	if err == nil {
		var refs []string
		refs, err = looseRefs(r)
		d.LooseRefs = len(refs)
	}
	for line := range strings.Lines(string(out)) {
		key, text, _ := strings.Cut(strings.TrimSpace(line), ": ")
		value := map[string]*int64{"count": &d.Loose.Objects, "size": &d.Loose.Bytes, "packs": &d.Packs, "size-pack": &d.PackedSize}[key]
		if value == nil {
			continue
		}
		n, e := strconv.ParseInt(text, 10, 64)
		*value, err = n, errors.Join(err, e)
	}
	const unit = 1 << 10 // git prints KiB
	d.Loose.Bytes *= unit
	d.PackedSize *= unit
	if err != nil {
		return d, fmt.Errorf("count objects: %w", err)
	}
	return d, nil
}
