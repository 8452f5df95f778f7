package claude

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"gitagent/internal/transcript"
	"gitagent/test/agenttest"
	"gitagent/test/gittest"
)

const (
	oldID = "11111111-1111-4111-8111-111111111111"
	newID = "22222222-2222-4222-8222-222222222222"
)

// rebuilt passes the conversation to Rebuild in two segments and returns the whole file.
func rebuilt(conversation []byte, foreign bool) ([]byte, error) {
	half := bytes.IndexByte(conversation, '\n') + 1
	return rebuild(newID, foreign, conversation[:half], conversation[half:])
}

func rebuild(session string, foreign bool, segments ...[]byte) ([]byte, error) {
	file, err := agenttest.Rebuilt(Rebuild(transcript.Cut{Lines: agenttest.Lines(segments...), Session: session, Foreign: foreign}))
	if err != nil {
		return nil, err
	}
	return file.Content(), nil
}

// Ids of records, as the client makes them.
const (
	u1 = "00000000-0000-4000-8000-000000000001"
	u2 = "00000000-0000-4000-8000-000000000002"
	u3 = "00000000-0000-4000-8000-000000000003"
	u4 = "00000000-0000-4000-8000-000000000004"
)

func TestRebuild(t *testing.T) {
	t.Parallel()
	const (
		user      = `{"parentUuid":null,"type":"user","uuid":"` + u1 + `","sessionId":"` + oldID + `","message":{"role":"user","content":"say \"sessionId\":\"` + oldID + `\" \u00e9 <b>"}}`
		assistant = `{ "type" : "assistant", "uuid":"` + u2 + `","parentUuid":"` + u1 + `",  "message":{"content":[]},"sessionId": "` + oldID + `" }`
		content   = `{"type":"content-replacement","sessionId":"` + oldID + `","replacements":[{"id":"t1"}]}`
	)
	said := strings.Replace(user, `"sessionId":"`+oldID, `"sessionId":"`+newID, 1)
	answered := strings.ReplaceAll(assistant, oldID, newID)
	for _, tt := range []struct {
		name, in, want string
		err            error
	}{
		{name: "only the record's own session id changes", in: user + "\n" + assistant + "\n", want: said + "\n" + answered + "\n"},
		{
			name: "what belongs to the old session is left", want: said + "\n",
			in: user + "\n" +
				`{"type":"worktree-state","sessionId":"` + oldID + `","worktreeSession":{"worktreePath":"/home/dev/wt"}}` + "\n" +
				`{"type":"relocated","sessionId":"` + oldID + `"}` + "\n" +
				`{"type":"queue-operation","operation":"enqueue","sessionId":"` + oldID + `"}` + "\n" +
				`{"type":"last-prompt","leafUuid":"` + u1 + `"}` + "\n" +
				`{"type":"api-request","parent":"parentUuid"}` + "\n" +
				`{"type":"file-history-snapshot","snapshot":{"parentUuid":"x"}}` + "\n",
		},
		{
			name: "what stands in for large outputs stays", in: user + "\n" + content + "\n",
			want: said + "\n" + strings.ReplaceAll(content, oldID, newID) + "\n",
		},
		{
			name: "torn, empty and garbage lines are left", want: said + "\n",
			in: "\n\x00\x00\nnot json\n[1]\n" + `{"type":"user","parentUuid":` + "\n" + user + "\n\n" + assistant[:40],
		},
		{name: "a last line without its end is whole", in: user, want: said + "\n"},
		{
			name: "a chain record without a session id", in: user + "\n" + `{"parentUuid":"u1","type":"system","subtype":"informational"}` + "\n",
			want: said + "\n" + `{"parentUuid":"u1","type":"system","subtype":"informational"}` + "\n",
		},
		{name: "nothing at all", err: transcript.ErrEmpty},
		{name: "nothing but garbage", in: "garbage\n", err: transcript.ErrEmpty},
		{name: "nobody has said anything", in: `{"parentUuid":null,"type":"attachment","uuid":"x","attachment":{"type":"date"}}` + "\n", err: transcript.ErrEmpty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := []byte(tt.in)
			got, err := rebuilt(in, false)
			if !errors.Is(err, tt.err) {
				t.Fatalf("Rebuild: %v, want %v", err, tt.err)
			}
			if string(got) != tt.want {
				t.Errorf("Rebuild =\n%s, want\n%s", got, tt.want)
			}
			if string(in) != tt.in {
				t.Error("Rebuild has changed what it was given")
			}
		})
	}
}

