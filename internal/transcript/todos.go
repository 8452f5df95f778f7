package transcript

// A Todo is an item of the agent's task list.
type Todo struct {
	Text   string `json:"text"`
	Status string `json:"status"` // pending, in_progress, completed
}

// Todos returns the agent's list after the lines. It may lack older items.
func Todos(r Reader, segment []byte) []Todo {
	var list []Todo
	for at, line := range lines(segment) {
		if e := r.Read(at, line); e.Todos != nil && !e.Aside {
			list = e.Todos
		}
	}
	return list
}
