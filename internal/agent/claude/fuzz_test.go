package claude

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"testing"
	"unicode/utf8"

	"gitagent/internal/transcript"
	"gitagent/test/gittest"
)

// seed adds the real sessions: whole, and their lines one by one.
func seed(f *testing.F) {
	for name := range sessions {
		b := recorded(f, name)
		f.Add(b)
		for _, line := range lines(b) {
			f.Add(line)
		}
	}
}

// FuzzTurns checks that turns are whole lines, in order and without overlap, and that a turn taken
// alone is one turn with the same start.
func FuzzTurns(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, segment []byte) {
		turns := transcript.Turns(new(reader), segment)
		checkRanges(t, segment, turns)
		for _, turn := range turns {
			if !utf8.ValidString(turn.Prompt) {
				t.Errorf("prompt %q is not UTF-8", turn.Prompt)
			}
			if turn.Origin == "" {
				continue // where a turn of an old client starts depends on the records before it
			}
			alone := transcript.Turns(new(reader), segment[turn.Start:turn.End])
			if len(alone) != 1 {
				t.Fatalf("%+v alone is %+v", turn, alone)
			}
			turn.End -= turn.Start
			turn.Start = 0
			if !reflect.DeepEqual(alone[0], turn) {
				t.Errorf("%+v alone is %+v", turn, alone[0])
			}
		}
	})
}

// FuzzSummarise checks that no figure is negative, no text is invalid, and that lines which are not
// records change nothing.
func FuzzSummarise(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, turn []byte) {
		s := transcript.Summarise(new(reader), turn)
		if s.Context < 0 || s.Output < 0 || s.Compactions < 0 {
			t.Errorf("negative: %+v", s)
		}
		for _, text := range append(s.Queued, s.Prompt, s.Reply, s.Model) {
			if !utf8.ValidString(text) {
				t.Errorf("%q is not UTF-8", text)
			}
		}
		noise := []byte("\n\x00{\"type\":\"user\"\n[]\n")
		if again := transcript.Summarise(new(reader), append(append(noise, turn...), noise...)); !reflect.DeepEqual(again, s) {
			t.Errorf("with noise around it: %+v, without: %+v", again, s)
		}
	})
}

// FuzzRebuild checks that all of a stranger's file is on the list when it is rebuilt, as encoding/json reads it:
// every line is an object of a known type with known fields, none of them twice, of the new session, and with nothing
// that lies elsewhere. Of one's own nothing is on the list of what acts. To rebuild it once more changes nothing.
func FuzzRebuild(f *testing.F) {
	seed(f)
	f.Add([]byte(`{"parentUuid":null,"type":"user","sessionId":{"a":1},"sessionId":"b"}`))
	f.Add([]byte(`{"parentUuid":null,"type":"user","session\u0049d":"b","message":{"content":[{"type":"tool_result"}]},"x":[],"timestamp":1}`))
	f.Add([]byte(`{"message":{"x":1},"toolUseResult":{"x":1,"y":2,"type":"","z":[]},"rendered":[],"type":"content-replacement"}`))
	f.Add([]byte(`{"type":"attachment","attachment":{"type":"date","x":-0.1e+5}}` + "\n" + `{"type":"system","subtype":"informational","type":"user"}`))
	const session = `22222222-2222-4222-8222-22222222222"`
	id, err := json.Marshal(session)
	gittest.Must(f, err)
	table, acting := byName(known), byName(acts)
	f.Fuzz(func(t *testing.T, data []byte) {
		for line := range bytes.Lines(remade(t, data, session, false)) {
			if !json.Valid(line) {
				t.Fatalf("%q is not JSON", line)
			}
			var record map[string]json.RawMessage
			gittest.Must(t, json.Unmarshal(line, &record))
			kind := str(record["type"])
			if kind == "system" {
				kind += " " + str(record["subtype"])
			}
			inert(t, line, record, acting, kind, "record")
			if s, ok := record["sessionId"]; ok && !bytes.Equal(s, id) {
				t.Errorf("%q is of session %s", line, s)
			}
			for _, part := range []string{"attachment", "toolUseResult"} {
				var object map[string]json.RawMessage
				if json.Unmarshal(record[part], &object) == nil {
					inert(t, line, object, acting, "."+part+" "+str(object["type"]), "."+part)
				}
			}
		}
		got := remade(t, data, session, true)
		for _, line := range lines(got) {
			if !json.Valid(line) {
				t.Fatalf("%q is not JSON", line)
			}
			record := object(t, line)
			name := str(record["type"])
			if name == "system" {
				name += " " + str(record["subtype"])
			}
			check(t, line, record, table, name)
			if s, ok := record["sessionId"]; ok && !bytes.Equal(s, id) {
				t.Errorf("%q is of session %s", line, s)
			}
			if s, ok := record["isSidechain"]; ok && string(s) != "false" {
				t.Errorf("%q is a sub-agent's", line)
			}
			for _, part := range []string{"message", "attachment", "toolUseResult"} {
				value, ok := record[part]
				if !ok || value[0] != '{' {
					continue
				}
				object := object(t, value)
				name := "." + part
				if part == "attachment" {
					name += " " + str(object["type"])
				}
				check(t, line, object, table, name)
				checkContent(t, line, object["content"], part == "message")
			}
			checkContent(t, line, record["rendered"], true)
		}
	})
}