// Of one's own conversation everything stays, known or not, but what makes the client act and what is the source
// session's. Each stands between a question and its answer.
func TestRebuildOwn(t *testing.T) {
	t.Parallel()
	const (
		asked    = `{"parentUuid":null,"type":"user","uuid":"` + u1 + `","message":{"role":"user","content":"hello"}}` + "\n"
		links    = `"parentUuid":"` + u1 + `","uuid":"` + u2 + `"`
		answer   = `","type":"assistant","uuid":"` + u3 + `","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}` + "\n"
		answered = `{"parentUuid":"` + u2 + answer // what it was an answer to is there
		relinked = `{"parentUuid":"` + u1 + answer // it was left out
	)
	for _, tt := range []struct {
		name, in string
		want     string // "=" if it is the same, "" if the record is left out
	}{
		{name: "an attachment that nobody knows", in: `{` + links + `,"type":"attachment","attachment":{"type":"future","x":[1]},"rendered":[{"content":"x"}],"renderedRole":"system"}`, want: "="},
		{name: "instructions of an MCP server", in: `{` + links + `,"type":"attachment","attachment":{"type":"mcp_instructions_delta","addedNames":["s"],"addedBlocks":["## s"],"removedNames":[]}}`, want: "="},
		{name: "words of the user's in mid-turn", in: `{` + links + `,"type":"attachment","attachment":{"type":"queued_command","prompt":"x","commandMode":"prompt","hostsOwnTurn":true,"future":1}}`, want: "="},
		{name: "a record that nobody knows", in: `{` + links + `,"type":"future","message":"x","attachment":"x","toolUseResult":[1]}`, want: "="},
		{name: "a system record that nobody knows", in: `{` + links + `,"type":"system","subtype":"future","content":"x"}`, want: "="},
		{name: "fields that nobody knows", in: `{` + links + `,"type":"user","x":{"cwd":"y"},"message":{"role":"user","content":"x","x":1},"toolUseResult":{"x":{"id":1}}}`, want: "="},
		{name: "a block that nobody knows", in: `{` + links + `,"type":"user","message":{"role":"user","content":[{"type":"future","source":{"type":"url"},"source":1}]}}`, want: "="},
		{name: "an image from elsewhere", in: `{` + links + `,"type":"user","message":{"role":"user","content":[{"type":"image","source":{"type":"file","file_id":"x"}}]}}`, want: "="},
		{name: "which agent it is", in: `{"type":"agent-setting","agentSetting":"reviewer"}`, want: "="},
		{
			name: "messages that were taken back, and a model for it",
			in:   `{` + links + `,"type":"system","subtype":"model_refusal_fallback","retractedMessageUuids":["` + u4 + `"],"fallbackModel":"x"}`,
			want: `{"neutralizedByFork":true,` + links + `,"type":"system","subtype":"model_refusal_fallback","retractedMessageUuids":["` + u4 + `"],"fallbackModel":"x"}`,
		},
		{
			name: "the same in a fork's fork",
			in:   `{"neutralizedByFork":true,` + links + `,"type":"system","subtype":"model_refusal_fallback"}`,
			want: "=",
		},
		{
			name: "where it was and what it might do",
			in:   `{"cwd":"/home/dev/x",` + links + `,"slug":"x","type":"user","permissionMode":"plan","gitBranch":"x","isSidechain":false,"agentId":"a","teamName":"t","forkedFrom":{"sessionId":"x"},"message":{"role":"user","content":"x"}}`,
			want: `{` + links + `,"type":"user","isSidechain":false,"message":{"role":"user","content":"x"}}`,
		},
		{
			name: "the same in another spelling",
			in:   `{"\u0063wd":"/home/dev/x",` + links + `,"type":"user","message":{"role":"user","content":"x"}}`,
			want: `{` + links + `,"type":"user","message":{"role":"user","content":"x"}}`,
		},
		{
			name: "work in the background, and a prompt for later",
			in:   `{` + links + `,"type":"user","timestamp":"2026-11-22T10:00:00Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"toolUseResult":{"id":"cron","stdout":"x","outputFile":"/home/dev/x","backgroundTaskId":"b","x":1}}`,
			want: `{` + links + `,"type":"user","timestamp":` + never + `,"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"toolUseResult":{"stdout":"x","x":1}}`,
		},
		{
			name: "a file to be read again",
			in:   `{` + links + `,"type":"attachment","attachment":{"type":"edited_text_file","filename":"/home/dev/x","rereadEntry":{"timestamp":1},"snippet":"x"}}`,
			want: `{` + links + `,"type":"attachment","attachment":{"type":"edited_text_file","filename":"/home/dev/x","snippet":"x"}}`,
		},
		{name: "a tool that is yet to be run", in: `{` + links + `,"type":"attachment","attachment":{"type":"hook_deferred_tool","toolUseID":"t"}}`},
		{name: "the same behind another type", in: `{` + links + `,"type":"attachment","attachment":{"type":"date","type":"hook_deferred_tool"}}`},
		{name: "a plan to be written to a file", in: `{` + links + `,"type":"system","subtype":"file_snapshot","snapshotFiles":[]}`},
		{name: "another directory", in: `{` + links + `,"type":"worktree-state"}`},
		{name: "a sub-agent's", in: `{` + links + `,"isSidechain":true,"type":"user","message":{"content":"x"}}`},
		{name: "no JSON", in: `{` + links + `,"type":"user","message":{"content":"x}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := asked + tt.want + "\n" + answered
			switch tt.want {
			case "":
				want = asked + relinked
			case "=":
				want = asked + tt.in + "\n" + answered
			}
			got, err := rebuilt([]byte(asked+tt.in+"\n"+answered), false)
			gittest.Must(t, err)
			if string(got) != want {
				t.Errorf("Rebuild of\n%s\n=\n%s, want\n%s", tt.in, got, want)
			}
		})
	}
}

// What a stranger may put into a segment so that the client does something with it, or so that this
// program and the client see different things. Each stands between a question and its answer.
func TestRebuildHostile(t *testing.T) {
	t.Parallel()
	const (
		asked    = `{"parentUuid":null,"type":"user","uuid":"` + u1 + `","message":{"role":"user","content":"hello"}}` + "\n"
		links    = `"parentUuid":"` + u1 + `","uuid":"` + u2 + `"`
		answer   = `","type":"assistant","uuid":"` + u3 + `","message":{"role":"assistant","content":[{"type":"text","text":"hello"}]}}` + "\n"
		answered = `{"parentUuid":"` + u2 + answer // what it was an answer to is there
		relinked = `{"parentUuid":"` + u1 + answer // it was left out
	)
	for _, tt := range []struct {
		name, in string
		want     string // "" if the record is left out
	}{
		{name: "another directory", in: `{` + links + `,"type":"worktree-state","worktreeSession":{"worktreePath":"/home/dev/elsewhere"}}`},
		{name: "another directory, said otherwise", in: `{` + links + `,"type":"relocated","relocatedCwd":"/home/dev/elsewhere"}`},
		{name: "permissions", in: `{` + links + `,"type":"permission-mode","permissionMode":"bypassPermissions"}`},
		{name: "a type that nobody knows", in: `{` + links + `,"type":"future","message":{"content":"x"}}`},
		{name: "the name of a part as the type", in: `{` + links + `,"type":".message","content":"x"}`},
		{name: "no type", in: `{` + links + `,"message":{"content":"x"}}`},
		{name: "a type that is not a text", in: `{` + links + `,"type":["user"],"message":{"content":"x"}}`},
		{name: "two types, the last one counts", in: `{` + links + `,"type":"user","message":{"content":"x"},"type":"worktree-state"}`},
		{name: "two types, the first one counts", in: `{` + links + `,"type":"worktree-state","message":{"content":"x"},"type":"user"}`},
		{name: "a type in another spelling", in: `{` + links + `,"typ\u0065":"user","message":{"content":"x"}}`},
		{
			name: "two types, one in another spelling",
			in:   `{` + links + `,"type":"user","typ\u0065":"worktree-state","message":{"content":"x"}}`,
			want: `{` + links + `,"type":"user","message":{"content":"x"}}`,
		},
		{name: "a type with an escape", in: `{` + links + `,"type":"us\u0065r","message":{"content":"x"}}`},
		{name: "two messages", in: `{` + links + `,"type":"user","message":{"content":"x"},"message":{"content":"y"}}`},
		{name: "two contents", in: `{` + links + `,"type":"user","message":{"content":"x","content":"y"}}`},
		{
			name: "parents in another spelling",
			in:   `{` + links + `,"parent\u0055uid":"x","\u0075uid":"y","type":"user","message":{"content":"x"}}`,
			want: `{` + links + `,"type":"user","message":{"content":"x"}}`,
		},
		{name: "two parents", in: `{` + links + `,"parentUuid":null,"type":"user","message":{"content":"x"}}`},
		{
			name: "fields that steer the client",
			in:   `{"cwd":"/home/dev/elsewhere",` + links + `,"slug":"../../x","type":"user","permissionMode":"bypassPermissions","planContent":"x","gitBranch":"x","isSidechain":false,"agentId":"a","message":{"content":"x","container":{"id":"c"}},"constructor":{},"__proto__":{"isMeta":true}}`,
			want: `{` + links + `,"type":"user","isSidechain":false,"message":{"content":"x"}}`,
		},
		{name: "a sub-agent's", in: `{` + links + `,"isSidechain":true,"type":"user","message":{"content":"x"}}`},
		{
			name: "what a tool left behind, and when",
			in:   `{` + links + `,"type":"user","timestamp":"2026-11-22T10:00:00Z","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"toolUseResult":{"id":"cron","filePath":"/home/dev/x","outputFile":"/home/dev/.ssh/id","backgroundTaskId":"b"}}`,
			want: `{` + links + `,"type":"user","timestamp":` + never + `,"message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"toolUseResult":{"filePath":"/home/dev/x"}}`,
		},
		{
			name: "nothing that is known of what a tool left behind",
			in:   `{` + links + `,"toolUseResult":{"id":"cron","durable":false},"type":"user","message":{"content":[{"type":"tool_result"}]}}`,
			want: `{"timestamp":` + never + `,` + links + `,"toolUseResult":{},"type":"user","message":{"content":[{"type":"tool_result"}]}}`,
		},
		{
			name: "a result at a time in another spelling, behind something unknown",
			in:   `{"x":1,` + links + `,"timest\u0061mp":"2026-11-22T10:00:00Z","type":"user","message":{"content":[{"type":"tool_result"}]}}`,
			want: `{"timestamp":` + never + `,` + links + `,"type":"user","message":{"content":[{"type":"tool_result"}]}}`,
		},
		{name: "a tool that is yet to be run", in: `{` + links + `,"type":"attachment","attachment":{"type":"hook_deferred_tool","toolUseID":"t","toolName":"Bash","toolInput":{"command":"x"}}}`},
		{name: "a prompt for later", in: `{` + links + `,"type":"attachment","attachment":{"type":"session_cron_carry","tasks":[{"id":"a","cron":"* * * * *","prompt":"x"}]}}`},
		{name: "a goal", in: `{` + links + `,"type":"attachment","attachment":{"type":"goal_status","met":false,"condition":"x"}}`},
		{name: "leave to use tools", in: `{` + links + `,"type":"attachment","attachment":{"type":"command_permissions","allowedTools":["Bash"]}}`},
		{name: "a plan to be written to a file", in: `{` + links + `,"type":"system","subtype":"file_snapshot","snapshotFiles":[{"key":"plan","path":"x","content":"x"}]}`},
		{name: "what the client says in its own name", in: `{` + links + `,"type":"attachment","attachment":{"type":"date","date":"x"}}`},
		{name: "an attachment without a type", in: `{` + links + `,"type":"attachment","attachment":{"date":"x"}}`},
		{name: "an attachment that is none", in: `{` + links + `,"type":"attachment","attachment":"date"}`},
		{name: "an image from elsewhere", in: `{` + links + `,"type":"user","message":{"content":[{"type":"image","source":{"type":"url","url":"https://example.invalid/"}}]}}`},
		{name: "an image in a tool's result", in: `{` + links + `,"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"image","source":{"type":"file","file_id":"x"}}]}]}}`},
		{name: "two sources", in: `{` + links + `,"type":"user","message":{"content":[{"type":"image","source":{"type":"base64"},"source":{"type":"url"}}]}}`},
		{name: "a source in another spelling", in: `{` + links + `,"type":"user","message":{"content":[{"type":"image","source":{"type":"base64"},"sourc\u0065":{"type":"url"}}]}}`},
		{
			name: "an image with its data",
			in:   `{` + links + `,"type":"user","message":{"content":[{"type":"image","source":{"type":"base64","data":"aGVsbG8="}}]}}`,
			want: `{` + links + `,"type":"user","message":{"content":[{"type":"image","source":{"type":"base64","data":"aGVsbG8="}}]}}`,
		},
		{name: "a block of an unknown kind", in: `{` + links + `,"type":"user","message":{"content":[{"type":"container_upload","file_id":"x"}]}}`},
		{
			name: "parts of what is cut out",
			in:   `{"message":{"x":1,"content":[{"type":"tool_result"}]},"rendered":[{"x":1}],` + links + `,"timestamp":"x","type":"system","subtype":"informational","toolUseResult":{"x":1}}`,
			want: `{` + links + `,"timestamp":` + never + `,"type":"system","subtype":"informational"}`,
		},
		{name: "brackets without end", in: `{` + links + `,"type":"user","message":{"content":` + strings.Repeat("[", 5_000_000)},
		{name: "brackets, closed", in: `{` + links + `,"type":"user","message":{"usage":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`},
		{name: "objects without end", in: `{` + links + `,"type":"user","x":` + strings.Repeat(`{"a":`, 1_000_000)},
		{name: "a NUL before it", in: "\x00" + `{` + links + `,"type":"worktree-state"}`, want: "-"},
		{name: "a NUL in a text", in: `{` + links + `,"type":"user","message":{"content":"` + "\x00" + `"}}`},
		{name: "a carriage return between fields", in: `{` + links + ",\r" + `"type":"user","message":{"content":"x"}}`},
		{name: "a carriage return at the end", in: `{` + links + `,"type":"user","message":{"content":"x"}}` + "\r"},
		{
			name: "lone surrogates, and ends of lines that are none",
			in:   `{` + links + `,"type":"user","message":{"content":"\ud800 \udc00\ud800 ` + "\u2028\u2029\u0085\xff" + ` \u0000 \r"}}`,
			want: `{` + links + `,"type":"user","message":{"content":"\ud800 \udc00\ud800 ` + "\u2028\u2029\u0085\xff" + ` \u0000 \r"}}`,
		},
		{name: "a text without end", in: `{` + links + `,"type":"user","message":{"content":"x}}`},
		{name: "an escape that is none", in: `{` + links + `,"type":"user","message":{"content":"\x"}}`},
		{name: "an escape cut short", in: `{` + links + `,"type":"user","message":{"content":"\u12"}}`},
		{name: "a comma too many", in: `{` + links + `,"type":"user","message":{"content":"x"},}`},
		{name: "a number that is none", in: `{` + links + `,"type":"user","turnPosition":01,"message":{"content":"x"}}`},
		{name: "a word that is none", in: `{` + links + `,"type":"user","isMeta":truf,"message":{"content":"x"}}`},
		{name: "more after it", in: `{` + links + `,"type":"user","message":{"content":"x"}}{"type":"worktree-state"}`},
		{name: "a link that is none", in: `{"parentUuid":{"type":"worktree-state"},"uuid":"` + u2 + `","type":"future"}`, want: "-"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := asked + tt.want + "\n" + answered
			switch tt.want {
			case "":
				want = asked + relinked
			case "-": // and nothing is known of where it was
				want = asked + answered
			}
			got, err := rebuilt([]byte(asked+tt.in+"\n"+answered), true)
			gittest.Must(t, err)
			if string(got) != want {
				t.Errorf("Rebuild of\n%.500s\n=\n%.900s, want\n%.900s", tt.in, got, want)
			}
		})
	}
}

