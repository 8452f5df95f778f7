package places

// identity knows nothing of a directory that was moved.
func identity(string) string { return "" }
