package claude

import (
	"strconv"

	"gitagent/internal/transcript"
)

// A todos follows the agent's task list. The client has two kinds of tools:
// TodoWrite has the whole list, TaskCreate and TaskUpdate change one item.
// Items made before the first record are unknown.
type todos struct {
	items []todo
	seen  map[string]bool // calls
	made  bool            // an item's id is in a result to come
}

type todo struct {
	transcript.Todo
	call string // id of the creating call
	id   string // the task's id from the tool's result
}

// called returns the list after calls of tools, or nil if it did not change.
func (t *todos) called(parts []transcript.Part) []transcript.Todo {
	changed := false
	for i := range parts {
		switch p := &parts[i]; {
		case p.Kind != transcript.Call || p.Name != "TodoWrite" && p.Name != "TaskCreate" && p.Name != "TaskUpdate":
		case p.Call != "" && t.seen[p.Call]:
		default:
			if t.seen == nil {
				t.seen = make(map[string]bool)
			}
			t.seen[p.Call], changed = true, true
			t.call(p)
		}
	}
	if !changed {
		return nil
	}
	return t.list()
}

// answered notes a task's id from a result.
func (t *todos) answered(r *fileLine) {
	if !t.made || len(r.answers) == 0 {
		return
	}
	id := r.result.Get("task.id")
	if !id.Exists() {
		return
	}
	for _, p := range r.answers {
		for i := range t.items {
			if t.items[i].call != "" && t.items[i].call == p.Call {
				t.items[i].id = id.String()
			}
		}
	}
}

// maxTodos bounds a list, as each change walks it.
const maxTodos = 1000

func (t *todos) call(p *transcript.Part) {
	input := p.Input
	switch p.Name {
	case "TodoWrite":
		t.items = nil
		for _, item := range input.Get("todos").Array() {
			if len(t.items) == maxTodos {
				break
			}
			t.items = append(t.items, todo{Todo: transcript.Todo{Text: transcript.Kept(item.Get("content")), Status: transcript.Kept(item.Get("status"))}})
		}
	case "TaskCreate":
		if len(t.items) == maxTodos {
			return
		}
		t.made = true
		made := transcript.Todo{Text: transcript.Kept(input.Get("subject")), Status: "pending"}
		t.items = append(t.items, todo{Todo: made, call: p.Call, id: strconv.Itoa(len(t.items) + 1)})
	case "TaskUpdate":
		for i := range t.items {
			item := &t.items[i]
			if item.id != input.Get("taskId").String() {
				continue
			}
			if s := transcript.Kept(input.Get("subject")); s != "" {
				item.Text = s
			}
			if s := transcript.Kept(input.Get("status")); s != "" {
				item.Status = s
			}
		}
	}
}

// list returns the items that were not deleted. It is not nil.
func (t *todos) list() []transcript.Todo {
	list := []transcript.Todo{}
	for _, item := range t.items {
		if item.Text != "" && item.Status != "deleted" {
			list = append(list, item.Todo)
		}
	}
	return list
}
