package git

import "context"

// Init makes a repository with the branch main in dir, which must exist.
func Init(ctx context.Context, dir string) (*Repo, error) {
	r := at(dir, environ(location))
	if _, err := r.Output(ctx, nil, "init", "--quiet", "--initial-branch=main"); err != nil {
		return nil, err
	}
	return Find(dir)
}
