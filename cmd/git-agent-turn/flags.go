package main

import "github.com/urfave/cli/v2"

// missionFlag names a mission; without it the commands find the current one.
func missionFlag() cli.Flag {
	return &cli.StringFlag{Name: "mission", Usage: "of the mission `<id>`"}
}

func agentFlag() cli.Flag {
	return &cli.StringFlag{Name: "agent", Usage: "the agent is `<name>`: claude, codex or opencode", Value: "claude"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object per line"}
}
