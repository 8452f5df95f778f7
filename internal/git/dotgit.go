package git

import "strings"

// DotGit reports whether some file system takes a part of a path for .git. Git refuses to store most such
// names, and git fsck rejects all.
func DotGit(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if strings.EqualFold(visible(part), ".git") {
			return true
		}
		for sub := range strings.SplitSeq(part, `\`) { // NTFS: a name ends at a colon, without spaces and dots before that
			sub, _, _ = strings.Cut(sub, ":")
			sub = strings.TrimRight(sub, " .")
			if strings.EqualFold(sub, ".git") || strings.EqualFold(sub, "git~1") {
				return true
			}
		}
	}
	return false
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
