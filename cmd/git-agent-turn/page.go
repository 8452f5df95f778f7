package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/command"
)

func pageCommand() *cli.Command { return command.PageCommand(command.WritePage) }
