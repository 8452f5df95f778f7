package session

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"gitagent/internal/statedir"
)

// ReadClient describes a client's process; a pid of 0 is an unknown client. Of
// an ended process only the id is known.
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

// startOf reads the start time from /proc/<pid>/stat. It is "" for an ended
// process whose parent has not waited: in containers it often never does.
func startOf(stat string) string {
	_, rest, ok := cutName(stat)
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 || fields[0] == "Z" || fields[0] == "X" {
		return ""
	}
	return fields[19] // field 22 of the line
}

// Live reports whether the process still runs, by start time and boot, as pids
// are reused. An unknown client, or one of another machine or container, counts
// as live: nothing shows that it is gone.
func (c Client) Live() bool {
	if c.PID <= 0 {
		return true
	}
	now := ReadClient(c.PID)
	switch {
	case elsewhere(c.Domain, now.Domain):
		return true
	case c.Boot != "" && now.Boot != "" && c.Boot != now.Boot:
		return false
	case c.Start == "":
		return running(c.PID) // no /proc
	}
	return c.Start == now.Start
}

// A Process is an ancestor of this process.
type Process struct {
	PID  int
	Name string // of its program, at most 15 bytes
}

// Ancestors returns the ancestors of this process, if the system tells.
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

// Nearest returns the nearest ancestor of this process of which is holds; zero
// if there is none, or the system doesn't tell.
func Nearest(is func(Process) bool) Process {
	for _, p := range Ancestors() {
		if is(p) {
			return p
		}
	}
	return Process{}
}

// cutName cuts /proc/<pid>/stat after its second field, the program's name in
// parentheses, which may hold anything.
func cutName(stat string) (name, rest string, ok bool) {
	from, to := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return "", "", false
	}
	return stat[from+1 : to], stat[to+1:], true
}

// Argv returns the command line of a process; nil if the system doesn't tell.
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

// Program returns the path of the program that a command line runs: where that
// is node, of the script. It is "" if there is none.
func Program(argv []string) string {
	if len(argv) > 0 && filepath.Base(argv[0]) == "node" {
		at := slices.IndexFunc(argv[1:], func(arg string) bool { return !strings.HasPrefix(arg, "-") })
		if at < 0 {
			return ""
		}
		argv = argv[1+at:]
	}
	if len(argv) == 0 {
		return ""
	}
	return argv[0]
}

// HasOption reports whether a command line has one of options, perhaps with a
// value in the same word.
func HasOption(argv []string, options ...string) bool {
	return slices.ContainsFunc(argv, func(word string) bool {
		option, _, _ := strings.Cut(word, "=")
		return slices.Contains(options, option)
	})
}

// A ClientLock is a file that a client locks while a session lives in it. The
// zero ClientLock is none, or not visible from here.
type ClientLock struct {
	Path   string `json:"path"`
	Domain string `json:"domain,omitempty"` // where the client runs, as in [Client]
}

// ReadClientLock describes a lock that a live session's client should hold. It
// is zero if it can't be seen: then its absence will prove nothing either.
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

// locked reports whether the file is locked, if known. A process with other
// mounts may not see the client's directory.
func (l ClientLock) locked() (locked, known bool) {
	if l.Path == "" || l.Domain != Domain() {
		return false, false
	}
	if _, err := os.Stat(filepath.Dir(l.Path)); err != nil {
		return false, false
	}
	locked, err := statedir.Locked(l.Path)
	return locked, err == nil
}

// A Registration is a session that a client registered in a file, which stays
// if the client is killed.
type Registration struct {
	PID     int
	Session string
	Start   string // as in [Client]
	Domain  string // of the processes among which PID is unique; see [Domain]
	Status  string // idle, busy, waiting; "" if the client doesn't say
	// Held is set if the client locked a file for the session; PID may then be
	// 0.
	Held bool
}

// Domain names a machine and pid namespace, in which pids are unique, in the
// form of clients. It is "" if unknown. Many containers have no machine's id.
func Domain() string {
	machine, _ := os.ReadFile("/etc/machine-id")
	namespace, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return linux + strings.TrimSpace(string(machine)) + ":" + namespace
}

const linux = "linux:"

// elsewhere reports whether the processes of one domain can't be seen from the
// other, as far as they tell: a missing machine's id may be any.
func elsewhere(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	in, there, _ := strings.Cut(strings.TrimPrefix(a, linux), ":")
	on, here, _ := strings.Cut(strings.TrimPrefix(b, linux), ":")
	return there != here || in != "" && on != "" && in != on
}

// Here reports whether we can see the client's processes: machines and
// containers may share a home directory.
func (r Registration) Here() bool { return !elsewhere(r.Domain, Domain()) }

// Runs reports whether a registration's process still exists, if r.Here. It is
// false where the system tells no start times, unless r.Held.
func (r Registration) Runs() bool {
	if r.Held {
		return true
	}
	start := ReadClient(r.PID).Start
	return start != "" && start == r.Start
}
