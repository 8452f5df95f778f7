// Package hostile makes ledgers as nobody should have written them, and looks at what they cost.
//
//	make nightly STAGE=tests          a sample, beside all others
//	make hostile                      all 300, and the most that each command took
//	make hostile SEED=7               others, made of the same evils
//
// Each has one evil in a mission that is otherwise as it should be, and some others drawn by lot:
// fields, trees, numbers, sizes, cycles, missing objects, commits, notes and refs. Every command that
// reads and every hook runs beside it, with the mission's branch checked out. Whatever they say, they
// must not crash or hang, nor take much memory, nor write anything outside of the repository, nor
// send a terminal what it would obey.
package hostile
