package redact

import (
	"bytes"
	"slices"
	"strings"
)

// A kind says what to expect of a name's value.
type kind uint8

const (
	plain    kind = iota // nothing secret
	password             // chosen by a person, so short ones count
	key                  // made by a machine, so only long random ones count
	basic                // a key, or base64 of user:password
	header               // a key, perhaps after a scheme (Bearer, Basic)
	cookie               // names and values
)

// maxName is how many bytes at the end of a name are examined.
const maxName = 64

// nameKind returns the kind of a name in any spelling: client_secret,
// clientSecret, CLIENT-SECRET and spring.client.secret are the same.
func nameKind(name string) kind {
	name = name[max(0, len(name)-maxName):]
	if len(name) < 3 {
		return plain
	}
	var w words
	w.split(name)
	if w.n < 3 || describes(w.text[w.last:w.n]) {
		return plain
	}
	for i := w.n - 3; i >= 0; i-- {
		k := w.keyword(i)
		end := i + len(k.text)
		switch {
		case k.kind == plain, k.whole && !(w.starts(i) && (end == w.n || w.starts(end))):
			continue
		case end < w.n && !w.starts(end) && !extends(k.text, w.text[end:w.n]):
			continue
		case bytes.Contains(w.text[:w.n], []byte("public")):
			return plain
		}
		return k.kind
	}
	return w.keyName(name)
}

// words is a name in lower case, without separators and digits.
type words struct {
	text [maxName]byte
	n    int
	at   uint64 // bit i: a word begins at text[i]
	last int    // where the last word begins
}

func (w *words) starts(i int) bool { return w.at>>i&1 != 0 }

func (w *words) split(name string) {
	var before, before2 uint8 // classes of the last two bytes
	for i := 0; i < len(name); i++ {
		k := class[name[i]]
		if k&alpha != 0 {
			c := name[i]
			begins := before&alpha == 0
			if k&upper != 0 {
				c += 'a' - 'A'
				begins = begins || before&upper == 0
			} else if before&upper != 0 && before2&upper != 0 {
				// APIKey: the K is the first of its word.
				w.at |= 1 << (w.n - 1)
				w.last = w.n - 1
			}
			if begins {
				w.at |= 1 << w.n
				w.last = w.n
			}
			w.text[w.n] = c
			w.n++
		}
		before, before2 = k, before
	}
}

type keyword struct {
	text  string
	kind  kind
	whole bool // only as a separate word: "pass", not "compass"
}

// keywords lists keywords by first letter, a longer one before its beginning.
var keywords = [256][]keyword{
	'a': {{"authorization", header, false}, {"apikey", key, false}, {"accesskey", key, false}, {"auth", basic, true}},
	'c': {{"credentials", key, false}, {"credential", key, false}, {"creds", key, true}, {"cookies", cookie, true}, {"cookie", cookie, true}},
	'k': {{"keysbase", key, true}}, // keys_base64, of Vault
	'p': {
		{"password", password, false},
		{"passwd", password, false},
		{"passphrase", password, false},
		{"privatekey", key, false},
		{"passwort", password, false},
		{"pass", password, true},
		{"pwd", password, true},
		{"pat", key, true},
		{"psk", password, true},
	},
	'r': {{"requirepass", password, true}}, // of Redis
	's': {{"secret", password, false}},
	't': {{"token", key, false}},
	'u': {{"unseal", key, true}},
}

// keyword returns the keyword at text[i], or a zero one.
func (w *words) keyword(i int) keyword {
	s := w.text[i:w.n]
	for _, k := range keywords[s[0]] {
		if len(s) >= len(k.text) && string(s[:len(k.text)]) == k.text {
			return k
		}
	}
	return keyword{}
}

// keyName examines names that end in "key"; few kinds of key are secret.
func (w *words) keyName(name string) kind {
	if w.n < 4 || string(w.text[w.n-3:w.n]) != "key" || !w.starts(w.n-3) {
		return plain
	}
	before := string(w.text[:w.n-3])
	switch {
	case endsIn(before, "encryption", "signing", "master", "account", "admin", "auth", "service", "shared", "storage",
		"subscription", "session", "deploy", "license", "app", "application", "ssh", "webhook", "jwt", "hmac", "ai"):
		return key
	case strings.IndexFunc(name, isLower) < 0 && strings.HasSuffix(name, "_KEY"): // STRIPE_KEY=...
		if !endsIn(before, "public", "publishable", "cache", "primary", "foreign", "sort", "partition", "registry") {
			return key
		}
	}
	return plain
}

func endsIn(s string, suffixes ...string) bool {
	return slices.ContainsFunc(suffixes, func(suffix string) bool { return strings.HasSuffix(s, suffix) })
}

// extends reports whether the letters after a keyword keep its meaning, as in
// secretkey and passwords, not tokenizer. Models are paid for in tokens.
func extends(word string, rest []byte) bool {
	switch string(rest) {
	case "s":
		return word != "token"
	case "key", "keybase", "value", "data", "string", "base":
		return true
	}
	return false
}

// describes reports whether word, a name's last, makes it no secret: token_id.
func describes(word []byte) bool {
	switch string(word) {
	case "id", "ids", "name", "names", "type", "types", "kind", "url", "urls", "uri", "endpoint", "path", "paths",
		"file", "files", "filename", "dir", "folder", "count", "counts", "limit", "limits", "length", "len", "size",
		"max", "min", "expiry", "expires", "expiration", "expire", "ttl", "at", "in", "on", "ref", "refs", "arn",
		"hash", "hashed", "digest", "sum", "sha", "md", "checksum", "fingerprint", "signature", "field", "fields",
		"header", "prefix", "suffix", "regex", "regexp", "re", "pattern", "policy", "label", "title", "message", "msg",
		"error", "err", "format", "algorithm", "alg", "alias", "status", "state", "usage", "used", "version", "v",
		"provider", "manager", "store", "source", "scope", "scopes", "index", "offset", "position", "pos", "start",
		"end", "reminder", "hint", "placeholder", "enabled", "required", "mode", "metadata", "info", "env", "var",
		"variable", "param", "parameter", "arg", "option", "options", "config", "rotation", "rule", "rules", "vault",
		"description", "desc", "public", "pub", "uuid", "location", "link", "sock", "socket":
		return true
	}
	return false
}
