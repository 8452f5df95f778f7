// Package object has git's objects as values: hashes in every format, commits,
// trees and their encodings. It starts no git and opens no file.
package object
