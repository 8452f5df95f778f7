package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/cmdline"
	"gitagent/internal/transcript"
)

// Limits on a turn.
const (
	maxSegment = 64 << 20  // bytes of a conversation to read
	maxText    = 256 << 10 // bytes of a text
	maxSteps   = 5000      // of a turn
	maxIndent  = 20        // levels of JSON that are indented: of more, most would be blanks
)

// said is what a turn's lines tell.
type said struct {
	prompt string
	reply  string
	steps  []*step
}

// read reads the lines of a turn or sub-agent, with or without tools' results.
// Of what was said p makes trees.
func read(reader transcript.Reader, segment []byte, results bool, p *prose) said {
	r := &lines{results: results, prose: p, calls: make(map[string]*step), seen: make(map[string]bool)}
	at := 0
	for line := range bytes.Lines(segment) {
		e := reader.Read(at, bytes.TrimRight(line, "\n"))
		at += len(line)
		if e.Subagent || e.ID != "" && r.seen[e.ID] {
			continue
		}
		r.seen[e.ID] = true
		r.entry(&e)
		if len(r.steps) >= maxSteps {
			r.add(&step{Kind: "note", Text: "The rest is left out: it has too many steps."})
			break
		}
	}
	return r.end()
}

type lines struct {
	said
	results bool
	prose   *prose
	calls   map[string]*step // by id, those without a result yet
	seen    map[string]bool  // ids of records
	asked   bool             // the prompt was read
}

func (r *lines) add(s *step) { r.steps = append(r.steps, s) }

func (r *lines) entry(e *transcript.Entry) {
	if e.Opens != nil { // anything before is an earlier turn's end
		r.prompt, r.steps, r.asked = e.Opens.Prompt, nil, e.Opens.Prompt != ""
	}
	if c := e.Compacted; c != nil {
		text := "The conversation was compacted"
		if c.Auto {
			text += " by the client"
		}
		if c.Tokens > 0 {
			text += fmt.Sprintf(", at %d tokens", c.Tokens)
		}
		r.add(&step{Kind: "note", Text: text + "."})
	}
	if e.Interrupted {
		r.add(&step{Kind: "note", Text: "Interrupted."})
	}
	for i := range e.Parts {
		r.part(e, &e.Parts[i])
	}
}

var kinds = map[transcript.Kind]string{
	transcript.Queued: "queued", transcript.Added: "told", transcript.Thought: "thought", transcript.Shell: "shell",
	transcript.Task: "task", transcript.Gist: "gist", transcript.Told: "told", transcript.Other: "other",
}

func (r *lines) part(e *transcript.Entry, p *transcript.Part) {
	switch p.Kind {
	case transcript.Asked:
		switch {
		case e.Opens != nil && !r.asked:
			r.prompt, r.asked = p.Text, true
		case e.Opens == nil && strings.TrimSpace(p.Text) != "":
			r.add(&step{Kind: "queued", Text: short(p.Text)})
		}
		for _, f := range p.Files {
			r.add(&step{Kind: "note", Text: f.String()})
		}
	case transcript.Said:
		if e.Failed {
			r.add(&step{Kind: "failed", Text: short(p.Text)})
		} else if strings.TrimSpace(p.Text) != "" {
			r.add(&step{Kind: "said", Text: p.Text})
		}
	case transcript.Call:
		if _, twice := r.calls[p.Call]; twice && p.Call != "" {
			return
		}
		s := &step{Kind: "call", Name: strings.Clone(p.Name), Brief: short(transcript.Argument(p.Input)), Input: input(p.Input), call: strings.Clone(p.Call)}
		r.calls[p.Call] = s
		r.add(s)
	case transcript.Answer:
		r.answer(p)
	default:
		if text := cmp.Or(p.Text, p.Name); strings.TrimSpace(text) != "" {
			r.add(&step{Kind: kinds[p.Kind], Text: short(text)})
		}
		for _, f := range p.Files {
			r.add(&step{Kind: "note", Text: f.String()})
		}
	}
}

func (r *lines) answer(p *transcript.Part) {
	s := r.calls[p.Call]
	if s == nil || s.Result != nil { // its call is elsewhere
		s = &step{Kind: "call", Name: "(result)"}
		r.add(s)
	}
	s.Result = &result{Failed: p.Failed}
	if !r.results {
		s.Result.Left = "Results are left out of this page."
		return
	}
	s.Result.Text = short(p.Text)
	for _, f := range p.Files {
		s.Result.Files = append(s.Result.Files, f.String())
	}
}

// end makes the last said step the reply, and trees of the others.
func (r *lines) end() said {
	if n := len(r.steps); n > 0 && r.steps[n-1].Kind == "said" {
		r.reply, r.steps = r.steps[n-1].Text, r.steps[:n-1]
	}
	for _, s := range r.steps {
		if s.Kind == "said" {
			s.Tree, s.Text = r.prose.tree(s.Text), ""
		}
	}
	return r.said
}

// short cuts a text to maxText, and says so.
func short(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= maxText {
		return strings.Clone(text)
	}
	cut := strings.ToValidUTF8(text[:maxText], "")
	return cut + fmt.Sprintf("\n... and %s more", cmdline.Size(int64(len(text)-len(cut))))
}

// input returns a tool's input, a line for each field.
func input(v gjson.Result) string {
	if !v.IsObject() {
		return short(v.String())
	}
	var b strings.Builder
	v.ForEach(func(k, v gjson.Result) bool {
		value := v.Raw
		if v.Type == gjson.String {
			value = transcript.Unquote(v)
		} else if len(v.Raw) <= maxText && transcript.Plain(v, maxIndent) {
			var pretty bytes.Buffer
			if json.Indent(&pretty, []byte(v.Raw), "", "  ") == nil {
				value = pretty.String()
			}
		}
		separator := " "
		if strings.Contains(value, "\n") {
			separator = "\n"
		}
		fmt.Fprintf(&b, "%s:%s%s\n", transcript.Unquote(k), separator, value)
		return b.Len() < maxText
	})
	return short(strings.TrimRight(b.String(), "\n"))
}
