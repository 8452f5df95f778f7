// Package hosts takes missions through their whole life on every kind of host
// that can be had: servers of Debian's, JGit, and hosts with rules of their own.
// Each step is what a person types, and where a host keeps it from working, what
// they are told, by the step and before it by `git agent-turn doctor --remote`.
package hosts
