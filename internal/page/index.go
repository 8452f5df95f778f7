package page

import (
	"encoding/json"
	"time"

	"gitagent/internal/git"
	"gitagent/internal/ledger"
)

// An index is what the scripts read first.
type index struct {
	Title    string         `json:"title"`
	Contains string         `json:"contains"` // what the page contains and leaves out, for people
	Made     stamp          `json:"made"`
	Without  []Part         `json:"without"`
	Missions []*mission     `json:"missions"`
	Wholes   map[string]int `json:"wholes"` // the packet in which a version of a file is as a whole, by its short name
}

// A mission is one of the index, with a line for each turn.
type mission struct {
	ID       ledger.ID  `json:"id"`
	Title    string     `json:"title"`
	Agent    string     `json:"agent,omitempty"` // that recorded its last turn, and its model
	By       string     `json:"by"`              // who recorded its newest event
	Foreign  bool       `json:"foreign,omitempty"`
	Parent   *parent    `json:"parent"`
	Finished *finished  `json:"finished,omitempty"`
	Limits   []limit    `json:"limits,omitempty"`
	Handoffs []*handoff `json:"handoffs"`
	Turns    []*line    `json:"turns"`
}

type parent struct {
	Mission ledger.ID `json:"mission"`
	Turn    int       `json:"turn"`
}

type finished struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
}

// A limit is a size of the context at which the agent is told something.
type limit struct {
	Tokens int    `json:"tokens"`
	Label  string `json:"label"`
}

type handoff struct {
	Number int    `json:"number"`
	Turn   int    `json:"turn"` // the last before it
	Title  string `json:"title"`
}

// A line is a turn in the index.
type line struct {
	Number     int    `json:"number"`
	As         string `json:"as,omitempty"` // the turn in whose place it stands, if a fork has inherited it
	At         stamp  `json:"at"`
	Took       int64  `json:"took,omitempty"` // milliseconds
	Outcome    string `json:"outcome"`
	Prompt     string `json:"prompt"` // its beginning
	Files      int    `json:"files"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Context    int64  `json:"context"`
	Output     int64  `json:"output"`
	Compacted  int    `json:"compacted"`         // times
	Foreign    bool   `json:"foreign,omitempty"` // somebody unknown recorded it
	Packet     int    `json:"packet"`
}

// A detail is a turn in a packet.
type detail struct {
	Prompt  string      `json:"prompt"`
	Reply   []node      `json:"reply,omitempty"`
	Missing string      `json:"missing,omitempty"` // why there is no conversation
	Steps   []*step     `json:"steps,omitempty"`
	Agents  []*subAgent `json:"agents,omitempty"`
	Between []*fileDiff `json:"between,omitempty"` // what others changed before it
	Files   []*fileDiff `json:"files,omitempty"`
	Skipped []skipped   `json:"skipped,omitempty"`
	Facts   [][2]string `json:"facts,omitempty"`
}

type skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// A step is something that was said or done in a turn.
type step struct {
	Kind   string  `json:"kind"`
	Tree   []node  `json:"tree,omitempty"` // of what was said
	Text   string  `json:"text,omitempty"` // of anything else
	Name   string  `json:"name,omitempty"` // of a call
	Brief  string  `json:"brief,omitempty"`
	Input  string  `json:"input,omitempty"`
	Agent  string  `json:"agent,omitempty"` // the sub-agent that it started
	Result *result `json:"result,omitempty"`

	call string // its id
}

type result struct {
	Text   string   `json:"text,omitempty"`
	Failed bool     `json:"failed,omitempty"`
	Files  []string `json:"files,omitempty"` // what is no text
	Left   string   `json:"left,omitempty"`  // what was left out
}

type subAgent struct {
	ID      string  `json:"id"`
	Line    string  `json:"line"`
	Missing string  `json:"missing,omitempty"`
	Steps   []*step `json:"steps,omitempty"`
}

// A fileDiff is what a turn changed in a file.
type fileDiff struct {
	Path       string `json:"path"`
	Kind       string `json:"kind"` // A, D, M or T
	Old        string `json:"old"`  // short name of the version before; empty if there was none
	New        string `json:"new"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Binary     bool   `json:"binary,omitempty"`
	Left       string `json:"left,omitempty"` // why there is no patch
	Patch      string `json:"patch,omitempty"`

	versions git.Versions
	from, to git.Hash // the trees
}

// A stamp is a time as scripts have it: milliseconds since 1970; 0 if it is not known.
type stamp time.Time

func (s stamp) MarshalJSON() ([]byte, error) {
	t := time.Time(s)
	if t.IsZero() {
		return []byte("0"), nil
	}
	return json.Marshal(t.UnixMilli())
}
