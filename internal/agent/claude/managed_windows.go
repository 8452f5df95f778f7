package claude

import "golang.org/x/sys/windows/registry"

// policies are the places of the system's policies in which there are settings
// of the client's.
func policies() (there []string) {
	const path = `SOFTWARE\Policies\ClaudeCode`
	for name, root := range map[string]registry.Key{"HKLM": registry.LOCAL_MACHINE, "HKCU": registry.CURRENT_USER} {
		if key, err := registry.OpenKey(root, path, registry.QUERY_VALUE); err == nil {
			_ = key.Close()
			there = append(there, name+`\`+path)
		}
	}
	return there
}
