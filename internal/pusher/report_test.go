package pusher

import "testing"

func TestParseReport(t *testing.T) {
	t.Parallel()
	got := parseReport([]byte("To host\n*\t1:refs/a\t[new reference]\n=\t2:refs/b\t[up to date]\n!\t3:refs/c\t[rejected] (a\tb)\nDone\n"))
	if !got.any || len(got.rejected) != 1 || !got.rejected["refs/c"] {
		t.Errorf("%+v", got)
	}
	if got := parseReport([]byte("To host\n=\t2:refs/b\t[up to date]\nDone\n")); got.any || len(got.rejected) > 0 {
		t.Errorf("%+v", got)
	}
}
