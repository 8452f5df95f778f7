package transcript

// A File is one conversation that a client has on disk.
type File struct {
	Session string // its id, safe as a file name
	Path    string
	Size    int64 // bytes; 0 if nobody looked
	// Runs says that the client's process is alive, as far as that can be told.
	Runs bool
}
