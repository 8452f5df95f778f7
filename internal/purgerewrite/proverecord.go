package purgerewrite

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/git/object"
	"gitagent/internal/record"
	"gitagent/internal/scrub"
)

// segment proves the lines of a conversation. It learns nothing from a wholly
// purged turn, whose words are no secret elsewhere.
func (p *Prover) segment(was, is []byte, learn bool) error {
	if bytes.Equal(is, blankLines(was)) {
		return nil
	}
	for line := range bytes.Lines(was) {
		text := bytes.TrimSuffix(line, []byte("\n"))
		end := line[len(text):]
		n := len(is)
		if len(end) > 0 {
			if n = bytes.IndexByte(is, '\n'); n < 0 {
				return errText
			}
		}
		if !p.line(text, is[:n], learn) {
			return errText
		}
		is = is[n+len(end):]
	}
	if len(is) > 0 {
		return errText
	}
	return nil
}

func (p *Prover) line(was, is []byte, learn bool) bool {
	switch {
	case bytes.Equal(was, is):
		return true
	case !json.Valid(was) && len(is) > 0:
		return p.learn(was, is, learn)
	case !json.Valid(was), string(is) == "{}":
		p.Into.texts(was)
		return true
	case !json.Valid(is):
		return false
	}
	same := func(was []byte) bool {
		return alike(was, is, func(scrub.Token) {}, func(v scrub.Token, to []byte) bool {
			if v.Kind == '0' {
				return string(to) == "0"
			}
			return p.learn(was[v.From+1:v.To-1], to[1:len(to)-1], learn)
		})
	}
	if same(was) {
		return true
	}
	p.Into.texts(was)
	return same(blankLine(was))
}

// alike reports whether JSON texts differ only in tokens that may allows. see
// gets every old token first.
func alike(was, is []byte, see func(v scrub.Token), may func(v scrub.Token, to []byte) bool) bool {
	var list []scrub.Token
	scrub.Tokens(is, func(v scrub.Token) { list = append(list, scrub.Token{Span: v.Span, Kind: v.Kind}) })
	at, end, ok := 0, 0, true
	scrub.Tokens(was, func(v scrub.Token) {
		if !ok {
			return
		}
		if len(list) == 0 || list[0].Kind != v.Kind || !bytes.Equal(was[at:v.From], is[end:list[0].From]) {
			ok = false
			return
		}
		see(v)
		from, to := was[v.From:v.To], is[list[0].From:list[0].To]
		ok = bytes.Equal(from, to) || may(v, to)
		at, end = v.To, list[0].To
		list = list[1:]
	})
	return ok && len(list) == 0 && bytes.Equal(was[at:], is[end:])
}

// record proves a record or mission.json.
func (p *Prover) record(was, is []byte, with evidence, learn bool) error {
	if !json.Valid(was) {
		if !p.learn(was, is, learn) {
			return errRecord
		}
		return nil
	}
	var s, t shape
	if _ = json.Unmarshal(was, &s); json.Unmarshal(is, &t) != nil && !json.Valid(is) {
		return errRecord
	}
	blank := blankRecord(is)
	was, ok := p.skipped(was, &s, &t, blank)
	if !ok {
		return errRecord
	}
	learn = learn && !blank
	agent := ""
	see := func(v scrub.Token) {
		if v.Kind == '"' && v.Name() == "agents.id" {
			agent = string(was[v.From+1 : v.To-1])
		}
	}
	ok = alike(was, is, see, func(v scrub.Token, to []byte) bool {
		name := v.Name()
		if v.Kind == '0' {
			switch size, there := with.agents[agent]; {
			case name == "transcript.bytes" && with.segment >= 0:
				return string(to) == strconv.FormatInt(with.segment, 10)
			case name == "agents.bytes" && there:
				return string(to) == strconv.FormatInt(size, 10)
			}
			return string(to) == "0" && s.rule(name).Is(record.Count)
		}
		text, fresh := was[v.From+1:v.To-1], to[1:len(to)-1]
		if hash, err := object.ParseHash(string(text)); err == nil {
			next, replaced := p.known[hash]
			return replaced && next.String() == string(fresh)
		}
		if p.isRenamed(v.Key(), string(text), string(fresh)) {
			return true
		}
		if s.rule(name).Is(record.Formal) {
			return false
		}
		// A whole mark may stand for a turn that is purged, see segment.
		copied := s.rule(name).Is(record.Copied)
		return p.learn(text, fresh, learn && !(copied && string(fresh) == scrub.Mark))
	})
	if !ok {
		return errRecord
	}
	return nil
}

// blankRecord reports whether a record is that of a wholly purged turn.
func blankRecord(content []byte) bool {
	var r struct {
		Kind, Prompt, Reply string
		Paths               []string
	}
	if json.Unmarshal(content, &r) != nil || r.Kind != record.KindTurn {
		return false
	}
	return !slices.ContainsFunc(append(r.Paths, r.Prompt, r.Reply), func(s string) bool { return s != "" && s != scrub.Mark })
}

// isRenamed reports whether two texts are the old and new name of a mission.
func (p *Prover) isRenamed(key, was, is string) bool {
	if key == "branch" {
		end := strings.LastIndexByte(was, '/') + 1
		if !strings.HasPrefix(is, was[:end]) {
			return false
		}
		was, is = was[end:], is[end:]
	} else if key != "id" && key != "mission" && key != "predecessor" {
		return false
	}
	to, ok := p.renamed[record.ID(was)]
	return ok && string(to) == is
}

// skipped adds to an old record what the new one says its state leaves out: of a
// turn of which nothing is left, its names neither.
func (p *Prover) skipped(was []byte, s, t *shape, blank bool) (with []byte, ok bool) {
	list := func(s *shape) (list []record.Skip) {
		if s.Skipped != nil {
			_ = json.Unmarshal(*s.Skipped, &list)
		}
		return list
	}
	before, after := list(s), list(t)
	if len(after) <= len(before) {
		return was, true
	}
	state := s.state()
	var more []string
	for _, add := range after[len(before):] {
		if add.Why != record.WhyPurged || len(after) > record.MaxSkipped {
			return nil, false
		}
		if unnamed := blank && add.Path == scrub.Mark; !unnamed && !slices.ContainsFunc(p.left[state], func(path string) bool {
			return strings.ToValidUTF8(path, "�") == add.Path || p.learn([]byte(path), []byte(add.Path), false)
		}) {
			return nil, false
		}
		more = append(more, add.Path)
	}
	return skipped(was, s, more), true
}
