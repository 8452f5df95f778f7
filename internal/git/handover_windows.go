package git

import "os"

// On Windows a file belongs to who made it, and others write it as the
// directory's access list says.

func (r *Repo) readable([]string) []string { return nil }

// MakeWays does nothing here.
func (r *Repo) MakeWays(...string) {}

func (r *Repo) handOver([]string) {}

func (r *Repo) giveFile(*os.File) error { return nil }
