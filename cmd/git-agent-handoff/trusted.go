package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"gitagent/handoffstore"
	"gitagent/internal/command"
	"gitagent/internal/workspace"
)

// trusted checks that a handoff may be used; if it is untrusted, it asks.
func trusted(c *cli.Context, s *handoffstore.Store, f *handoffstore.Found) error {
	switch ok, err := s.Trusted(c.Context, f); {
	case err != nil || ok:
		return err
	}
	if err := command.Accept(c, s.Workspace, f.In); err != nil {
		return err
	}
	switch ok, err := s.Trusted(c.Context, f); {
	case err != nil || ok:
		return err
	}
	return fmt.Errorf("handoff %s: %w", f.ID(), workspace.ErrUntrusted)
}
