package cmdline

import "fmt"

// Size formats a number of bytes for people, in binary units: 512 B, 1.5 KiB, 20 MiB.
func Size(n int64) string {
	if n < 1<<10 {
		return fmt.Sprintf("%d B", n)
	}
	unit, size := 0, float64(n)/(1<<10)
	for ; size >= 1<<10; size /= 1 << 10 {
		unit++
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return fmt.Sprintf("%.*f %ciB", digits, size, "KMGTPE"[unit])
}
