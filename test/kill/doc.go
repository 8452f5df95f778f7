// Package kill kills the programs at every moment and looks at what that leaves.
//
//	make check STAGE=tests                  24 kills, beside all other tests
//	make kills SEED=7                       2,000, with more scenarios
//	test/kill/campaign.sh <directory>       10,000, in portions; stopped, it can be started again
//
// It attacks from outside: programs that are built once, payloads on standard input, and what plain
// git and `git agent-turn list --json` show. Of how they are written inside it knows only what a
// user sees in the git directory: files named *.lock, agent/index.new, temporary ones.
//
// A scenario prepares what its command needs, a moment is drawn, the command is started in a
// process group of its own, and SIGKILL goes to the process alone or to the whole group, git
// included. Half of the moments are drawn from the time that the command usually takes; the others
// are those at which a lock, a temporary file or a directory of a worktree has just appeared, so
// that the nasty ones are hit often.
//
// Not killed are commands that write one file or one variable of git's, which is there or not: init, trust, demo
// (in a repository of its own), and log, whose file is the user's; finish and bisect, in whose
// packages others kill them; retry and wake, which write through the commands that they run.
//
// After a kill comes one event of the agent's session. From then on there must be no trace of the
// dead one, and nothing that was acknowledged may be gone. The same repository is killed in
// again and again, and only replaced after a finding or after some kills.
package kill
