package pusher

import "strings"

// A pushReport is the output of git push --porcelain.
type pushReport struct {
	any      bool            // something was sent
	rejected map[string]bool // refs that the remote rejected
}

// parseReport reads lines of flag, from:to and summary, and skips the others.
func parseReport(out []byte) pushReport {
	rep := pushReport{rejected: make(map[string]bool)}
	for line := range strings.Lines(string(out)) {
		fields := strings.SplitN(line, "\t", 3)
		if len(fields) < 3 {
			continue
		}
		switch fields[0] {
		case "!":
			_, ref, _ := strings.Cut(fields[1], ":")
			rep.rejected[ref] = true
		case " ", "*":
			rep.any = true
		}
	}
	return rep
}
