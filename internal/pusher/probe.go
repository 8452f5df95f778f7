package pusher

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"gitagent/internal/git/object"
	"gitagent/internal/remote"
)

// A Probe is what a remote can do with our refs.
type Probe struct {
	Refs    error // why it rejects them, or nil; if it does, nothing else was tried
	Atomic  bool  // it accepts ledger and notes in one transaction
	Options bool  // it accepts push options, so that pushed branches don't start its CI
	Deletes error // why it refuses to delete them, or nil
	Left    []string
	InWay   error // a [*git.InWayError] about others' refs that keep purges or the archive from it, or nil
}

// Try pushes two refs of no mission and deletes them again. [Probe.Left] has
// those that could not be deleted. The error, if any, is not the remote's.
func Try(ctx context.Context, r *remote.Remote) (*Probe, error) {
	objects := r.Repo.Objects(ctx)
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
	name := "probe-" + rand.Text() // not an id, so that it is not taken for a mission
	refs := []string{remote.LedgerRefs + name, remote.NoteRefs + name}
	try := func(option []string, source string, refs ...string) error {
		specs := make([]string, len(refs))
		for i, ref := range refs {
			specs[i] = source + ":" + ref
		}
		_, err := r.Run(ctx, "", "push", slices.Concat(option, []string{"--end-of-options", r.Target}, specs)...)
		return errors.Join(err, ctx.Err())
	}
	p := new(Probe)
	if there, err := r.Refs(ctx, r.Source); err == nil { // else the pushes say why not
		p.InWay = r.InWay(there)
	}
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
