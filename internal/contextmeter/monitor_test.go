package contextmeter

import (
	"strings"
	"testing"

	"gitagent/internal/config"
)

// settings are the defaults: 50 % and 65 %, every fifth event.
func settings() *config.Context { return &config.Default().Context }

// sonnet is a model whose window the table has: 200,000.
const sonnet = "claude-sonnet-4-5-20250929"

// A step is something that happens to a session, and the message that follows.
type step struct {
	tokens int64 // found by a look; -1 for a file without figures
	rearm  bool  // a compaction or a clear, in place of an event
	want   Notice
}

// play sends the steps to a new state as events of one tool call each.
func play(t *testing.T, c *config.Context, steps []step) {
	t.Helper()
	s := &Memory{V: Version}
	for i, x := range steps {
		if x.rearm {
			s.Rearm()
			continue
		}
		got := None
		if s.Event(1) {
			if x.tokens < 0 {
				got = s.Blind(c.FallbackToolCount, c.CheckFrequency)
			} else {
				s.Saw(x.tokens, sonnet, "", 0)
				got = s.Judge(s.Limits(c), c.CheckFrequency)
			}
		}
		if got != x.want {
			t.Errorf("step %d, %d tokens: said %d, want %d", i+1, x.tokens, got, x.want)
		}
	}
}

func TestEachMessageOncePerCycle(t *testing.T) {
	t.Parallel()
	every := settings()
	every.CheckFrequency = 1
	for _, tt := range []struct {
		name  string
		steps []step
	}{
		{"below", []step{{tokens: 1}, {tokens: 99_999}, {tokens: 99_999}}},
		{"warning, then critical", []step{
			{tokens: 99_999},
			{tokens: 100_000, want: Warning},
			{tokens: 110_000},
			{tokens: 129_999},
			{tokens: 130_000, want: Critical},
			{tokens: 131_000},
			{tokens: 199_000},
		}},
		{"critical at once", []step{{tokens: 150_000, want: Critical}, {tokens: 150_000}}},
		{"falls below critical: no softer message", []step{{tokens: 150_000, want: Critical}, {tokens: 110_000}}},
		{"falls and rises", []step{{tokens: 100_000, want: Warning}, {tokens: 50_000}, {tokens: 100_000}, {tokens: 140_000, want: Critical}, {tokens: 10_000}, {tokens: 140_000}}},
		{"compacted", []step{
			{tokens: 100_000, want: Warning},
			{tokens: 130_000, want: Critical},
			{rearm: true},
			{tokens: 20_000},
			{tokens: 100_000, want: Warning},
			{tokens: 130_000, want: Critical},
		}},
		{"compacted, and still above", []step{
			{tokens: 150_000, want: Critical},
			{rearm: true},
			{rearm: true}, // PreCompact and SessionStart
			{tokens: 120_000, want: Warning},
			{tokens: 110_000},
			{tokens: 105_000},
			{tokens: 119_000},
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			play(t, every, tt.steps)
		})
	}
}

func TestFrequency(t *testing.T) {
	t.Parallel()
	play(t, settings(), []step{
		{tokens: 100}, // looked at
		{tokens: 120_000},
		{tokens: 120_000},
		{tokens: 120_000},
		{tokens: 120_000},
		{tokens: 79_999}, // looked at
		{tokens: 120_000},
		{tokens: 120_000},
		{tokens: 120_000},
		{tokens: 120_000},
		{tokens: 80_000},                 // looked at: near
		{tokens: 120_000, want: Warning}, // from now on always
		{tokens: 129_000},
		{tokens: 131_000, want: Critical},
		{rearm: true},
		{tokens: 1000}, // looked at
		{tokens: 199_000},
	})
}

