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
	c := Client{PID: pid}
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
