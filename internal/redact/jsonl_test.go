package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"gitagent/test/gittest"
)

var (
	fakeToken = "ghp_" + "R7w2Kq9ZtX4mB6nV1cY8sD3fG5hJ0pLaEuIo"
	fakeKey   = "q8Zt3LmX7vKp2RcW" + "9yNb4HdF6sGj1TaU"
	fakeLine  = "MIIEpAIBAAKCAQEA" + "t7Yq2Rk9vX4mB6nZ1cW8sD3fG5hJ0pLaEuIoQxCw9T2y7H4k"
)

func TestJSONLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, in, want string }{
		{
			"bytes beside the secret stay: order, blanks, escapes, line ends",
			"{\"z\":1 , \"a\" : \"\\u00e9\\/ " + fakeToken + " \\t\\\"\", \"n\":1.50e+3}\r\n\n  {\"b\":[ ]}\n",
			"{\"z\":1 , \"a\" : \"\\u00e9\\/ [redacted:github-token] \\t\\\"\", \"n\":1.50e+3}\r\n\n  {\"b\":[ ]}\n",
		},
		{
			"the key says that the value is a secret", `{"api_key":"` + fakeKey + `","other":"` + fakeKey + `"}`,
			`{"api_key":"[redacted:secret]","other":"` + fakeKey + `"}`,
		},
		{
			"the key of an array does so for its elements",
			`{"api_keys":1,"passwords":["` + fakeKey + `",["x"]],"a":["` + fakeKey + `"]}`,
			`{"api_keys":1,"passwords":["[redacted:password]",["x"]],"a":["` + fakeKey + `"]}`,
		},
		{
			"name and value",
			`{"env":[{"name":"API_KEY","value":"` + fakeKey + `"},{"name":"ID","value":"` + fakeKey + `"}]}`,
			`{"env":[{"name":"API_KEY","value":"[redacted:secret]"},{"name":"ID","value":"` + fakeKey + `"}]}`,
		},
		{
			"flag and argument", `{"args":["run","--api-key","` + fakeKey + `","` + fakeKey + `"]}`,
			`{"args":["run","--api-key","[redacted:secret]","` + fakeKey + `"]}`,
		},
		{"a password with escapes", `{"password":"a\"B3\\xY9\u0021kQ"}`, `{"password":"[redacted:password]"}`},
		{
			"a header", `{"headers":{"Authorization":"Bearer ` + fakeKey + `","Cookie":"a=b"}}`,
			`{"headers":{"Authorization":"Bearer [redacted:authorization]","Cookie":"a=b"}}`,
		},
		{
			"a key of an object", `{"users":{"` + fakeToken + `":"anna"}}`,
			`{"users":{"[redacted:github-token]":"anna"}}`,
		},
		{
			"a key file's lines in an array, as in a structured patch",
			`{"lines":["+-----BEGIN RSA PRIVATE KEY-----","+` + fakeLine + `","+ab\/cdefghijklmnop","+Qw==","+-----END RSA PRIVATE KEY-----","+func","main"]}`,
			`{"lines":["+-----BEGIN RSA PRIVATE KEY-----","+[redacted:private-key]","+","+","+-----END RSA PRIVATE KEY-----","+func","main"]}`,
		},
		{
			"a key file's first line as a word of code in an array",
			`{"lines":["const begin = \"-----BEGIN RSA PRIVATE KEY-----\"","return","parsePrivateKeyFromPEM(b)","` + fakeLine + `"]}`,
			`{"lines":["const begin = \"-----BEGIN RSA PRIVATE KEY-----\"","return","parsePrivateKeyFromPEM(b)","` + fakeLine + `"]}`,
		},
		{
			"a JSON Web Key",
			`{"result":{"d":"g00J101qq1vwI3e83mCbjyiHmYmBOfuT","kty":"EC","x":"ojdz34TDUze-SXWW45lb2VshrU41"}}`,
			`{"result":{"d":"[redacted:private-key]","kty":"EC","x":"ojdz34TDUze-SXWW45lb2VshrU41"}}`,
		},
		{
			"a Secret of Kubernetes",
			`{"items":[{"data":{"a":"aHVudGVyMg==","b\"":"x"},"kind":"Secret"},{"data":{"a":"b"},"kind":"ConfigMap"}]}`,
			`{"items":[{"data":{"a":"[redacted:secret]","b\"":"[redacted:secret]"},"kind":"Secret"},{"data":{"a":"b"},"kind":"ConfigMap"}]}`,
		},
		{
			"a patch's lines",
			`{"lines":[" env:","+- name: API_KEY","+  value: ` + fakeKey + `","-machine h","-  login me","-  password hunter2"]}`,
			`{"lines":[" env:","+- name: API_KEY","+  value: [redacted:secret]","-machine h","-  login me","-  password [redacted:password]"]}`,
		},
		{
			"a service account's file",
			`{"type":"service_account","private_key_id":"3f1c9a7be25d4860","private_key":"-----BEGIN PRIVATE KEY-----\n` + fakeLine + `\n-----END PRIVATE KEY-----\n"}`,
			`{"type":"service_account","private_key_id":"3f1c9a7be25d4860","private_key":"-----BEGIN PRIVATE KEY-----\n[redacted:private-key]\n-----END PRIVATE KEY-----\n"}`,
		},
		{
			"torn lines are text, and so are foreign ones",
			"oken\":\"" + fakeToken + "\"}\n{\"a\":1}\n$ echo " + fakeToken + "\n{\"a\":\"" + fakeToken,
			"oken\":\"[redacted:github-token]\"}\n{\"a\":1}\n$ echo [redacted:github-token]\n{\"a\":\"[redacted:github-token]",
		},
		{
			"a key over several foreign lines, and JSON after it",
			"-----BEGIN EC PRIVATE KEY-----\n" + fakeLine + "\n{\"sourceToolAssistantUUID\":\"8e232697-9740-4196-b273-7603336477ff\"}\n",
			"-----BEGIN EC PRIVATE KEY-----\n[redacted:private-key]\n{\"sourceToolAssistantUUID\":\"8e232697-9740-4196-b273-7603336477ff\"}\n",
		},
		{"almost JSON", `{"a":"b"c","password":"x8#kQ2!vLm9z"}`, `{"a":"b"c","password":"[redacted:password]"}`},
		{"a bad escape", `{"a":"\q ` + fakeToken + `"}`, `{"a":"\q [redacted:github-token]"}`},
		{
			"no secret: ids, hashes, signatures",
			`{"uuid":"0d6f5e64-33ef-4a3b-9f3b-0c3bb8b0ff5a","requestId":"req_3c3b532e785052b7da","message":{"id":"msg_019788042cf50cf469",` +
				`"content":[{"type":"thinking","thinking":"","signature":"EqQBCkYIBxgCKkAx7Zt3LmX7vKp2RcW9yNb4HdF6sGj1TaU=="},` +
				`{"type":"tool_use","id":"toolu_01A2b3C4d5E6f7G8h9J0k1L2","input":{"token":"string","password":null}}]},` +
				`"shapeHash":"9717efeaa19e81820e71747a326542ef898b570ff0e616eb44ba540713a60dd0"}`, "",
		},
		{"an empty line and nothing else", "\n", ""},
		{"no line end", `{"a":[true,false,null,-1.5e3,"x",{}]}`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.want == "" {
				tt.want = tt.in
			}
			before := strings.Clone(tt.in)
			segment := []byte(tt.in)
			got, err := JSONLines(segment)
			gittest.Must(t, err)
			if string(got) != tt.want {
				t.Errorf("JSONLines(%s)\n got %s\nwant %s", tt.in, got, tt.want)
			}
			if string(segment) != before {
				t.Errorf("JSONLines changed its argument to %s", segment)
			}
			checkLines(t, segment, got)
		})
	}
}

