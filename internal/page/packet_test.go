package page

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

// unpack opens every packet of a page as its scripts do.
func unpack(t *testing.T, page []byte) map[string]json.RawMessage {
	t.Helper()
	packets := make(map[string]json.RawMessage)
	for _, m := range regexp.MustCompile(`<script type="application/octet-stream" id="([a-z0-9-]+)">([A-Za-z0-9+/=]*)</script>`).FindAllSubmatch(page, -1) {
		packed, err := base64.StdEncoding.DecodeString(string(m[2]))
		gittest.Must(t, err)
		text, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
		gittest.Must(t, err)
		packets[string(m[1])] = text
	}
	return packets
}

// TestPackets: turns and versions of files are where the numbers say, and a packet is full at a megabyte.
func TestPackets(t *testing.T) {
	t.Parallel()
	gittest.Check(t)
	var b bytes.Buffer
	p := packer{w: &b}
	where := make(map[string]int)
	for i := range 40 {
		name := fmt.Sprintf("a1b2c3d4/%d", i)
		n, err := p.turn(name, &detail{Prompt: strings.Repeat("</script><!--", 8000)})
		gittest.Must(t, err)
		where[name] = n
	}
	version, err := p.whole("0123456789abcdef", "text")
	if err == nil {
		err = p.flush()
	}
	gittest.Must(t, err)
	packets := unpack(t, b.Bytes())
	if len(packets) < 4 {
		t.Errorf("%d packets", len(packets))
	}
	open := func(n int) (got packet) {
		text := packets[fmt.Sprintf("packet-%d", n)]
		if len(text) > packetSize*5/4 {
			t.Errorf("packet %d has %d bytes", n, len(text))
		}
		gittest.Must(t, json.Unmarshal(text, &got))
		return got
	}
	for name, n := range where {
		if len(open(n).Turns[name]) == 0 {
			t.Errorf("packet %d lacks turn %s", n, name)
		}
	}
	if open(version).Wholes["0123456789abcdef"] != "text" {
		t.Error("the version is not there")
	}
}

// TestPolicy: the policy allows the page's own style and script by their hashes, and nothing else.
func TestPolicy(t *testing.T) {
	t.Parallel()
	text, err := script()
	gittest.Must(t, err)
	if strings.Contains(strings.ToLower(text), "</script") || strings.Contains(text, "<!--") {
		t.Error("the script would end its element")
	}
	for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "fetch(", "XMLHttpRequest", "import("} {
		if strings.Contains(text, word) {
			t.Errorf("the script has %s", word)
		}
	}
	got := policy("a", "b")
	for _, want := range []string{"default-src 'none'", "style-src 'sha256-ypeBEsobvcr6wjGzmiPcTaeG7/gUfE5yuYB3ha/uSLs='", "base-uri 'none'", "require-trusted-types-for 'script'"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	for _, no := range []string{"unsafe", "http", "data:", "*"} {
		if strings.Contains(got, no) {
			t.Errorf("%s has %s", got, no)
		}
	}
}
