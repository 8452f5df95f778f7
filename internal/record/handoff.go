package record

import (
	"fmt"
	"time"

	"gitagent/internal/git/object"
)

// An ExitType is how the session before a handoff ended.
type ExitType string

// The exit types.
const (
	Clean  ExitType = "clean"  // it ended, or handed off and goes on
	Crash  ExitType = "crash"  // it died between turns, or its last turn failed
	Killed ExitType = "killed" // it died in the middle of a turn
)

// ParseExitType parses an exit type that a person typed.
func ParseExitType(s string) (ExitType, error) {
	switch e := ExitType(s); e {
	case Clean, Crash, Killed:
		return e, nil
	}
	return "", fmt.Errorf("exit type %q: it is one of clean, crash, killed", s)
}

// KindHandoff is the kind of a handoff's line in a note.
const KindHandoff = "handoff"

// A Handoff is the record of a handoff, a line of JSON in the ledger.
type Handoff struct {
	V       int       `json:"v" purge:"formal"`    // [Version]
	Kind    string    `json:"kind" purge:"formal"` // [KindHandoff]
	Mission ID        `json:"mission" purge:"formal"`
	Number  int       `json:"handoff" purge:"formal"` // from 1 within the mission
	At      time.Time `json:"at" purge:"formal"`

	ExitType ExitType `json:"exit_type" purge:"formal"`
	Agent    string   `json:"previous_agent,omitempty" purge:"text"` // its name in records, or a supervisor's for it
	Session  string   `json:"session,omitempty" purge:"formal"`      // the client's id of the conversation
	Program  string   `json:"program,omitempty" purge:"text"`        // that wrote the record; see [version.Program]

	LastTurn    int     `json:"last_turn,omitempty" purge:"number"` // 0 if the mission has none
	LastOutcome Outcome `json:"last_outcome,omitempty" purge:"formal"`
	LastPrompt  string  `json:"last_prompt,omitempty" purge:"prompt,copied"` // redacted; its first 500 runes

	Head    object.Hash `json:"git_sha,omitzero" purge:"hash"`               // HEAD; zero on an unborn branch
	Branch  string      `json:"branch,omitempty" purge:"text"`               // short name; "" when HEAD was detached
	Stash   object.Hash `json:"stash_ref,omitzero" purge:"hash"`             // the worktree on Head; zero if it is Head's
	Files   int         `json:"files,omitempty" purge:"number"`              // uncommitted ones
	Paths   []string    `json:"paths,omitempty" purge:"text"`                // the first 20 of them
	Diff    string      `json:"uncommitted_changes,omitempty" purge:"patch"` // first lines of the patch, redacted
	Skipped []Skip      `json:"skipped,omitempty"`                           // paths that Stash lacks; the first 50
	Commits []Commit    `json:"recent_commits,omitempty"`                    // up to Head, newest first

	Summary   string   `json:"progress_summary,omitempty" purge:"text,copied"` // or the end of its last reply
	Questions []string `json:"open_questions,omitempty" purge:"text"`
	Todos     []Todo   `json:"todos,omitempty"`

	Written   time.Time `json:"written,omitzero" purge:"formal"`    // when the agent wrote document or summary
	Doc       string    `json:"doc,omitempty" purge:"formal"`       // the document in the ledger
	Source    string    `json:"doc_source,omitempty" purge:"text"`  // where the agent wrote it, relative in a worktree
	Patch     string    `json:"patch,omitempty" purge:"formal"`     // the uncommitted changes, in the ledger
	Terminal  string    `json:"terminal,omitempty" purge:"formal"`  // snapshot of the terminal, in the ledger
	Log       string    `json:"log,omitempty" purge:"text"`         // complete terminal log, on the session's machine
	Truncated []string  `json:"truncated,omitempty" purge:"formal"` // cut: "document", "patch", "uncommitted_changes"

	Text Text `json:"-"` // of the parsed record
}

// A Commit is one of the recent commits.
type Commit struct {
	Hash    object.Hash `json:"hash" purge:"hash"`
	Subject string      `json:"subject" purge:"text"`
}

// A Todo is one item of an agent's list.
type Todo struct {
	Text   string `json:"text" purge:"text"`
	Status string `json:"status" purge:"text"` // pending, in_progress, completed
}
