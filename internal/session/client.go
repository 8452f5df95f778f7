package session

import (
	"os"
	"strconv"
	"strings"
)

// ReadClient describes the client's process, as far as the system tells.
// pid 0 is an unknown client.
func ReadClient(pid int) Client {
	if pid <= 0 {
		return Client{}
	}
	c := Client{PID: pid, Domain: Domain()}
	if boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		c.Boot = strings.TrimSpace(string(boot))
	}
	if stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat"); err == nil {
		// The second field is the program's name in parentheses, which may hold anything.
		if i := strings.LastIndexByte(string(stat), ')'); i >= 0 {
			if fields := strings.Fields(string(stat[i+1:])); len(fields) > 19 {
				c.Start = fields[19] // field 22 of the line
			}
		}
	}
	return c
}

// Live reports whether the process still runs: not another one that got its pid, and not before the machine was started anew.
// Of a client that is not known, or that runs where its pid means nothing to us (another machine, another
// container), nobody here can say that it is gone.
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
	case now.Start == "" || c.Start == "":
		return running(c.PID) // a system without /proc, or nothing there
	}
	return c.Start == now.Start
}
