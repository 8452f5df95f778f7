package session

import (
	"bytes"
	"os"
	"strconv"
	"strings"
)

// ReadClient describes the client's process, as far as the system tells. pid 0 is an unknown
// client. If the process has ended, only its id is known.
func ReadClient(pid int) Client {
	if pid <= 0 {
		return Client{}
	}
	c := Client{PID: pid, Domain: Domain()}
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		c.Boot = strings.TrimSpace(string(boot))
	}
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		c.Start = startOf(string(stat))
	}
	return c
}

// startOf reads the start time from a line of /proc/<pid>/stat. It is "" for a process that has ended
// but whose parent has not waited for it: in containers often nobody ever does.
func startOf(stat string) string {
	_, rest, ok := cutName(stat)
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19] // field 22 of the line
}

// Live reports whether the process still runs: another process with the same pid does not count, nor
// does a pid from before a reboot. An unknown client, or one whose pid means nothing to us (on another
// machine, in another container), counts as live, since nobody here can say that it is gone.
func (c Client) Live() bool {
	if c.PID <= 0 {
		return true
	}
	now := ReadClient(c.PID)
	switch {
	case c.Domain != "" && now.Domain != "" && c.Domain != now.Domain:
		return true
	case c.Boot != "" && now.Boot != "" && c.Boot != now.Boot:
		return false
	case c.Start == "":
		return running(c.PID) // a system without /proc
	}
	return c.Start == now.Start
}

// A Process is one that this one descends from.
type Process struct {
	PID  int
	Name string // of its program, at most 15 bytes
}

// Ancestors returns the processes that this one descends from, as far as the system tells.
func Ancestors() []Process {
	var all []Process
	for pid := os.Getppid(); pid > 0 && len(all) < 100; {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		name, rest, ok := cutName(string(stat))
		if err != nil || !ok {
			break
		}
		all = append(all, Process{pid, name})
		fields := strings.Fields(rest)
		if len(fields) < 2 {
			break
		}
		pid, _ = strconv.Atoi(fields[1])
	}
	return all
}

// cutName cuts a line of /proc/<pid>/stat after its second field, the name of the program in
// parentheses, which may hold anything.
func cutName(stat string) (name, rest string, ok bool) {
	from, to := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return "", "", false
	}
	return stat[from+1 : to], stat[to+1:], true
}

// Argv reads the command line of a process; nil where the system doesn't tell.
func Argv(pid int) []string {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	if err != nil || len(data) == 0 {
		return nil
	}
	var args []string
	for arg := range bytes.SplitSeq(bytes.TrimSuffix(data, []byte{0}), []byte{0}) {
		args = append(args, string(arg))
	}
	return args
}
