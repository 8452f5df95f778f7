package git

import (
	"fmt"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/hash"
)

// A Hex is a hash in JSON: as many hex digits as git has in it, or "" for the zero hash.
type Hex plumbing.Hash

// Hash returns the hash.
func (h Hex) Hash() plumbing.Hash { return plumbing.Hash(h) }

// IsZero reports whether there is no hash; JSON's omitzero option uses it.
func (h Hex) IsZero() bool { return h == Hex{} }

func (h Hex) String() string {
	if h.IsZero() {
		return ""
	}
	return plumbing.Hash(h).String()
}

// MarshalText is the JSON form.
func (h Hex) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText accepts the JSON form and nothing else.
func (h *Hex) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*h = Hex{}
		return nil
	}
	parsed, err := ParseHash(string(text))
	*h = Hex(parsed)
	return err
}

// ParseHash reads a hash as git prints it. One of another object format is an error.
func ParseHash(s string) (plumbing.Hash, error) {
	if !plumbing.IsHash(s) {
		return plumbing.ZeroHash, fmt.Errorf("%q is not a hash of %d hex digits", s, hash.HexSize)
	}
	return plumbing.NewHash(s), nil
}