func TestFallback(t *testing.T) {
	t.Parallel()
	c := settings()
	c.FallbackToolCount, c.CheckFrequency = 3, 1
	play(t, c, []step{
		{tokens: -1},
		{tokens: -1},
		{tokens: -1, want: Reminder},
		{tokens: -1},
		{tokens: 100_000, want: Warning}, // the file is there after all
		{tokens: -1},
		{rearm: true},
		{tokens: -1},
		{tokens: -1},
		{tokens: -1, want: Reminder},
	})
	// Calls count even where nobody looks, and a batch counts all its calls.
	s := &Memory{}
	s.Event(2)
	if got := s.Blind(8, 3); got != None {
		t.Errorf("after 2 calls: %d", got)
	}
	for i, want := range []bool{false, false, true} {
		if got := s.Event(i + 1); got != want {
			t.Errorf("event %d is taken for a look: %t, want %t", i+1, got, want)
		}
	}
	if got := s.Blind(8, 3); got != Reminder {
		t.Errorf("after 8 calls: %d", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	tokens := settings()
	tokens.Warning, tokens.Critical = config.Limit{Tokens: 60_000}, config.Limit{Tokens: 90_000}
	learned := settings()
	learned.Learned = map[string]int{sonnet: 164_000}
	for _, tt := range []struct {
		name  string
		state Memory
		c     *config.Context
		want  Limits
	}{
		{"a model of 200,000", Memory{Model: sonnet}, settings(), Limits{200_000, Settings, 100_000, 130_000}},
		{"a model of a million", Memory{Model: "claude-opus-4-8"}, settings(), Limits{1_000_000, Settings, 500_000, 650_000}},
		{"an unknown model", Memory{Model: "some-model"}, settings(), Limits{1_000_000, Settings, 500_000, 650_000}},
		{"no model", Memory{}, settings(), Limits{1_000_000, Settings, 500_000, 650_000}},
		{"[1m]", Memory{Model: sonnet, Variant: "claude-sonnet-4-5[1m]"}, settings(), Limits{1_000_000, Chosen, 500_000, 650_000}},
		{"[1m] of the model before", Memory{Model: sonnet, Variant: "claude-opus-4-6[1m]"}, settings(), Limits{200_000, Settings, 100_000, 130_000}},
		{"not [1m]", Memory{Model: sonnet, Variant: "claude-sonnet-4-5"}, settings(), Limits{200_000, Settings, 100_000, 130_000}},
		{"as the client says", Memory{Model: sonnet, Window: 258_400}, settings(), Limits{258_400, Client, 129_200, 167_960}},
		{"more seen than the client says", Memory{Model: sonnet, Window: 258_400, Most: 300_000}, settings(), Limits{1_000_000, Observed, 500_000, 650_000}},
		{"learned", Memory{Model: sonnet}, learned, Limits{164_000, Learned, 82_000, 106_600}},
		{"learned, and more seen", Memory{Model: sonnet, Most: 166_000}, learned, Limits{166_000, Learned, 83_000, 107_900}},
		{"learned, and more seen than there is", Memory{Model: sonnet, Most: 250_000}, learned, Limits{1_000_000, Observed, 500_000, 650_000}},
		{"learned of another model", Memory{Model: "claude-opus-4-6"}, learned, Limits{200_000, Settings, 100_000, 130_000}},
		{"learned, but the client says", Memory{Model: sonnet, Window: 258_400}, learned, Limits{258_400, Client, 129_200, 167_960}},
		{"as much as there is", Memory{Model: sonnet, Most: 200_000}, settings(), Limits{200_000, Settings, 100_000, 130_000}},
		{"more seen than there is", Memory{Model: sonnet, Most: 200_001}, settings(), Limits{1_000_000, Observed, 500_000, 650_000}},
		{"more seen than anything has", Memory{Model: sonnet, Most: 1_200_000}, settings(), Limits{1_200_000, Observed, 600_000, 780_000}},
		{"limits in tokens", Memory{Model: sonnet}, tokens, Limits{200_000, Settings, 60_000, 90_000}},
	} {
		if got := tt.state.Limits(tt.c); got != tt.want {
			t.Errorf("%s: %+v, want %+v", tt.name, got, tt.want)
		}
	}
}

// TestFits checks what is learned from a compaction at so many tokens.
func TestFits(t *testing.T) {
	t.Parallel()
	learned := settings()
	learned.Learned = map[string]int{sonnet: 164_000}
	for _, tt := range []struct {
		name   string
		state  Memory
		tokens int64
		c      *config.Context
		want   int
	}{
		{"less than the table", Memory{Model: sonnet}, 164_999, settings(), 164_000},
		{"as in the table", Memory{Model: sonnet}, 200_100, settings(), 0},
		{"more than the table", Memory{Model: sonnet, Most: 300_000}, 300_000, settings(), 300_000},
		{"an unknown model", Memory{Model: "some-model"}, 99_001, settings(), 99_000},
		{"known already", Memory{Model: sonnet}, 164_001, learned, 0},
		{"another one now", Memory{Model: sonnet}, 150_000, learned, 150_000},
		{"the client says it", Memory{Model: sonnet, Window: 258_400}, 164_999, settings(), 0},
		{"the user chose it", Memory{Model: sonnet, Variant: "claude-sonnet-4-5[1m]"}, 900_000, settings(), 0},
		{"no model", Memory{}, 164_999, settings(), 0},
		{"nothing", Memory{Model: sonnet}, 999, settings(), 0},
	} {
		if got := tt.state.Fits(tt.tokens, tt.c); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

// TestMost checks that figures seen with one model do not count for another.
func TestMost(t *testing.T) {
	t.Parallel()
	s := &Memory{}
	s.Saw(400_000, "claude-opus-4-8", "claude-opus-4-8", 0)
	s.Saw(300_000, "claude-opus-4-8", "", 0)
	if s.Most != 400_000 || s.Tokens != 300_000 || s.Variant != "claude-opus-4-8" {
		t.Errorf("%+v", s)
	}
	s.Saw(150_000, sonnet, "", 0)
	if got := s.Limits(settings()).Window; got != 200_000 || s.Most != 150_000 {
		t.Errorf("window %d after a change of the model, %+v", got, s)
	}
}

// TestWindow checks that the window that the client names stays until the model changes.
func TestWindow(t *testing.T) {
	t.Parallel()
	s := &Memory{}
	s.Saw(1000, "m", "", 258_400)
	s.Saw(2000, "m", "", 0)
	if l := s.Limits(settings()); l.Window != 258_400 || l.From != Client {
		t.Errorf("%+v after a look that did not find it", l)
	}
	s.Saw(2000, sonnet, "", 0)
	if l := s.Limits(settings()); l.Window != 200_000 || l.From != Settings {
		t.Errorf("%+v after a change of the model", l)
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	l := Limits{Window: 200_000, Warning: 100_000, Critical: 130_000}
	const path, odd = "/home/dev/.local/share/git-agent/handoffs/s.md", "/home/dev/it's here/s.md"
	for _, tt := range []struct {
		m    Message
		want []string
	}{
		{Message{Notice: Warning, Tokens: 104_321, Limits: l, Document: path}, []string{"52% full, 104,321 of 200,000 tokens", path, "git agent-handoff write " + path, "your decision"}},
		{Message{Notice: Critical, Tokens: 131_000, Limits: l, Document: path}, []string{"URGENT", "65% full, 131,000 of 200,000 tokens", "NOW", "\n    " + path + "\n", "\n    git agent-handoff write " + path + "\n"}},
		{Message{Notice: Critical, Tokens: 131_000, Limits: l, Document: odd}, []string{"\n    " + odd + "\n", `write '/home/dev/it'\''s here/s.md'`}},
		{Message{Notice: Reminder, Calls: 500, Document: path}, []string{"500 times", "git agent-handoff write " + path}},
	} {
		got := tt.m.Text()
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("the message lacks %q:\n%s", want, got)
			}
		}
		if len(got) > 2000 {
			t.Errorf("the message has %d bytes", len(got))
		}
	}
}

func TestNext(t *testing.T) {
	t.Parallel()
	l := Limits{Window: 200_000, Warning: 100_000, Critical: 130_000}
	for given, want := range map[Notice]int{None: 100_000, Reminder: 100_000, Warning: 130_000, Critical: 0} {
		n, at := (&Memory{Given: given}).Next(l)
		if at != want || n == None != (at == 0) {
			t.Errorf("after %v: %v at %d, want %d", given, n, at, want)
		}
	}
}

func TestComma(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1_234_567: "1,234,567", -999: "-999", -1000: "-1,000"} {
		if got := Comma(n); got != want {
			t.Errorf("%d is written %q, want %q", n, got, want)
		}
	}
}
