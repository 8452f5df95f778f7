package record

import "testing"

func TestParseNumber(t *testing.T) {
	for s, want := range map[string]int{
		"1": 1, "12": 12, "999999": MaxNumber,
		"": 0, "0": 0, "-1": 0, "+1": 0, "01": 0, "1000000": 0, "9223372036854775807": 0, "9223372036854775808": 0,
		"1_000": 0, "0x1": 0, " 1": 0, "1\n": 0, "1.0": 0, "1e3": 0, "١": 0,
	} {
		if n, ok := ParseNumber(s); ok != (want > 0) || ok && n != want {
			t.Errorf("ParseNumber(%q) = %d, %t, want %d", s, n, ok, want)
		}
	}
}

func TestNext(t *testing.T) {
	if n, err := Next("turn", MaxNumber-1); n != MaxNumber || err != nil {
		t.Errorf("Next = %d, %v", n, err)
	}
	if n, err := Next("turn", MaxNumber); err == nil {
		t.Errorf("Next = %d, want an error", n)
	}
}
