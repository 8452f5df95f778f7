package hook

// writable reports whether files can be made in a directory. There is no cheap
// answer here.
func writable(string) bool { return true }
