//go:build !linux

package main

import (
	"io/fs"
	"time"
)

// adoptOrphans does nothing: what a hook leaves in the background can't be waited for here.
func adoptOrphans() {}

// settle gives what runs in the background some time.
func settle() time.Duration {
	time.Sleep(50 * time.Millisecond)
	return 0
}

// onDisk is what a file takes of the disk as far as that is known here: its size in bytes.
func onDisk(info fs.FileInfo) int64 { return info.Size() }

// watchMemory knows nothing of memory here.
func watchMemory(int) func() (own, children int64) { return func() (int64, int64) { return 0, 0 } }

// flush does nothing.
func flush() {}

// free is not known here.
func free(string) int64 { return 0 }
