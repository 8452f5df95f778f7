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
	Refs     error // why it rejects them, or nil; if it does, nothing else was tried
	Atomic   bool  // it accepts ledger and notes in one transaction
	Hidden   bool  // it does not list them afterwards, so that nobody can fetch them
	Alone    error // why it does not give a commit that no ref points at, as an archived mission's, or nil
	Replaces error // why it refuses to replace them, as purges and the archive need, or nil
	Options  bool  // it accepts push options, so that pushed branches don't start its CI
	Deletes  error // why it refuses to delete them, or nil
	Left     []string
	InWay    error // a [*git.InWayError] about others' refs that keep purges or the archive from it, or nil
}

// Try pushes two refs of no mission, fetches what one leads to, replaces it and
// deletes them again. [Probe.Left] has those that could not be deleted. The
// error, if any, is not the remote's.
func Try(ctx context.Context, r *remote.Remote) (*Probe, error) {
	objects := r.Repo.Objects(ctx)
	defer objects.Close()
	tree, err := objects.EmptyTree()
	if err != nil {
		return nil, err
	}
	name := "probe-" + rand.Text() // not an id, so that it is not taken for a mission
	who := object.Signature{Name: "git-agent", Email: "git-agent@localhost", When: time.Unix(0, 0).UTC()}
	first, err := objects.CommitTree(tree, nil, who, who, name+"\n") // another one than what is left of an earlier probe
	if err != nil {
		return nil, err
	}
	second, err := objects.CommitTree(tree, []object.Hash{first}, who, who, name+"\n")
	if err != nil {
		return nil, err
	}
	if err := objects.Flush(); err != nil {
		return nil, err
	}
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
	if p.Refs = try([]string{"--atomic"}, second.String(), refs...); p.Refs == nil {
		p.Atomic = true
	} else if p.Refs = try(nil, second.String(), refs...); p.Refs != nil {
		return p, nil
	}
	p.Left = refs
	if there, err := r.Refs(ctx, r.Source); err == nil {
		p.Hidden = there[refs[0]].IsZero()
	}
	if !p.Hidden { // with --refetch git asks for what is here
		_, err := r.Run(ctx, first.String()+"\n", "fetch", "--refetch", "--stdin", "--end-of-options", r.Source)
		p.Alone = errors.Join(err, ctx.Err())
	}
	p.Replaces = try([]string{"--force"}, first.String(), refs[0])
	if try([]string{"-o", "ci.skip"}, "", refs[0]) == nil {
		p.Options, p.Left = true, refs[1:]
	}
	if p.Deletes = try(nil, "", p.Left...); p.Deletes == nil {
		p.Left = nil
	}
	return p, nil
}
