// Package hints tests what the programs advise: every command that they print exists, with its flags,
// and those that follow an error are run where the error was, and work there.
package hints
