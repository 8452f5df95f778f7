// Package purge purges one secret from a world in which it stands everywhere, with the programs as they are
// installed, and looks at everything that is left: every object and file in every spelling, and each mission beside
// what it was.
//
// It knows nothing of how a secret is found or taken out: it decodes and compares by itself.
package purge
