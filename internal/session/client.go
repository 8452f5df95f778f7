package session

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"gitagent/internal/lock"
)

// ReadClient describes the client's process, as far as the system tells. A pid
// of 0 is an unknown client. Of a process that has ended only the id is known.
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

// startOf reads the start time from a line of /proc/<pid>/stat. It is "" for a
// process that has ended but whose parent has not waited for it: in containers
// the parent often never does.
func startOf(stat string) string {
	_, rest, ok := cutName(stat)
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19] // field 22 of the line
}

// Live reports whether the process still runs. Another process with the same
// pid does not count, nor does a pid from before a reboot. An unknown client, or
// one whose pid means nothing here (on another machine, in another container),
// counts as live: nothing here shows that it is gone.
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

// A ClientLock is a file that a client keeps locked as long as a session lives
// in it. The zero ClientLock is none, or one that can't be seen from here.
type ClientLock struct {
	Path   string `json:"path"`
	Domain string `json:"domain,omitempty"` // where the client runs, as in [Client]
}

// ReadClientLock describes the file that a client should have locked for a
// session that lives now. It returns the zero ClientLock if the lock can't be
// seen: then its absence will say nothing either.
func ReadClientLock(path string) ClientLock {
	l := ClientLock{path, Domain()}
	if path == "" || l.Domain == "" && runtime.GOOS == "linux" { // another container's locks look free
		return ClientLock{}
	}
	if locked, known := l.locked(); !known || !locked {
		return ClientLock{}
	}
	return l
}

// locked reports whether the file is locked; known is false if that can't be
// told from here. A process may have other mounts, and not see the directory
// that the client keeps the file in.
func (l ClientLock) locked() (locked, known bool) {
	if l.Path == "" || l.Domain != Domain() {
		return false, false
	}
	if _, err := os.Stat(filepath.Dir(l.Path)); err != nil {
		return false, false
	}
	locked, err := lock.Held(l.Path)
	return locked, err == nil
}

// A Registration is a session that a client says it runs, in a file of its own.
// A client that was killed may have left it behind.
type Registration struct {
	PID     int
	Session string
	Start   string // as in [Client]
	Domain  string // of processes among which PID is unique; see [Domain]
	Status  string // idle, busy, waiting; "" if the client doesn't say
	// Held is set if the client has locked a file for the session; then PID may be 0.
	Held bool
}

// Domain names the set of processes among which this process's pid is unique,
// in the form that clients use: one machine and one pid namespace. It is "" if
// either can't be read.
func Domain() string {
	machine, err := os.ReadFile("/etc/machine-id")
	namespace, e := os.Readlink("/proc/self/ns/pid")
	if err != nil || e != nil {
		return ""
	}
	return "linux:" + strings.TrimSpace(string(machine)) + ":" + namespace
}

// Here reports whether the client runs, or ran, where we can look for it: a home
// directory may be shared by machines and containers.
func (r Registration) Here() bool {
	domain := Domain()
	return r.Domain == "" || domain == "" || r.Domain == domain
}

// Runs reports whether the registration's process still exists. It means
// something only if r.Here, and is always false where the system doesn't tell
// when a process started, unless r.Held.
func (r Registration) Runs() bool {
	if r.Held {
		return true
	}
	start := ReadClient(r.PID).Start
	return start != "" && start == r.Start
}
