package config

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// learnedPath is the path of the file of windows that were learned, beside the
// user's file; "" if that has none.
func learnedPath(userPath string) string {
	if userPath == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(userPath), "windows.toml")
}

// learned reads the windows that were learned. What is wrong in the file
// counts as not there: it is ours, and written again.
func learned(path string) map[string]int {
	c := &Config{Context: Context{Windows: map[string]int{}}}
	apply(path, maxFile, os.Stat, func(e entry) error {
		if isWindow(e) {
			return c.setWindow(e.path[2], e.value)
		}
		return nil
	})
	return c.Context.Windows
}

// maxLearned is how many models' windows are kept.
const maxLearned = 100

// Learn notes the window of a model, in tokens, in a file beside the user's at
// userPath. A window that the user's file has counts more.
func Learn(userPath, model string, tokens int) error {
	path := learnedPath(userPath)
	if path == "" {
		return nil
	}
	windows := learned(path)
	if len(windows) >= maxLearned {
		clear(windows)
	}
	windows[model] = tokens
	var text strings.Builder
	text.WriteString("# Where the clients compacted. git-agent keeps this; your own windows belong into config.toml.\n[" + windowsTable + "]\n")
	for _, m := range slices.Sorted(maps.Keys(windows)) {
		fmt.Fprintf(&text, "%s = %d\n", quoteKey(m), windows[m])
	}
	if err := replaceFile(path, text.String()); err != nil {
		return fmt.Errorf("note the window of a model: %w", err)
	}
	return nil
}

// replaceFile writes a file as a whole, or not at all.
func replaceFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
