package outside

import (
	"strings"
	"testing"
)

func TestPointer(t *testing.T) {
	t.Parallel()
	const sum = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	for _, tt := range []struct {
		name, blob string
		want       OID
	}{
		{"pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:" + sum + "\nsize 12345\n", sum},
		{"with an extension", "version https://git-lfs.github.com/spec/v1\next-0-foo sha256:" + strings.Repeat("a", 64) + "\noid sha256:" + sum + "\nsize 1\n", sum},
		{"of before the name", "version https://hawser.github.com/spec/v1\noid sha256:" + sum + "\nsize 1\n", sum},
		{"empty", "", ""},
		{"no size", "version https://git-lfs.github.com/spec/v1\noid sha256:" + sum + "\n", ""},
		{"a path in place of the sum", "version https://git-lfs.github.com/spec/v1\noid sha256:../../" + sum[6:] + "\nsize 1\n", ""},
		{"a short sum", "version https://git-lfs.github.com/spec/v1\noid sha256:" + sum[2:] + "\nsize 1\n", ""},
		{"other text", "oid sha256:" + sum + "\nsize 1\n", ""},
		{"too large", "version https://git-lfs.github.com/spec/v1\noid sha256:" + sum + "\nsize 1\n" + strings.Repeat("\n", MaxPointer), ""},
	} {
		if got := Pointer([]byte(tt.blob)); got != tt.want {
			t.Errorf("%s: Pointer = %q, want %q", tt.name, got, tt.want)
		}
	}
}
