package transcript

import "gitagent/internal/record"

// A Todo is one item of an agent's list.
type Todo = record.Todo

// Todos returns the agent's list after the lines. It may lack older items.
func Todos(r Reader, segment []byte) []Todo {
	var list []Todo
	for at, line := range lines(segment) {
		if e := r.Read(at, line); e.Todos != nil && !e.Subagent {
			list = e.Todos
		}
	}
	return list
}
