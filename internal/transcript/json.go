package transcript

import (
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// Unquote returns a JSON string as encoding/json decodes it; "" for any other value. gjson differs in
// lone surrogates and invalid UTF-8, and the result must equal a hook's payload, which encoding/json
// decodes. What it returns may be a part of the text that v is of: see [Kept].
func Unquote(v gjson.Result) string {
	if v.Type != gjson.String {
		return ""
	}
	if !strings.Contains(v.Raw, `\u`) && utf8.ValidString(v.Str) {
		return v.Str
	}
	var s string
	if err := json.Unmarshal([]byte(v.Raw), &s); err != nil {
		return ""
	}
	return s
}

// Kept is [Unquote] for what is kept: a short string holds no line of megabytes in memory.
func Kept(v gjson.Result) string { return strings.Clone(Unquote(v)) }

// Count returns a count of tokens or bytes; 0 if v can't be one.
func Count(v gjson.Result) int64 {
	const most = 1 << 40 // so that no sum overflows
	if n := v.Num; v.Type == gjson.Number && n > 0 && n < most {
		return int64(n)
	}
	return 0
}
