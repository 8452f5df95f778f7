//go:build unix

package same

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gitagent/test/gittest"
)

// tamper does harm to the files of local state that only the present build has: what it has derived, and may not rely on.
func (w *walk) tamper() {
	var local [2]map[string]bool
	for side := range local {
		w.on(side, func() { local[side] = w.local() })
	}
	before := make(map[string]bool) // a handoff's name has the second that it was made in
	for name := range local[0] {
		before[w.twins.canonical(0, name)] = true
	}
	var derived []string
	for name := range local[1] {
		if !before[w.twins.canonical(1, name)] && !slices.ContainsFunc(hexes.FindAllString(name, -1), func(hex string) bool { return w.twins.fresh && !w.place.known.has(hex) }) {
			derived = append(derived, name)
		}
	}
	slices.Sort(derived)
	if len(derived) == 0 {
		return
	}
	w.on(1, func() {
		for _, name := range derived {
			path := filepath.Join(w.home(), name)
			data, err := os.ReadFile(path)
			gittest.Must(w.t, err)
			how := w.say.pick("removed", "emptied", "cut", "bent", "of another", "made longer", "a directory", "left")
			switch how {
			case "removed":
				err = os.Remove(path)
			case "emptied":
				err = os.WriteFile(path, nil, 0o600)
			case "cut":
				err = os.WriteFile(path, data[:len(data)/2], 0o600)
			case "bent":
				for i := range data {
					if w.say.chance(2) {
						data[i] ^= byte(1 << w.say.IntN(8))
					}
				}
				err = os.WriteFile(path, data, 0o600)
			case "of another":
				if data, err = os.ReadFile(filepath.Join(w.home(), w.say.pick(derived...))); err != nil {
					continue // it is removed
				}
				err = os.WriteFile(path, data, 0o600)
			case "made longer":
				err = os.WriteFile(path, append(data, data...), 0o600)
			case "a directory":
				if err = os.Remove(path); err == nil {
					err = os.Mkdir(path, 0o700)
				}
			}
			gittest.Must(w.t, err)
			w.harmed = append(w.harmed, fmt.Sprintf("%s: %s", name, how))
		}
	})
}

// local lists the files of our local state, by their paths below the home directory, without locks, which are named by a part
// of what is locked.
func (a *arena) local() map[string]bool {
	files := make(map[string]bool)
	gittest.Must(a.t, filepath.WalkDir(a.home(), func(path string, d fs.DirEntry, err error) error {
		if name := strings.TrimPrefix(path, a.home()+"/"); err == nil && d.Type().IsRegular() &&
			(strings.Contains(name, "/agent/") || strings.HasPrefix(name, ".cache/") || strings.HasPrefix(name, ".local/") || strings.HasPrefix(name, ".config/git-agent/")) &&
			!strings.Contains(name, "/refs/") && !strings.Contains(name, "/logs/") && !strings.Contains(name, "/locks/") {
			files[name] = true
		}
		return nil
	}))
	return files
}