// A line may have any length and depth.
func TestLongLines(t *testing.T) {
	t.Parallel()
	image := strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", 200000) // 8.8 MB
	in := `{"data":"` + image + `","text":"` + strings.Repeat(`word\n`, 1000000) + fakeToken + `"}`
	got, err := JSONLines([]byte(in))
	gittest.Must(t, err)
	if want := strings.Replace(in, fakeToken, "[redacted:github-token]", 1); string(got) != want {
		t.Errorf("a line of %d MB is not what it should be", len(in)>>20)
	}

	deep := strings.Repeat(`[`, 9000) + `"` + fakeToken + `"` + strings.Repeat(`]`, 9000)
	if got, err := JSONLines([]byte(deep)); err != nil || strings.Contains(string(got), fakeToken) || !json.Valid(got) {
		t.Errorf("9,000 arrays in each other: %v", err)
	}
	tooDeep := strings.Repeat(`[`, 20000) + `"` + fakeToken + `"` + strings.Repeat(`]`, 20000)
	if got, err := JSONLines([]byte(tooDeep)); err != nil || strings.Contains(string(got), fakeToken) {
		t.Errorf("20,000 arrays in each other: %v", err)
	}
}

// checkLines checks the promises of JSONLines about lines.
func checkLines(t *testing.T, before, after []byte) {
	t.Helper()
	was, is := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	all := true
	for _, line := range was {
		all = all && json.Valid([]byte(line))
	}
	if len(was) != len(is) {
		// A foreign text may lose line ends; lines of JSON may not.
		if all {
			t.Errorf("%d lines became %d", len(was), len(is))
		}
		return
	}
	for i := range was {
		if json.Valid([]byte(was[i])) && !json.Valid([]byte(is[i])) {
			t.Errorf("line %d was valid JSON:\n%s\n%s", i+1, was[i], is[i])
		}
	}
}
