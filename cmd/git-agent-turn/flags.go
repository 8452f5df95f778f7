package main

import (
	"github.com/urfave/cli/v2"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
)

// missionFlag names a mission; without it the commands find the current one.
func missionFlag() cli.Flag {
	return &cli.StringFlag{Name: "mission", Usage: "of the mission `<id>`"}
}

// namedMission is the mission that the flag names; none without the flag.
func namedMission(c *cli.Context) ([]ledger.ID, error) {
	if !c.IsSet("mission") {
		return nil, nil
	}
	id, err := ledger.ParseID(c.String("mission"))
	if err != nil {
		return nil, cmdline.Usagef("%w", err)
	}
	return []ledger.ID{id}, nil
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "the agent is `<name>`: claude, codex or opencode", Value: "claude"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"}
}
