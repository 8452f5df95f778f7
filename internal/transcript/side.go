package transcript

// A Side is a sub-agent with its conversation in a separate file.
type Side struct {
	ID   string // the client's; it can be a file name
	Path string
	Type string // what kind of agent the client calls it; "" if unknown
	Call string // id of the call by which it was started; "" if unknown
	Size int64  // of the file, bytes
	Over bool   // the client says that it has ended
}

// Own returns a reader for a sub-agent's file, where its lines are not aside.
func Own(r Reader) Reader { return own{r} }

type own struct{ Reader }

func (o own) Read(at int, line []byte) Entry {
	e := o.Reader.Read(at, line)
	e.Aside = false
	return e
}
