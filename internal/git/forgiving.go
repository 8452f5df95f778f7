package git

import (
	"context"
	"strings"
)

// Forgiving returns the repository for a checkout that no filter stops halfway.
// What a filter fails on is checked out as git stores it, even if the filter is
// required: of a file of LFS whose object is nowhere, the pointer.
func (r *Repo) Forgiving(ctx context.Context) (*Repo, error) {
	config, err := r.Config(ctx)
	if err != nil {
		return nil, err
	}
	var set [][2]string
	for key := range config {
		if strings.HasPrefix(key, "filter.") && strings.HasSuffix(key, ".required") {
			set = append(set, [2]string{key, "false"})
		}
	}
	// git-lfs would end, and git with it does not write what is still to come.
	return r.With(Env("GIT_LFS_SKIP_DOWNLOAD_ERRORS=1"), Settings(set...)), nil
}
