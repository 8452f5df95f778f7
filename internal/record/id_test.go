package record

import "testing"

func TestAbbreviate(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ ids, want []ID }{
		{nil, nil},
		{[]ID{"a1b2c3d4"}, []ID{"a1b2"}},
		{[]ID{"a1b2c3d4", "a1b3c3d4", "ffffffff"}, []ID{"a1b2", "a1b3", "ffff"}},
		{[]ID{"a1b2c3d4", "a1b2c3d5", "a1b2ffff"}, []ID{"a1b2c3d4", "a1b2c3d5", "a1b2f"}},
		{[]ID{"a1b2c3d4", "a1b2c3d41234"}, []ID{"a1b2c3d4", "a1b2c3d41"}},
	} {
		got := Abbreviate(tt.ids)
		for i, id := range tt.ids {
			if got[id] != tt.want[i] {
				t.Errorf("of %v, %s is %s, want %s", tt.ids, id, got[id], tt.want[i])
			}
		}
	}
}
