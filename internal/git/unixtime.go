package git

import (
	"strconv"
	"time"
)

// maxSeconds is the last second of the year 9999: JSON has no later time, and a commit of a stranger's may.
const maxSeconds = 253_402_300_799

// UnixTime reads a time in seconds, as git writes it: at the most one that can be written in JSON.
func UnixTime(seconds string) (time.Time, error) {
	n, err := strconv.ParseInt(seconds, 10, 64)
	return time.Unix(min(n, maxSeconds), 0), err
}
