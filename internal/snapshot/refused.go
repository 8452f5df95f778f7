package snapshot

import (
	"path"
	"strings"
)

// refusedName reports whether a component of an untracked path is one that git takes for .git
// on some file system. Git refuses to store most of them, and git fsck all.
func refusedName(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(visible(part), ".git") {
			return true
		}
		for sub := range strings.SplitSeq(part, `\`) { // NTFS: ends at a colon, spaces and dots at the end don't count
			sub, _, _ = strings.Cut(sub, ":")
			sub = strings.TrimRight(sub, " .")
			if strings.EqualFold(sub, ".git") || strings.EqualFold(sub, "git~1") {
				return true
			}
		}
	}
	return false
}

// refusedLink reports whether a symbolic link of this name would stand for .gitmodules.
func refusedLink(name string) bool {
	base := strings.ToLower(visible(path.Base(name)))
	base, _, _ = strings.Cut(base, ":")
	base = strings.TrimRight(base, " .")
	return base == ".gitmodules" || strings.HasPrefix(base, "gitmod~") || strings.HasPrefix(base, "gi7eba~")
}

// visible drops the characters that HFS+ ignores in names.
func visible(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x200c && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x206a && r <= 0x206f || r == 0xfeff {
			return -1
		}
		return r
	}, name)
}
