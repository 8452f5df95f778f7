package claude

import (
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
)

// A fileLine is the decoded part of a line.
type fileLine struct {
	kind      string // type
	uuid      string
	promptID  string
	timestamp string
	cwd       string
	sidechain bool
	meta      bool // said by the client
	summary   bool // the user record of a compaction
	apiError  bool
	origin    string       // turnOrigin: human, sdk, task_notification; only where a turn starts
	source    string       // promptSource: typed, queued, sdk, system
	attached  gjson.Result // attachment
	compacted gjson.Result // compactMetadata
	result    gjson.Result // toolUseResult
	message   message
	said      // of a user record
}

// A message is the "message" of a user or assistant record.
type message struct {
	id      string
	model   string
	stop    string // stop_reason
	content gjson.Result
	tokens  transcript.Tokens
}

// synthetic is the model of assistant records that the client wrote itself.
const synthetic = "<synthetic>"

// decode reads a line. ok is false unless it is JSON and matters here.
//
// gjson walks a line ten times as fast as encoding/json fills a struct (2 GB/s
// to 0.2), and stops at the type. But it reads on through torn lines, so lines
// that matter are validated first, to a limited depth: gjson's own recursion
// has no limit. It parses a copy of the line.
func decode(line []byte) (r fileLine, ok bool) {
	r.kind = gjson.GetBytes(line, "type").Str
	switch r.kind {
	case "user", "assistant":
		ok = true
	case "system":
		ok = gjson.GetBytes(line, "subtype").Str == "compact_boundary"
	case "attachment":
		kind := gjson.GetBytes(line, "attachment.type").Str
		ok = kind == "queued_command" || kind == "model"
	}
	if !ok || !valid(line) {
		return fileLine{}, false
	}
	gjson.ParseBytes(line).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "uuid":
			r.uuid = transcript.Kept(v)
		case "promptId":
			r.promptID = transcript.Kept(v)
		case "timestamp":
			r.timestamp = transcript.Unquote(v)
		case "cwd":
			r.cwd = transcript.Kept(v)
		case "isSidechain":
			r.sidechain = v.Type == gjson.True
		case "isMeta":
			r.meta = v.Type == gjson.True
		case "isCompactSummary":
			r.summary = v.Type == gjson.True
		case "isApiErrorMessage":
			r.apiError = v.Type == gjson.True
		case "turnOrigin":
			r.origin = transcript.Kept(v)
		case "promptSource":
			r.source = transcript.Kept(v)
		case "attachment":
			r.attached = v
		case "compactMetadata":
			r.compacted = v
		case "toolUseResult":
			r.result = v
		case "message":
			r.message = decodeMessage(v)
		}
		return true
	})
	return r, true
}

func decodeMessage(v gjson.Result) (m message) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "id":
			m.id = transcript.Kept(v)
		case "model":
			m.model = transcript.Kept(v)
		case "stop_reason":
			m.stop = transcript.Unquote(v)
		case "usage":
			m.tokens = decodeUsage(v)
		case "content":
			m.content = v
		}
		return true
	})
	return m
}

func decodeUsage(v gjson.Result) (t transcript.Tokens) {
	v.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "input_tokens":
			t.Input = transcript.Count(v)
		case "cache_creation_input_tokens":
			t.CacheWrite = transcript.Count(v)
		case "cache_read_input_tokens":
			t.CacheRead = transcript.Count(v)
		case "output_tokens":
			t.Output = transcript.Count(v)
		}
		return true
	})
	return t
}

// parts returns the parts of content and its number of blocks: a text is one.
// bare says that a text among the blocks is one of them.
func parts(content gjson.Result, bare bool) (list []transcript.Part, blocks int) {
	if content.Type == gjson.String {
		return []transcript.Part{{Kind: transcript.Said, Text: transcript.Unquote(content)}}, 1
	}
	if !content.IsArray() {
		return nil, 0
	}
	content.ForEach(func(_, v gjson.Result) bool {
		blocks++
		if bare && v.Type == gjson.String {
			list = append(list, transcript.Part{Kind: transcript.Said, Text: transcript.Unquote(v)})
		} else {
			list = append(list, part(v))
		}
		return true
	})
	return list, blocks
}

func part(block gjson.Result) transcript.Part {
	p := transcript.Part{Kind: transcript.Other}
	if !block.IsObject() {
		p.Text = block.Raw
		return p
	}
	var kind string
	var said, thought, content, source gjson.Result
	block.ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "type":
			kind = v.Str
		case "text":
			said = v
		case "thinking":
			thought = v
		case "id", "tool_use_id":
			p.Call = transcript.Kept(v)
		case "name":
			p.Name = transcript.Kept(v)
		case "input":
			p.Input = v
		case "is_error":
			p.Failed = v.Type == gjson.True
		case "content":
			content = v
		case "source":
			source = v
		}
		return true
	})
	switch kind {
	case "text":
		return transcript.Part{Kind: transcript.Said, Text: transcript.Unquote(said)}
	case "thinking":
		return transcript.Part{Kind: transcript.Thought, Text: transcript.Unquote(thought)}
	case "tool_use":
		return transcript.Part{Kind: transcript.Call, Call: p.Call, Name: p.Name, Input: p.Input}
	case "tool_result":
		list, _ := parts(content, false)
		said := text(list)
		return transcript.Part{Kind: transcript.Answer, Call: p.Call, Text: said, Failed: p.Failed, Ended: exited(said, p.Failed), Files: files(list)}
	case "image", "document":
		return transcript.Part{Kind: transcript.Other, Name: kind, Files: []transcript.Attached{attached(kind, source)}}
	}
	return transcript.Part{Kind: transcript.Other, Name: strings.Clone(kind), Text: block.Raw}
}

func text(list []transcript.Part) string {
	if len(list) == 1 && list[0].Kind == transcript.Said {
		return list[0].Text
	}
	var texts []string
	for i := range list {
		if p := &list[i]; p.Kind == transcript.Said {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

func files(list []transcript.Part) (all []transcript.Attached) {
	for _, p := range list {
		if p.Kind == transcript.Other {
			all = append(all, p.Files...)
		}
	}
	return all
}

func attached(kind string, source gjson.Result) transcript.Attached {
	a := transcript.Attached{Kind: kind, Media: transcript.Kept(source.Get("media_type"))}
	if data := source.Get("data"); data.Type == gjson.String {
		a.Size = int64(len(data.Raw)-2) * 3 / 4
	}
	return a
}
