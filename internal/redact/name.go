package redact

import (
	"bytes"
	"strings"
)

// A kind says what to expect of the value of a name.
type kind uint8

const (
	plain    kind = iota // nothing secret
	password             // chosen by a person: short ones count
	key                  // made by a machine: only a long random one counts
	basic                // a key, or base64 of user:password
	header               // perhaps a scheme (Bearer, Basic), then a key
)

// maxName is how many bytes at the end of a name are examined.
const maxName = 64

// nameKind returns the kind of a name, however it is spelt: client_secret, clientSecret,
// CLIENT-SECRET and spring.client.secret are the same.
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
		k, n, whole := w.keyword(i)
		if k == plain {
			continue
		}
		end := i + n
		if whole && !(w.starts(i) && (end == w.n || w.starts(end))) {
			continue
		}
		if end < w.n && !w.starts(end) && !extends(w.text[i:end], w.text[end:w.n]) {
			continue
		}
		if bytes.Contains(w.text[:w.n], []byte("public")) {
			return plain
		}
		return k
	}
	return w.keyName(name)
}

// words is a name in lower case, without separators and digits, and the places where its words
// begin.
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

// keyword returns the kind and the length of the telling word at text[i]. If whole, it counts only
// as a separate word: "pass", not "compass".
func (w *words) keyword(i int) (k kind, n int, whole bool) {
	s := w.text[i:w.n]
	has := func(word string) bool { return len(s) >= len(word) && string(s[:len(word)]) == word }
	switch s[0] {
	case 'a':
		switch {
		case has("authorization"):
			return header, len("authorization"), false
		case has("apikey"):
			return key, len("apikey"), false
		case has("accesskey"):
			return key, len("accesskey"), false
		case has("auth"):
			return basic, len("auth"), true
		}
	case 'c':
		switch {
		case has("credentials"):
			return key, len("credentials"), false
		case has("credential"):
			return key, len("credential"), false
		case has("creds"):
			return key, len("creds"), true
		}
	case 'p':
		switch {
		case has("password"):
			return password, len("password"), false
		case has("passwd"):
			return password, len("passwd"), false
		case has("passphrase"):
			return password, len("passphrase"), false
		case has("privatekey"):
			return key, len("privatekey"), false
		case has("passwort"):
			return password, len("passwort"), false
		case has("pass"):
			return password, len("pass"), true
		case has("pwd"):
			return password, len("pwd"), true
		case has("pat"):
			return key, len("pat"), true
		}
	case 's':
		if has("secret") {
			return password, len("secret"), false
		}
	case 't':
		if has("token") {
			return key, len("token"), false
		}
	}
	return plain, 0, false
}

// keyName examines names that end in "key". Most are not secret; only those that say what kind of
// key are.
func (w *words) keyName(name string) kind {
	if w.n < 4 || string(w.text[w.n-3:w.n]) != "key" || !w.starts(w.n-3) {
		return plain
	}
	before := string(w.text[:w.n-3])
	for _, q := range [...]string{
		"encryption", "signing", "master", "account", "admin", "auth", "service", "shared", "storage",
		"subscription", "session", "deploy", "license", "app", "application", "ssh", "webhook", "jwt", "hmac", "ai",
	} {
		if strings.HasSuffix(before, q) {
			return key
		}
	}
	// STRIPE_KEY=..., as environments spell it.
	if strings.IndexFunc(name, isLower) < 0 && strings.HasSuffix(name, "_KEY") {
		for _, q := range [...]string{"public", "publishable", "cache", "primary", "foreign", "sort", "partition", "registry"} {
			if strings.HasSuffix(before, q) {
				return plain
			}
		}
		return key
	}
	return plain
}

// extends reports whether the letters right after a telling word keep its meaning: secretkey,
// secretkeybase, passwords. Others make it a different word, such as tokenizer or secretary; and
// tokens are what a model is paid for.
func extends(word, rest []byte) bool {
	switch string(rest) {
	case "s":
		return string(word) != "token"
	case "key", "keybase", "value", "data", "string", "base":
		return true
	}
	return false
}

// describes reports whether word, the last of a name, says that the value only describes a secret.
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
