package finisher

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gitagent/internal/cmdline"
	"gitagent/internal/ledger"
	"gitagent/internal/record"
	"gitagent/internal/workspace"
	"gitagent/turns"
)

// message returns a commit's message: the user's or a proposed one, with
// trailers. whole says that the commit has the rest of the mission.
func message(ctx context.Context, w *workspace.Workspace, f Finishing, k *unfinished, turns ledger.Ranges, whole bool) (string, error) {
	text := f.Message
	if text == "" {
		var prompts []worked
		for _, t := range k.turns {
			if t.changed && !t.omitted() && turns.Has(t.number) {
				prompts = append(prompts, t)
			}
		}
		title := k.mission.Title
		if !whole && len(prompts) > 0 {
			title = prompts[0].prompt
		}
		if !w.Settings.Capture.SubjectPrompt {
			title, prompts = "", nil
		}
		config, err := w.Repo.Config(ctx)
		if err != nil {
			return "", err
		}
		comment := "#"
		for _, key := range []string{"core.commentchar", "core.commentstring"} {
			if set := config.Get(key); set != "" {
				comment = set
			}
		}
		text = proposal(k.mission.ID, title, prompts, comment)
	}
	// Every reader finds these, however the user configured trailers.
	args := []string{"interpret-trailers", "--no-divider", "--trailer", ledger.TrailerMission + "=" + string(k.mission.ID)}
	if len(turns) > 0 {
		args = append(args, "--trailer", ledger.TrailerTurns+"="+turns.String())
	}
	if f.Assisted != "" {
		for _, who := range k.assistants(turns) {
			args = append(args, "--trailer", f.Assisted+"="+who)
		}
	}
	last := k.checked(turns)
	if f.Trailer {
		for _, command := range last.tests {
			args = append(args, "--trailer", ledger.TrailerTest+"="+command)
		}
	}
	out, err := w.Repo.Output(ctx, strings.NewReader(strings.TrimRight(text, "\n")+"\n"), args...)
	message := string(out)
	if err == nil && f.Edit && last.checks != "" && stripsComments(ctx, w) {
		message += "\n# Checks of turn " + strconv.Itoa(last.number) + ": " + cmdline.OneLine(last.checks) + "\n"
	}
	return message, err
}

// checked returns the last turn of which something is known of checks, among
// those whose changes a commit has and those without any.
func (k *unfinished) checked(turns ledger.Ranges) (last worked) {
	for _, t := range k.turns {
		if t.checks != "" && !t.omitted() && (!t.changed || len(turns) == 0 || turns.Has(t.number)) {
			last = t
		}
	}
	return last
}

// stripsComments reports whether git takes lines that begin with # out of a
// message that is edited.
func stripsComments(ctx context.Context, w *workspace.Workspace) bool {
	config, err := w.Repo.Config(ctx)
	if err != nil {
		return false
	}
	cleanup := config.Get("commit.cleanup")
	return config.Get("core.commentchar")+config.Get("core.commentstring") == "" && (cleanup == "" || cleanup == "default" || cleanup == "strip")
}

const maxProposed = 50

// proposal returns a message: the mission's title and, unless that says it all,
// the prompts of changes, with a blank before what git would take for comments.
func proposal(id record.ID, title string, list []worked, comment string) string {
	subject := turns.FirstLine(title)
	if subject == "" {
		subject = "Agent mission " + string(id)
	}
	lines := []string{subject}
	if len(list) > 1 || len(list) == 1 && list[0].prompt != subject && list[0].prompt != "" {
		lines = append(lines, "")
		for _, t := range list[:min(len(list), maxProposed)] {
			line := fmt.Sprintf("- turn %d", t.number)
			if t.prompt != "" {
				line += ": " + t.prompt
			}
			lines = append(lines, line)
		}
		if more := len(list) - maxProposed; more > 0 {
			lines = append(lines, fmt.Sprintf("- and %d more", more))
		}
	}
	for i, line := range lines {
		if line != "" && strings.HasPrefix(line, comment) {
			lines[i] = " " + line
		}
	}
	return strings.Join(lines, "\n") + "\n"
}