// remade rebuilds data, nil if nothing was said, and fails the test unless once more changes nothing.
func remade(t *testing.T, data []byte, session string, foreign bool) []byte {
	got, err := rebuild(session, foreign, data)
	if err != nil {
		return nil
	}
	again, err := rebuild(session, foreign, got)
	if err != nil || !bytes.Equal(again, got) {
		t.Fatalf("once more gives %v\n%q, want\n%q", err, again, got)
	}
	return got
}

// inert fails the test if a line has an object, or a field of it, that makes the client act.
func inert(t *testing.T, line []byte, object map[string]json.RawMessage, table map[string]fields, name, kind string) {
	if cut, ok := table[name]; ok && len(cut) == 0 {
		t.Errorf("%q has %q", line, name)
	}
	for key := range object {
		if table[kind][key] != 0 && key != "neutralizedByFork" {
			t.Errorf("%q has the field %q", line, key)
		}
	}
}

// check fails the test if a line has a field that isn't known by name.
func check(t *testing.T, line []byte, object map[string]json.RawMessage, table map[string]fields, name string) {
	known, ok := table[name]
	if !ok {
		t.Fatalf("%q has %q, which is not known", line, name)
	}
	for key := range object {
		if known[key] == 0 {
			t.Errorf("%q has the field %q, which is not known of %q", line, key, name)
		}
	}
}

// checkContent fails the test if something is said that lies elsewhere, or that is of an unknown kind.
func checkContent(t *testing.T, line []byte, content json.RawMessage, said bool) {
	if !said || len(content) == 0 || content[0] != '[' {
		return
	}
	var all []json.RawMessage
	gittest.Must(t, json.Unmarshal(content, &all))
	for _, b := range all {
		if b[0] != '{' {
			continue
		}
		block := object(t, b)
		if kind, ok := block["type"]; ok && !slices.Contains(blocks, str(kind)) {
			t.Errorf("%q has a block %q", line, kind)
		}
		checkContent(t, line, block["content"], true)
		if source := block["source"]; len(source) > 0 && source[0] == '{' {
			if kind, ok := object(t, source)["type"]; ok && !slices.Contains(sources, str(kind)) {
				t.Errorf("%q has a source %q", line, kind)
			}
		}
	}
}

// object decodes an object and fails the test if a key that is on a list is there twice.
func object(t *testing.T, data []byte) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	d := json.NewDecoder(bytes.NewReader(data))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		t.Fatalf("%q is not an object: %v", data, err)
	}
	for d.More() {
		key, err := d.Token()
		gittest.Must(t, err)
		var value json.RawMessage
		gittest.Must(t, d.Decode(&value))
		name := key.(string)
		if _, twice := all[name]; twice && slices.Contains([]string{"type", "source", "content", "message", "attachment", "sessionId"}, name) {
			t.Errorf("%q has %q twice", data, name)
		}
		all[name] = value
	}
	return all
}

// str decodes a string; anything else is "".
func str(data json.RawMessage) (s string) {
	json.Unmarshal(data, &s)
	return s
}

// FuzzValid checks that we know JSON when we see it.
func FuzzValid(f *testing.F) {
	seed(f)
	for _, line := range []string{"", " ", "{}", " {}", "[1,]", "{\t}", "\"\t\"", `{"a":1}}`, `01`, `-`, `1e5`, `"\u12"`, "true", "nulls", `{"a" : [ ] , "b":{}}`} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if got, want := valid(line), json.Valid(line); got != want {
			t.Errorf("valid(%q) = %v", line, got)
		}
	})
}
