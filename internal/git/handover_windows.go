package git

import "os"

// On Windows a file belongs to who made it, and others write it as the
// directory's access list says.

func (r *Repo) makeWays([]Update) {}

func (r *Repo) handOver([]string) {}

func (r *Repo) giveFile(*os.File) error { return nil }