// What follows records that were left out follows the last one that wasn't, however many they are.
func TestRebuildLinks(t *testing.T) {
	t.Parallel()
	const (
		first = `{"parentUuid":null,"type":"user","uuid":"` + u1 + `","message":{"content":"x"}}`
		in    = first + "\n" +
			`{"parentUuid":"` + u1 + `","type":"worktree-state","uuid":"` + u2 + `"}` + "\n" +
			`{"parentUuid":"` + u2 + `","type":"attachment","uuid":"` + u3 + `","attachment":{"type":"goal_status"}}` + "\n" +
			`{"parentUuid":null,"logicalParentUuid":"` + u3 + `","type":"system","uuid":"` + u4 + `","subtype":"compact_boundary"}` + "\n" +
			`{"parentUuid":"` + u3 + `","type":"user","uuid":"` + u2 + `","message":{"content":"x"}}` + "\n"
		want = first + "\n" +
			`{"parentUuid":null,"logicalParentUuid":"` + u1 + `","type":"system","uuid":"` + u4 + `","subtype":"compact_boundary"}` + "\n" +
			`{"parentUuid":"` + u1 + `","type":"user","uuid":"` + u2 + `","message":{"content":"x"}}` + "\n"
	)
	if got, err := rebuilt([]byte(in), false); err != nil || string(got) != want {
		t.Errorf("Rebuild = %v\n%s, want\n%s", err, got, want)
	}
	// One that was left out says that it comes after itself, or after the next.
	loop := first + "\n" +
		`{"parentUuid":"` + u2 + `","type":"worktree-state","uuid":"` + u2 + `"}` + "\n" +
		`{"parentUuid":"` + u4 + `","type":"worktree-state","uuid":"` + u3 + `"}` + "\n" +
		`{"parentUuid":"` + u3 + `","type":"worktree-state","uuid":"` + u4 + `"}` + "\n"
	if got, err := rebuilt([]byte(loop), false); err != nil || string(got) != first+"\n" {
		t.Errorf("Rebuild of a loop = %v\n%s", err, got)
	}
}

