package claude

import (
	"path/filepath"
	"strconv"
	"unicode/utf16"
)

// MaxName bounds a project directory's name, in UTF-16 units, before it is cut.
const MaxName = 200

// Path returns the path of the file of a session resumed in dir, which must not
// have symbolic links. config is the client's configuration directory.
//
// Every UTF-16 unit of dir outside A-Z, a-z, 0-9 becomes a dash. A name of more
// than 200 units is cut, and followed by a hash of the whole in base 36: Java's
// string hash without its sign.
func Path(config, dir, session string) string {
	units := utf16.Encode([]rune(dir))
	name := make([]byte, len(units))
	var hash int32
	for i, u := range units {
		hash = 31*hash + int32(u)
		name[i] = '-'
		if u < 128 && (u >= 'a' && u <= 'z' || u >= 'A' && u <= 'Z' || u >= '0' && u <= '9') {
			name[i] = byte(u)
		}
	}
	encoded := string(name)
	if len(encoded) > MaxName {
		encoded = encoded[:MaxName] + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
	}
	return filepath.Join(config, "projects", encoded, session+".jsonl")
}
