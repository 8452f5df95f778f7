package transcript

// A File is one conversation that a client has on disk.
type File struct {
	Session string // its id, safe as a file name
	Path    string
	Size    int64 // bytes; 0 if not looked up
	Runs    bool  // the client's process is alive, if that can be told
}
