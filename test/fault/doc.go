// Package fault lets every write of a hook fail in turn, and looks at what that leaves: of the one that
// ends a turn, of the one that begins it, and of the one that keeps a state within it.
//
//	make nightly STAGE=tests                every tenth write, beside all other tests
//	make faults                             each one, with figures
//
// The hook and every git that it starts are traced (ptrace), and the n-th system call that writes to
// the disk returns ENOSPC or EIO instead of being made: alone, or with all that come after it. The
// agent goes on, the model is told nothing, and the user is told once what is lost. With the disk in
// order again everything is recorded that can be, git fsck finds nothing, and no lock is left.
package fault
