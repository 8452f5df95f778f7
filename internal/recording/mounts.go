package recording

import (
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// otherNames returns the paths by which other mounts show what is at some paths,
// such as bind mounts, where the system lists its mounts as Linux does.
func otherNames(paths []string) (names []string) {
	list, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil
	}
	mounts := parseMounts(string(list))
	for _, path := range paths {
		names = append(names, aliases(mounts, path)...)
	}
	return names
}

// A mount shows a directory of a device at a path.
type mount struct{ device, root, at string }

func parseMounts(list string) (mounts []mount) {
	for line := range strings.Lines(list) {
		if f := strings.Fields(line); len(f) > 4 {
			mounts = append(mounts, mount{f[2], unescape(f[3]), unescape(f[4])})
		}
	}
	return mounts
}

// unescape reads \040 for a space, as in lists of mounts.
func unescape(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+4 <= len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// aliases returns where mounts show what is at an absolute path of Linux's.
func aliases(mounts []mount, name string) (names []string) {
	var on *mount
	rest := ""
	for i, m := range mounts { // of equal ones the last lies above the others
		if in, ok := below(m.at, name); ok && (on == nil || len(m.at) >= len(on.at)) {
			on, rest = &mounts[i], in
		}
	}
	if on == nil {
		return nil
	}
	inside := path.Join(on.root, rest)
	for _, m := range mounts {
		if in, ok := below(m.root, inside); ok && m.device == on.device {
			if alias := path.Join(m.at, in); alias != name {
				names = append(names, alias)
			}
		}
	}
	return names
}

// below returns what a path is in a directory.
func below(dir, name string) (string, bool) {
	rest, err := filepath.Rel(dir, name)
	return rest, err == nil && filepath.IsLocal(rest)
}
