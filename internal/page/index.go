package page

import (
	"encoding/json"
	"time"

	"gitagent/internal/gitdiff"
	"gitagent/internal/record"
)

// An index is what the scripts read first.
type index struct {
	Title    string           `json:"title"`
	Contains string           `json:"contains"` // what the page has and lacks, for people
	Made     stamp            `json:"made"`
	Without  []Part           `json:"without"`
	Missions []*missionPacket `json:"missions"`
	Wholes   map[string]int   `json:"wholes"` // by version, the packet with the whole of it
}

// A missionPacket is a mission in the index.
type missionPacket struct {
	ID       record.ID        `json:"id"`
	Title    string           `json:"title"`
	Agent    string           `json:"agent,omitempty"` // of its last turn, with the model
	By       string           `json:"by"`              // recorded its newest event
	Foreign  bool             `json:"foreign,omitempty"`
	Parent   *parent          `json:"parent"`
	Finished *finished        `json:"finished,omitempty"`
	Reviewed *reviewed        `json:"reviewed,omitempty"`
	Limits   []limit          `json:"limits,omitempty"`
	Handoffs []*handoffPacket `json:"handoffs"`
	Turns    []*line          `json:"turns"`
}

type parent struct {
	Mission record.ID `json:"mission"`
	Turn    int       `json:"turn"`
}

type finished struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
}

// A reviewed says that somebody has looked at all turns up to one.
type reviewed struct {
	Turn int    `json:"turn"`
	At   stamp  `json:"at"`
	By   string `json:"by"`
}

// A limit is a context size at which the agent is told something.
type limit struct {
	Tokens int    `json:"tokens"`
	Label  string `json:"label"`
}

type handoffPacket struct {
	Number int    `json:"number"`
	Turn   int    `json:"turn"` // the last one before it
	Title  string `json:"title"`
}

// A line is a turn in the index.
type line struct {
	Number     int    `json:"number"`
	As         string `json:"as,omitempty"` // the turn that a fork inherited
	At         stamp  `json:"at"`
	Took       int64  `json:"took,omitempty"` // milliseconds
	Outcome    string `json:"outcome"`
	Checked    string `json:"checked,omitempty"`  // the word for its checks
	Unproven   bool   `json:"unproven,omitempty"` // its reply tells of tests that are not recorded
	Prompt     string `json:"prompt"`             // its beginning
	Files      int    `json:"files"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Context    int64  `json:"context"`
	Output     int64  `json:"output"`
	Compacted  int    `json:"compacted"`         // how often
	Foreign    bool   `json:"foreign,omitempty"` // recorded by an unknown key
	Packet     int    `json:"packet"`
}

// A detail is a turn in a packet.
type detail struct {
	Prompt  string            `json:"prompt"`
	Reply   []node            `json:"reply,omitempty"`
	Missing string            `json:"missing,omitempty"` // why there is no conversation
	Steps   []*step           `json:"steps,omitempty"`
	Agents  []*subagentPacket `json:"agents,omitempty"`
	Between []*fileDiff       `json:"between,omitempty"` // by others, before the turn
	Files   []*fileDiff       `json:"files,omitempty"`
	Skipped []skipped         `json:"skipped,omitempty"`
	Facts   [][2]string       `json:"facts,omitempty"`
}

type skipped struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// A step is something said or done in a turn.
type step struct {
	Kind   string  `json:"kind"`
	Tree   []node  `json:"tree,omitempty"` // of something said
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
	Files  []string `json:"files,omitempty"` // other than text
	Left   string   `json:"left,omitempty"`  // why there is no text
}

type subagentPacket struct {
	ID      string  `json:"id"`
	Line    string  `json:"line"`
	Missing string  `json:"missing,omitempty"`
	Steps   []*step `json:"steps,omitempty"`
}

// A fileDiff is a turn's change of a file.
type fileDiff struct {
	Path       string `json:"path"`
	Kind       string `json:"kind"` // A, D, M or T
	Old        string `json:"old"`  // version before, or ""
	New        string `json:"new"`
	Insertions int    `json:"insertions"`
	Deletions  int    `json:"deletions"`
	Binary     bool   `json:"binary,omitempty"`
	Left       string `json:"left,omitempty"` // why there is no patch
	Patch      string `json:"patch,omitempty"`

	versions gitdiff.Versions
}

// A stamp is a time in milliseconds since 1970 for scripts, or 0 if unknown.
type stamp time.Time

func (s stamp) MarshalJSON() ([]byte, error) {
	t := time.Time(s)
	if t.IsZero() {
		return []byte("0"), nil
	}
	return json.Marshal(t.UnixMilli())
}
