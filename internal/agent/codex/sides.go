package codex

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"gitagent/hooks"
	"gitagent/internal/transcript"
)

// Sides lists the subagents of the thread at path. Each is a thread of its own
// with a rollout among all others, which only the rollout of its parent names,
// at the call that started it. So those are found whose calls are in segment,
// or that were read before if one still runs, and from their rollouts the ones
// that they have started. With nothing read, running stands for all of them.
//
// A link in the place of a rollout is not followed: the error names it.
func Sides(path string, segment []byte, read map[string]int64, running bool) (list []transcript.SubagentFile, err error) {
	calls := started(segment)
	if running && len(read) == 0 {
		whole, e := transcript.ReadSegment(path, transcript.Cursor{})
		calls, err = started(whole.Bytes), e
	}
	if running {
		for id := range read {
			calls[id] = cmp.Or(calls[id], "")
		}
	}
	config, below := configOf(path)
	top, named := parse(path)
	if !below || !named || len(calls) == 0 {
		return nil, err
	}
	delete(calls, top.thread) // a subagent may write to its parent
	todo := slices.Sorted(maps.Keys(calls))
	calls[top.thread] = ""
	days := days{config: config, read: make(map[string][]fs.DirEntry)}
	for i := 0; i < len(todo); i++ {
		s, data, parent, e := days.side(todo[i], read[todo[i]])
		err = errors.Join(err, e)
		if _, ours := calls[parent]; !ours {
			continue
		}
		list = append(list, s)
		theirs := started(data[s.Start:])
		for _, id := range slices.Sorted(maps.Keys(theirs)) {
			if _, known := calls[id]; !known {
				todo = append(todo, id)
			}
			calls[id] = cmp.Or(calls[id], theirs[id])
		}
	}
	for i := range list {
		list[i].Call = calls[list[i].ID]
	}
	return list, err
}

// started returns the threads that a part of a rollout tells of, with the calls
// that started them, "" if another part has that. The client has two kinds of
// tools for subagents, and a configuration says which. With the older ones, it
// notes in a message that a subagent has ended for which nobody waits.
func started(rollout []byte) map[string]string {
	calls := make(map[string]string)
	told := func(thread, item gjson.Result, starts bool) {
		id := strings.Clone(thread.Str)
		if !hooks.ValidID(id) {
			return
		}
		if calls[id] = cmp.Or(calls[id], ""); starts {
			calls[id] = strings.Clone(item.Get("id").Str)
		}
	}
	if !tells(rollout) {
		return calls // most turns
	}
	for line := range bytes.Lines(rollout) {
		if !tells(line) || !transcript.Valid(line) {
			continue
		}
		payload := gjson.GetBytes(line, "payload")
		if note, ok := strings.CutPrefix(payload.Get("content.0.text").Str, notification); ok {
			told(gjson.Get(note, "agent_path"), payload, false)
		}
		switch item := payload.Get("item"); item.Get("type").Str {
		case "CollabAgentToolCall":
			item.Get("receiver_thread_ids").ForEach(func(_, thread gjson.Result) bool {
				told(thread, item, item.Get("tool").Str == "spawn_agent")
				return true
			})
		case "SubAgentActivity":
			told(item.Get("agent_thread_id"), item, item.Get("kind").Str == "started")
		}
	}
	return calls
}

const notification = "<subagent_notification>"

func tells(rollout []byte) bool {
	for _, sign := range []string{"CollabAgentToolCall", "SubAgentActivity", notification} {
		if bytes.Contains(rollout, []byte(sign)) {
			return true
		}
	}
	return false
}

// days are the directories of rollouts, each read once.
type days struct {
	config string
	read   map[string][]fs.DirEntry
}

// side returns a subagent with its rollout and its parent; no parent if it has
// no rollout, or one that is as long as read.
func (d days) side(thread string, read int64) (s transcript.SubagentFile, data []byte, parent string, err error) {
	path, entry := d.find(thread)
	if entry == nil {
		return s, nil, "", nil
	}
	if entry.Type() == fs.ModeSymlink {
		return s, nil, "", fmt.Errorf("sub-agent %s: %s is a link, and is not followed", thread, path)
	}
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() || info.Size() == read {
		return s, nil, "", nil // it was archived or removed
	}
	if data, err = transcript.ReadRange(path, 0, min(info.Size(), transcript.MaxSegment)); err != nil {
		return s, nil, "", fmt.Errorf("sub-agent %s: %w", thread, err)
	}
	first, rest, _ := bytes.Cut(data, []byte{'\n'})
	meta := gjson.GetBytes(first, "payload")
	if !transcript.Valid(first) || meta.Get("thread_source").Str != "subagent" {
		return s, nil, "", nil
	}
	role := meta.Get("source.subagent.thread_spawn.agent_role").Str
	s = transcript.SubagentFile{ID: thread, Path: path, Size: info.Size(), Type: cmp.Or(strings.Clone(role), "default")}
	if own := meta.Get("subagent_history_start_ordinal"); own.Exists() {
		s.Start = int64(len(data) - len(from(rest, own.Int())))
	}
	return s, data, strings.Clone(meta.Get("parent_thread_id").Str), nil
}

// from returns what a rollout has from a record on. Before it, the rollout of a
// subagent may repeat the conversation of its parent.
func from(rollout []byte, ordinal int64) []byte {
	for rest := rollout; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte{'\n'})
		if gjson.GetBytes(line, "ordinal").Int() >= ordinal {
			return rest
		}
		rest = after
	}
	return nil
}

// find returns the newest rollout of a thread; no entry if there is none. It is
// in the directory of the day on which the thread began, in the client's time
// zone, and the thread's id tells when that was. What the client has compressed
// is old, and was read.
func (d days) find(thread string) (path string, newest fs.DirEntry) {
	hex := strings.ReplaceAll(thread, "-", "") // a UUID of version 7, which begins with 48 bits of milliseconds
	ms, err := strconv.ParseInt(hex[:min(12, len(hex))], 16, 64)
	if err != nil {
		return "", nil
	}
	began := time.UnixMilli(ms).UTC()
	for _, at := range []time.Time{began, began.AddDate(0, 0, -1), began.AddDate(0, 0, 1)} {
		day := filepath.Join(d.config, sessions, at.Format("2006"), at.Format("01"), at.Format("02"))
		entries, looked := d.read[day]
		if !looked {
			entries, _ = os.ReadDir(day)
			d.read[day] = entries
		}
		for _, e := range entries { // by name, and so by time
			if f, ok := parse(e.Name()); ok && f.thread == thread && strings.HasSuffix(e.Name(), ".jsonl") {
				path, newest = filepath.Join(day, e.Name()), e
			}
		}
		if newest != nil {
			break
		}
	}
	return path, newest
}
