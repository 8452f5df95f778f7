package transcript

import (
	"encoding/json"
	"strconv"

	"github.com/tidwall/gjson"
)

// A Todo is an item of the agent's task list.
type Todo struct {
	Text   string `json:"text"`
	Status string `json:"status"` // pending, in_progress, completed
}

// Todos returns the agent's list as of the end of the given lines. The client has two kinds of
// tools for it: TodoWrite, whose every call has the whole list, and TaskCreate with TaskUpdate,
// which change one item. Items made before these lines are unknown.
func Todos(segment []byte) []Todo {
	t := todos{seen: make(once)}
	for _, line := range lines(segment) {
		switch gjson.GetBytes(line, "type").Str {
		case "assistant":
		case "user":
			if !gjson.GetBytes(line, "toolUseResult.task.id").Exists() {
				continue
			}
		default:
			continue
		}
		if json.Valid(line) && gjson.GetBytes(line, "isSidechain").Type != gjson.True {
			t.add(gjson.ParseBytes(line))
		}
	}
	return t.list()
}

type todos struct {
	items []todo
	seen  once // tool calls
}

type todo struct {
	Todo
	call string // id of the call that created it
	id   string // the task's id, once the tool's result has arrived
}

func (t *todos) add(r gjson.Result) {
	if id := r.Get("toolUseResult.task.id"); id.Exists() {
		r.Get("message.content").ForEach(func(_, block gjson.Result) bool {
			for i := range t.items {
				if t.items[i].call != "" && t.items[i].call == text(block.Get("tool_use_id")) {
					t.items[i].id = id.String()
				}
			}
			return true
		})
		return
	}
	r.Get("message.content").ForEach(func(_, block gjson.Result) bool {
		call := text(block.Get("id"))
		if block.Get("type").Str == "tool_use" && t.seen.first(call) {
			t.call(text(block.Get("name")), call, block.Get("input"))
		}
		return true
	})
}

func (t *todos) call(name, call string, input gjson.Result) {
	switch name {
	case "TodoWrite":
		t.items = nil
		input.Get("todos").ForEach(func(_, item gjson.Result) bool {
			t.items = append(t.items, todo{Todo: Todo{text(item.Get("content")), text(item.Get("status"))}})
			return true
		})
	case "TaskCreate":
		t.items = append(t.items, todo{Todo: Todo{text(input.Get("subject")), "pending"}, call: call, id: strconv.Itoa(len(t.items) + 1)})
	case "TaskUpdate":
		for i := range t.items {
			item := &t.items[i]
			if item.id != input.Get("taskId").String() {
				continue
			}
			if s := text(input.Get("subject")); s != "" {
				item.Text = s
			}
			if s := text(input.Get("status")); s != "" {
				item.Status = s
			}
		}
	}
}

func (t *todos) list() []Todo {
	var list []Todo
	for _, item := range t.items {
		if item.Text != "" && item.Status != "deleted" {
			list = append(list, item.Todo)
		}
	}
	return list
}
