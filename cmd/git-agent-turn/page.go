package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/target"
)

func pageCommand() *cli.Command { return target.PageCommand(target.WritePage) }
