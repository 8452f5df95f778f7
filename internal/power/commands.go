package power

import (
	"slices"
	"sync"
)

// A Command says what one of our commands does.
type Command struct {
	Does []Use
	// With has what flags add, by their names. A dry run only reads.
	With map[string][]Use
}

// Commands has an entry for each command by its name without "git": "agent-turn
// trust add". One without an entry is refused.
var Commands = sync.OnceValue(func() map[string]Command {
	return map[string]Command{
		// looking back
		"agent-turn":             {Does: reads},
		"agent-turn missions":    {Does: reads, With: everywhere},
		"agent-turn list":        {Does: reads},
		"agent-turn show":        {Does: reads},
		"agent-turn search":      {Does: reads, With: everywhere},
		"agent-turn diff":        {Does: reads},
		"agent-turn log":         {Does: reads},
		"agent-turn blame":       {Does: reads},
		"agent-turn why":         {Does: reads},
		"agent-turn recall":      {Does: reads},
		"agent-turn summary":     {Does: reads},
		"agent-turn page":        {Does: reads, With: map[string][]Use{"out": {{Restore, Elsewhere}}}}, // it replaces any file
		"agent-turn export":      {Does: reads},
		"agent-turn tree":        {Does: reads},
		"agent-fork compare":     {Does: reads, With: map[string][]Use{"check": {{Restore, Clone}}}},
		"agent-handoff show":     {Does: reads},
		"agent-handoff list":     {Does: reads},
		"agent-handoff grep":     {Does: reads},
		"agent-handoff prime":    {Does: reads},
		"agent-handoff context":  {Does: []Use{{Read, Session}}},
		"agent-handoff log":      {Does: reads},
		"agent-handoff log show": {Does: reads},

		// going back, and on
		"agent-turn restore":      {Does: restores},
		"agent-turn reviewed":     {Does: []Use{{Review, Clone}}},
		"agent-turn revert":       {Does: restores},
		"agent-turn undo":         {Does: restores},
		"agent-turn bisect":       {Does: restores},
		"agent-turn start":        {Does: restores, With: pushes},
		"agent-turn finish":       {Does: restores, With: map[string][]Use{"remove": {{Purge, Clone}}}},
		"agent-fork":              {Does: restores, With: pushes},
		"agent-fork adopt":        {Does: restores, With: map[string][]Use{"remove-others": {{Purge, Clone}}}},
		"agent-handoff restore":   {Does: restores},
		"agent-handoff retry":     {Does: []Use{{Restore, Clone}, {Record, Session}}},
		"agent-handoff gather":    {Does: []Use{{Record, Session}}},
		"agent-handoff accept":    {Does: []Use{{Trust, Clone}}},
		"agent-handoff write":     {Does: []Use{{Record, Session}, {Tell, Session}}},
		"agent-handoff wake":      {Does: reads, With: map[string][]Use{"tmux": {{Tell, Session}}}},
		"agent-handoff log start": {Does: []Use{{Record, Session}}},
		"agent-turn record":       {Does: []Use{{Record, Session}}},
		"agent-turn hook":         {Does: []Use{{Record, Session}}},
		"agent-handoff hook":      {Does: []Use{{Record, Session}}},

		// sharing
		"agent-turn push":         {Does: []Use{{Push, Everybody}}},
		"agent-turn fetch":        {Does: []Use{{Read, Everybody}}, With: map[string][]Use{"accept-purges": {{Trust, Clone}}}},
		"agent-turn trust":        {Does: reads},
		"agent-turn trust key":    {Does: reads},
		"agent-turn trust add":    {Does: []Use{{Trust, Everybody}}},
		"agent-turn trust remove": {Does: []Use{{Configure, Everybody}}},
		"agent-turn trust accept": {Does: []Use{{Trust, Clone}}},

		// keeping in order
		"agent-turn init":      {Does: []Use{{Configure, Clone}}, With: map[string][]Use{"remove": {{SwitchOff, Clone}}}},
		"agent-turn import":    {Does: []Use{{Record, Clone}}},
		"agent-turn doctor":    {Does: reads, With: map[string][]Use{"repair": {{Configure, Clone}}, "remote": {{Push, Everybody}}}}, // it tries a push
		"agent-turn archive":   {Does: []Use{{Configure, Clone}}},
		"agent-turn remove":    {Does: []Use{{Purge, Clone}}, With: map[string][]Use{"all": {{SwitchOff, Clone}}, "remote": {{Purge, Everybody}}}},
		"agent-turn prune":     {Does: []Use{{Purge, Clone}}, With: map[string][]Use{"remote": {{Purge, Everybody}}}},
		"agent-turn purge":     {Does: []Use{{Purge, Clone}}, With: map[string][]Use{"push": {{Purge, Everybody}}}},
		"agent-turn demo":      {Does: []Use{{Configure, Elsewhere}}},
		"agent-turn housekeep": {Does: []Use{{Record, Session}}},
	}
})

var (
	reads      = []Use{{Read, Clone}}
	restores   = []Use{{Restore, Clone}}
	pushes     = map[string][]Use{"push": {{Push, Everybody}}}
	everywhere = map[string][]Use{"everywhere": {{Read, Elsewhere}}}
)

// On is what the words of a command line stand for, as far as the table asks.
type On struct {
	Repository bool // one that is not the session's
	Mission    bool // one that is not the session's
	Pane       bool // a terminal that is not the session's
	File       bool // one that neither the repository nor we hold
}

// Uses returns what a command does with some flags, on what they stand for.
func (c Command) Uses(flags []string, on On) []Use {
	uses := slices.Clone(c.Does)
	if slices.Contains(flags, "dry-run") {
		uses = []Use{{Read, Clone}}
	}
	for flag, more := range c.With {
		if slices.Contains(flags, flag) && !slices.Contains(flags, "dry-run") {
			uses = append(uses, more...)
		}
	}
	for i := range uses {
		if on.Mission && uses[i].Whose == Session {
			uses[i].Whose = Clone
		}
		if on.Repository {
			uses[i].Whose = Elsewhere
		}
	}
	if on.Pane {
		uses = append(uses, Use{Tell, Elsewhere})
	}
	if on.File {
		uses = append(uses, Use{Read, Elsewhere})
	}
	slices.SortFunc(uses, func(a, b Use) int { return slices.Index(Deeds, a.Deed) - slices.Index(Deeds, b.Deed) })
	return slices.Compact(uses)
}
