package transcript

// A Todo is an item of the agent's task list.
type Todo struct {
	Text   string `json:"text"`
	Status string `json:"status"` // pending, in_progress, completed
}

// Todos returns the agent's list as of the end of the given lines. Items made before these lines may be
// unknown.
func Todos(r Reader, segment []byte) []Todo {
	var list []Todo
	for at, line := range lines(segment) {
		if e := r.Read(at, line); e.Todos != nil && !e.Aside {
			list = e.Todos
		}
	}
	return list
}
