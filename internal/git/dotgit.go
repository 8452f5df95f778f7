package git

import (
	"path"
	"strings"
)

// DotGit reports whether some file system takes a part of a path for .git. Git
// refuses to store most such names, and git fsck rejects all.
func DotGit(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if strings.EqualFold(visible(part), ".git") {
			return true
		}
		for sub := range strings.SplitSeq(part, `\`) { // NTFS ends a name at a colon, and drops dots and spaces
			sub, _, _ = strings.Cut(sub, ":")
			sub = strings.TrimRight(sub, " .")
			if strings.EqualFold(sub, ".git") || strings.EqualFold(sub, "git~1") {
				return true
			}
		}
	}
	return false
}

// DotGitmodules reports whether some file system takes a path's last part for
// .gitmodules, which git refuses as a link.
func DotGitmodules(name string) bool {
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
