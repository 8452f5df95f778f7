package statedir

import "testing"

func TestListed(t *testing.T) {
	t.Parallel()
	const list = `1: POSIX  ADVISORY  READ 26890 fe:00:11 128 128
2: FLOCK  ADVISORY  WRITE 26890 fe:00:12 0 EOF
2: -> FLOCK  ADVISORY  WRITE 26891 fe:00:12 0 EOF
3: FLOCK  ADVISORY  READ 7 00:2f:18446744073709551615 0 EOF
4: OFDLCK ADVISORY  WRITE -1 fe:00:14 0 EOF
5: FLOCK  ADVISORY`
	for inode, want := range map[uint64]bool{11: false, 12: true, 1<<64 - 1: true, 14: false, 0: false} {
		if got := listed([]byte(list), inode); got != want {
			t.Errorf("inode %d: %t, want %t", inode, got, want)
		}
	}
}
