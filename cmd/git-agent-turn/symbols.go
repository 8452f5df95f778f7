package main

import (
	"gitagent/internal/cmdline"
	"gitagent/internal/record"
	"gitagent/turns"
)

// The marks of turns and missions in lists, to be read without colours, too.
const (
	markRunning     = ">" // the turn runs; in the mission, a turn does
	markWaiting     = "*" // the mission's agent waits for a prompt
	markFailed      = "!"
	markInterrupted = "~"
)

func markOf(o record.Outcome) string {
	switch o {
	case record.Failed:
		return markFailed
	case record.Interrupted:
		return markInterrupted
	}
	return ""
}

func markOfMission(a turns.Activity) string {
	switch a {
	case turns.IsRunning:
		return markRunning
	case turns.IsWaiting:
		return markWaiting
	}
	return ""
}

func lookOfMark(mark string) cmdline.Style {
	switch mark {
	case markRunning, markWaiting:
		return cmdline.Green
	case markFailed:
		return cmdline.Red
	case markInterrupted:
		return cmdline.Yellow
	}
	return cmdline.Plain
}
