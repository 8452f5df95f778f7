package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"
)

// A Probe is what a remote can do with our refs.
type Probe struct {
	Refs    error // why it does not take them; nil if it does. Without that nothing else was tried
	Atomic  bool  // it takes ledger and notes together
	Options bool  // it takes push options, so that pushes of branches don't start its CI
	Deletes error // why it does not delete them; nil if it does
	Left    []string
}

// Probe pushes two refs that are no mission's, with an empty commit, and deletes them again. [Probe.Left] are those that could not be
// deleted. The error, if any, is not the remote's.
func (r *Remote) Probe(ctx context.Context) (*Probe, error) {
	objects := r.repo.Objects(ctx)
	defer objects.Close()
	tree, err := objects.EmptyTree()
	if err != nil {
		return nil, err
	}
	who := object.Signature{Name: "git-agent", Email: "git-agent@localhost", When: time.Unix(0, 0).UTC()}
	commit, err := objects.CommitTree(tree, nil, who, who, "probe\n")
	if err != nil {
		return nil, err
	}
	if err := objects.Flush(); err != nil {
		return nil, err
	}
	name := "probe-" + rand.Text() // no id, so that nobody takes it for a mission
	refs := []string{ledgers + name, notes + name}
	try := func(option []string, source string, refs ...string) error {
		specs := make([]string, len(refs))
		for i, ref := range refs {
			specs[i] = source + ":" + ref
		}
		_, err := r.run(ctx, "", "push", slices.Concat(r.pushOptions(), option, []string{"--end-of-options", r.Name}, specs)...)
		return errors.Join(err, ctx.Err())
	}
	p := new(Probe)
	if p.Refs = try([]string{"--atomic"}, commit.String(), refs...); p.Refs == nil {
		p.Atomic = true
	} else if p.Refs = try(nil, commit.String(), refs...); p.Refs != nil {
		return p, nil
	}
	p.Left = refs
	if try([]string{"-o", "ci.skip"}, "", refs[0]) == nil {
		p.Options, p.Left = true, refs[1:]
	}
	if p.Deletes = try(nil, "", p.Left...); p.Deletes == nil {
		p.Left = nil
	}
	return p, nil
}

// A State is what is known about pushes to a remote.
type State struct {
	Waiting  int       // missions
	Failures int       // in a row, of the background
	Failed   time.Time // the last one
}

// State tells how pushes to the remote stand.
func (r *Remote) State() (State, error) {
	ids, err := r.Pending()
	if err != nil {
		return State{}, fmt.Errorf("read the queue of %s: %w", r.Name, err)
	}
	known := r.remember()
	return State{Waiting: len(ids), Failures: known.Failures, Failed: known.Failed}, nil
}
