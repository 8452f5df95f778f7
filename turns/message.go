package turns

import (
	"context"
	"fmt"
	"strings"

	"gitagent/internal/ledger"
	"gitagent/internal/record"
)

// message returns a commit's message: the user's or a proposed one, with
// trailers. whole says that the commit has the rest of the mission.
func (r *Recorder) message(ctx context.Context, f Finishing, k *unfinished, turns ledger.Ranges, whole bool) (string, error) {
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
		if !r.Settings.Capture.SubjectPrompt {
			title, prompts = "", nil
		}
		config, err := r.Repo.Config(ctx)
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
	args := []string{"-c", "trailer.separators=:", "-c", "trailer.ifExists=addIfDifferent", "-c", "trailer.where=end", "interpret-trailers", "--no-divider", "--trailer", ledger.TrailerMission + "=" + string(k.mission.ID)}
	if len(turns) > 0 {
		args = append(args, "--trailer", ledger.TrailerTurns+"="+turns.String())
	}
	out, err := r.Repo.Output(ctx, strings.NewReader(strings.TrimRight(text, "\n")+"\n"), args...)
	return string(out), err
}

const maxProposed = 50

// proposal returns a message: the mission's title and, unless that says it all,
// the prompts of changes, with a blank before what git would take for comments.
func proposal(id record.ID, title string, turns []worked, comment string) string {
	subject := firstLine(title)
	if subject == "" {
		subject = "Agent mission " + string(id)
	}
	lines := []string{subject}
	if len(turns) > 1 || len(turns) == 1 && turns[0].prompt != subject && turns[0].prompt != "" {
		lines = append(lines, "")
		for _, t := range turns[:min(len(turns), maxProposed)] {
			line := fmt.Sprintf("- turn %d", t.number)
			if t.prompt != "" {
				line += ": " + t.prompt
			}
			lines = append(lines, line)
		}
		if more := len(turns) - maxProposed; more > 0 {
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
