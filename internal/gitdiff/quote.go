package gitdiff

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// unquotePath parses a path printed without -z: in quotes, with C escapes, if
// it has odd bytes.
func unquotePath(s string) (string, error) {
	body, quoted := strings.CutPrefix(s, `"`)
	if !quoted {
		return s, nil
	}
	body, ended := strings.CutSuffix(body, `"`)
	if !ended {
		return "", fmt.Errorf("%w: path %s", errPorcelain, s)
	}
	var path []byte
	for len(body) > 0 {
		c := body[0]
		body = body[1:]
		if c != '\\' {
			path = append(path, c)
			continue
		}
		if len(body) == 0 {
			return "", fmt.Errorf("%w: path %s", errPorcelain, s)
		}
		if i := strings.IndexByte(`abtnvfr"\`, body[0]); i >= 0 {
			path = append(path, "\a\b\t\n\v\f\r\"\\"[i])
			body = body[1:]
			continue
		}
		if len(body) < 3 {
			return "", fmt.Errorf("%w: path %s", errPorcelain, s)
		}
		n, err := strconv.ParseUint(body[:3], 8, 8)
		if err != nil {
			return "", fmt.Errorf("%w: path %s", errPorcelain, s)
		}
		path = append(path, byte(n))
		body = body[3:]
	}
	return string(path), nil
}

// QuotePath quotes a path as git without -z; high is core.quotePath: quote
// beyond ASCII, too.
func QuotePath(path string, high bool) string {
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if at := strings.IndexByte("\a\b\t\n\v\f\r\"\\", c); at >= 0 {
			b.WriteByte('\\')
			b.WriteByte(`abtnvfr"\`[at])
		} else if c < ' ' || c == 0x7f || c >= 0x80 && high {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	if b.Len() == len(path) {
		return path
	}
	return `"` + b.String() + `"`
}

var errPorcelain = errors.New("unexpected line")
