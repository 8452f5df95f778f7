package git

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxSeconds is the last second of the year 9999: JSON has no later time, and a commit of a stranger's may.
const maxSeconds = 253_402_300_799

// UnixTime reads a time in seconds, as git writes it: at the most one that can be written in JSON.
func UnixTime(seconds string) (time.Time, error) {
	n, err := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(min(n, maxSeconds), 0), err
}

// ParseRevision reads a line of hashes, at least one, behind a time in seconds.
func ParseRevision(line string) (at time.Time, hashes []Hash, err error) {
	fields := strings.Fields(line)
	if len(fields) < 2 {
		return at, nil, fmt.Errorf("git lists a commit as %q", line)
	}
	at, err = UnixTime(fields[0])
	for _, field := range fields[1:] {
		var hash Hash
		if err == nil {
			hash, err = ParseHash(field)
		}
		hashes = append(hashes, hash)
	}
	return at, hashes, err
}
