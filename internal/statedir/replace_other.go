//go:build !linux

package statedir

// Replace renames from to to.
func (d *Dir) Replace(from, to string) error { return d.Rename(from, to) }
