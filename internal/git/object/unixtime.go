package object

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxSeconds is the end of 9999, JSON's last year. Commits may be later.
const maxSeconds = 253_402_300_799

// UnixTime parses git's seconds, capped at the last time that JSON can hold.
func UnixTime(seconds string) (time.Time, error) {
	n, err := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(min(n, maxSeconds), 0), err
}

// ParseRevision parses a line of seconds and at least one hash.
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