// The real client's files: all that is said is there as it was, in order, and so is what the client
// has shown to the model; every record follows one that is there, as it did before.
func TestRebuildReal(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.jsonl")
	more, _ := filepath.Glob("../../../testdata/transcripts/*.jsonl")
	if err != nil || len(files) == 0 || len(more) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	acting := byName(acts)
	for _, name := range append(files, more...) {
		data, err := os.ReadFile(name)
		gittest.Must(t, err)
		got, err := rebuilt(data, false)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var chain [][]byte
		for line := range bytes.Lines(got) {
			if kind := gjson.GetBytes(line, "type").Str; gjson.GetBytes(line, "parentUuid").Exists() {
				chain = append(chain, line)
			} else if cut, ok := acting[kind]; ok && len(cut) == 0 {
				t.Errorf("%s: there is more: %.200s", name, line)
			}
			if got := gjson.GetBytes(line, "sessionId"); got.Exists() && got.Str != newID {
				t.Errorf("%s: of session %s: %.200s", name, got, line)
			}
		}
		left := map[string]string{} // parents of what was left out
		for line := range bytes.Lines(data) {
			field := func(path string) string { return gjson.GetBytes(line, path).Raw }
			if field("parentUuid") == "" {
				continue
			}
			if field("attachment.type") == `"command_permissions"` {
				left[field("uuid")] = field("parentUuid")
				continue
			}
			if len(chain) == 0 {
				t.Fatalf("%s: there is nothing in the place of\n%.300s", name, line)
			}
			var fresh []byte
			fresh, chain = chain[0], chain[1:]
			for _, path := range []string{"uuid", "logicalParentUuid", "promptId", "message", "rendered", "attachment.type", "subtype", "content", "compactMetadata"} {
				if got, want := gjson.GetBytes(fresh, path).Raw, field(path); got != want {
					t.Fatalf("%s: in the place of\n%.300s\nis\n%.300s", name, line, fresh)
				}
			}
			want := field("parentUuid")
			if before, ok := left[want]; ok {
				want = before
			}
			if got := gjson.GetBytes(fresh, "parentUuid").Raw; got != want {
				t.Errorf("%s: %s follows %s, want %s", name, field("uuid"), got, want)
			}
		}
		if len(chain) > 0 {
			t.Errorf("%s: there is more: %.200s", name, chain[0])
		}
	}
}

func TestPath(t *testing.T) {
	t.Parallel()
	long := "/home/dev/" + strings.Repeat("a", 190)
	for _, tt := range []struct{ name, dir, want string }{
		{"letters and digits stay", "/home/dev/Repo-1", "-home-dev-Repo-1"},
		{"everything else is a dash", "/home/dev/my repo_v1.2@x", "-home-dev-my-repo-v1-2-x"},
		{"a character is a dash", "/home/dev/日本", "-home-dev---"},
		{"one of two UTF-16 units is two", "/home/dev/👍", "-home-dev---"},
		{"accents", "/home/dev/é", "-home-dev--"},
		{"200 units are not cut", long, "-home-dev-" + strings.Repeat("a", 190)},
		// The hash was computed with: h = 0; for each UTF-16 unit u: h = int32(31*h + u).
		{"201 are", long + "b", "-home-dev-" + strings.Repeat("a", 190) + "-barng9"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := filepath.Join("/home/dev/.claude", "projects", tt.want, newID+".jsonl")
			if got := Path("/home/dev/.claude", tt.dir, newID); got != want {
				t.Errorf("Path(%q) = %s, want %s", tt.dir, got, want)
			}
		})
	}
}
