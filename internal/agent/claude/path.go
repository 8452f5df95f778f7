package claude

import (
	"path/filepath"
	"strconv"
	"unicode/utf16"
)

// MaxName is the longest name, in UTF-16 units, that the client gives a project's directory without
// shortening it.
const MaxName = 200

// Path returns where the client looks for the file of a session that is resumed in a directory.
// config is its configuration directory, dir the directory with symbolic links resolved.
//
// Every UTF-16 unit of dir outside A-Z, a-z, 0-9 becomes a dash. A name of more than 200 units is
// cut, and followed by a hash of the whole in base 36: Java's string hash without its sign.
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
