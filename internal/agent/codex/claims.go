package codex

import (
	"bytes"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Claims returns the patches and commands that a part of a rollout tells of,
// with their times. The hook after tools is not run for a patch that a shell
// was given, nor for a command that the agent does not wait for.
//
// The times of patches are exact. A command is said to start a little after it
// has, at once if it is short: so it begins here when the model asked for it.
func Claims(segment []byte) (list []hooks.Ran) {
	asked := make(map[string]int64) // ms, by the call's id
	for line := range bytes.Lines(segment) {
		item, call := bytes.Contains(line, []byte(`"item_completed"`)), bytes.Contains(line, []byte(`"call_id"`))
		if !item && !call || !transcript.Valid(line) {
			continue
		}
		record := gjson.ParseBytes(line)
		p := record.Get("payload")
		switch {
		case record.Get("type").Str == "response_item" && strings.HasSuffix(p.Get("type").Str, "_call"):
			if at := transcript.Moment(record.Get("timestamp").Str); !at.IsZero() {
				asked[strings.Clone(p.Get("call_id").Str)] = at.UnixMilli()
			}
		case record.Get("type").Str == "event_msg" && p.Get("type").Str == "item_completed":
			if c, ok := ran(p); ok {
				if at, known := asked[c.ID]; known && c.Effect == hooks.Anything {
					c.From = min(c.From, at)
				}
				list = append(list, c)
			}
		}
	}
	return list
}

func ran(p gjson.Result) (c hooks.Ran, ok bool) {
	item := p.Get("item")
	c.ID, c.Tool = strings.Clone(item.Get("id").Str), strings.Clone(item.Get("type").Str)
	c.From, c.To = p.Get("started_at_ms").Int(), p.Get("completed_at_ms").Int()
	switch item.Get("type").Str {
	case "FileChange":
		c.Effect = hooks.Edits
		item.Get("changes").ForEach(func(path, change gjson.Result) bool {
			c.Paths = append(c.Paths, strings.Clone(path.Str))
			if to := change.Get("move_path").Str; to != "" {
				c.Paths = append(c.Paths, strings.Clone(to))
			}
			return true
		})
	case "CommandExecution":
		if item.Get("source").Str == "user_shell" { // the person's own
			return c, false
		}
		words := item.Get("command").Array()
		if len(words) == 0 {
			return c, false
		}
		c.Command, c.Cwd = strings.Clone(words[len(words)-1].Str), directory(item.Get("cwd").Str)
	default:
		return c, false
	}
	return c, c.From > 0 && c.From <= c.To
}

// directory reads what is an address in newer clients.
func directory(name string) string {
	if u, err := url.Parse(name); err == nil && u.Scheme == "file" {
		return filepath.FromSlash(u.Path)
	}
	return strings.Clone(name)
}
