package git

import (
	"io/fs"

	"golang.org/x/sys/windows"
)

// ours reports whether a file belongs to the user of this process.
func ours(path string, _ fs.FileInfo) bool {
	info, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION)
	if err != nil {
		return false
	}
	owner, _, err := info.Owner()
	if err != nil {
		return false
	}
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	return err == nil && owner.Equals(user.User.Sid)
}

// sameDevice returns true, as git sees no devices on Windows.
func sameDevice(_, _ fs.FileInfo) bool { return true }

// Readable returns false: the access lists of Windows are not read.
func (r *Repo) Readable() bool { return false }
