package claude

import (
	"runtime"

	"gitagent/hooks"
)

// managedSettings returns the file of an administrator's settings for all.
func managedSettings() string {
	switch runtime.GOOS {
	case "darwin":
		return "/Library/Application Support/ClaudeCode/managed-settings.json"
	case "windows":
		return `C:\Program Files\ClaudeCode\managed-settings.json`
	}
	return "/etc/claude-code/managed-settings.json"
}

// windowsSettings is an administrator's file on Windows, where a Linux within
// it has that.
const windowsSettings = "/mnt/c/Program Files/ClaudeCode/managed-settings.json"

// elsewhere tells of an administrator's settings that the client may have and
// that are not in files: those of policies, places of the system's that exist;
// of a program that one of the files names; and of the Windows around this
// Linux, if its file says that they are for here, too. Seen in the program of
// version 2.1.332.
func elsewhere(r *hooks.Report, files []hooks.Settings, policies []string, windows string) {
	add := func(path, text string) {
		r.Findings = append(r.Findings, hooks.Finding{
			Problem: hooks.Elsewhere, Path: path, Managed: true,
			Text: text + ", which can't be looked at from here: they may turn off these hooks; see /status in Claude Code",
		})
	}
	for _, path := range policies {
		add(path, "there are settings of the system's policy")
	}
	for _, f := range files {
		var says struct{ PolicyHelper, PolicyHelpers any }
		if read(f.Path, &says); f.Managed && (says.PolicyHelper != nil || says.PolicyHelpers != nil) {
			add(f.Path, "a program gives the client settings")
		}
	}
	var says struct{ WslInheritsWindowsSettings bool }
	if read(windows, &says); says.WslInheritsWindowsSettings {
		add(windows, "the settings of Windows hold here, too, also those of its registry")
	}
}
