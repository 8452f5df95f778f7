package trust

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"strconv"
	"strings"

	"gitagent/internal/git"
	"gitagent/internal/git/object"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// Writers are the writers of a mission's events: [Clone], [Machine], a name of
// the list, or [Unknown], also for what can't be relied on.
type Writers struct {
	all    string // "" if there are several
	event  map[string]string
	commit map[object.Hash]string // who wrote each commit of the usable part
}

// Turn returns the writer of a turn.
func (w *Writers) Turn(number int) string { return w.of("turn", number) }

// Handoff returns the writer of a handoff.
func (w *Writers) Handoff(number int) string { return w.of("handoff", number) }

// Commit names who wrote a commit of the ledger.
func (w *Writers) Commit(hash object.Hash) string {
	return cmp.Or(w.all, w.commit[hash], Unknown)
}

func (w *Writers) of(kind string, number int) string {
	if w.all != "" {
		return w.all
	}
	if who, ok := w.event[fmt.Sprintf("%s %d", kind, number)]; ok {
		return who
	}
	return Unknown
}

// Writers reads who wrote a mission whose ledger ends at tip. Where all of it
// is this clone's, as mostly, that costs a file; otherwise all its commits are
// read.
func (t *Trust) Writers(ctx context.Context, repo *git.Repo, objects *git.Objects, id record.ID, tip object.Hash) (*Writers, error) {
	s, err := t.Of(ctx, repo, objects, id, tip)
	if err != nil {
		return nil, err
	}
	r, err := t.load(id)
	if err != nil {
		return nil, err
	}
	switch before, own := r.merged().own[s.Commit]; {
	case s.Commit.IsZero():
		return &Writers{all: Unknown}, nil
	case s.Whole && own && before.IsZero():
		return &Writers{all: Clone}, nil
	}
	w := &Writers{event: make(map[string]string), commit: make(map[object.Hash]string)}
	if !s.Whole {
		if err := w.changed(ctx, repo, s.Commit, tip); err != nil {
			return nil, err
		}
	}
	c := newChain(ctx, repo, objects)
	here, until := false, object.Hash{}
	for at := s.Commit; !at.IsZero(); {
		if here && at == until {
			here = false
		}
		if before, own := r.own[at]; own {
			here, until = true, before
		}
		content, err := c.read(at)
		if err != nil || content == nil {
			return w, err
		}
		who := Clone
		signed, ok := ledger.ParseSigned(content)
		if !here {
			if who = Unknown; ok {
				who = t.Keys().Name(signed.By)
			}
		}
		w.add(content, who)
		w.commit[at] = who
		if at = signed.Parent; !ok {
			parsed, err := object.ParseCommit(content)
			if err != nil || len(parsed.Parents) == 0 {
				return w, nil
			}
			at = parsed.Parents[0]
		}
	}
	return w, nil
}

// add sets the writer of a commit's event, unless a later one replaced it.
func (w *Writers) add(commit []byte, who string) {
	_, message, _ := bytes.Cut(commit, []byte("\n\n"))
	event, _, _ := strings.Cut(string(message), "\n")
	if _, later := w.event[event]; !later {
		w.event[event] = who
	}
}

// changed names nobody for what untrusted hands changed between two commits.
func (w *Writers) changed(ctx context.Context, repo *git.Repo, from, to object.Hash) error {
	out, err := repo.Output(ctx, nil, "diff-tree", "-r", "-z", "--name-only", "--no-renames", from.String(), to.String(), "--")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(string(out), "\x00") {
		kind, file := "turn", path.Base(name)
		if dir, _, _ := strings.Cut(strings.TrimPrefix(name, "handoffs/"), "/"); strings.HasPrefix(name, "handoffs/") {
			kind, file = "handoff", dir
		}
		if number, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSuffix(file, ".jsonl"), ".json")); err == nil {
			w.event[fmt.Sprintf("%s %d", kind, number)] = Unknown
		}
	}
	return nil
}
