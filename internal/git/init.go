package git

import "context"

// Init makes a repository in dir, which exists, with the branch main.
func Init(ctx context.Context, dir string) (*Repo, error) {
	r := at(dir, environ(location))
	if _, err := r.Output(ctx, nil, "init", "--quiet", "--initial-branch=main"); err != nil {
		return nil, err
	}
	return Find(dir)
}
