package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// steps measures what an agent waits for after a batch of tool calls, by what they do, against the
// hook after one that reads, and after a command against git status.
func steps(l *lab) { l.steps("step", smallFiles, smallTimes) }

func largeSteps(l *lab) { l.steps("large-step", largeFiles, largeTimes) }

func (l *lab) steps(name string, files, times int) {
	r := l.newRepository(name, files)
	r.enable()
	s := r.newSession()
	s.prompt()
	handoff := *l
	handoff.program = l.now().program("git-agent-handoff")
	r.lab = &handoff
	n := 0
	ran := func(tool string, input map[string]any) sample {
		n++
		r.rest()
		return s.hook(s.payload("PostToolBatch", fields{"prompt_id": s.writer.promptID, "tool_calls": []any{
			map[string]any{"tool_name": tool, "tool_use_id": fmt.Sprint("toolu_", n), "tool_input": input, "tool_response": "ok"},
		}}))
	}
	file := func(path string) map[string]any { return map[string]any{"file_path": filepath.Join(r.dir, path)} }
	command := map[string]any{"command": "make test"}
	var reads, edits, news, commands, statuses series
	var grown int64 // by edits
	for i := range warmUp + l.times(times) {
		read := ran("Read", file(path(7)))
		r.change()
		before := r.stored()
		edit := ran("Edit", file(path(7)))
		grown += r.stored() - before
		fresh := filepath.Join("src", fmt.Sprint("new", i))
		check(os.WriteFile(filepath.Join(r.dir, fresh), []byte(source(i, 1)), 0o666))
		create := ran("Write", file(fresh))
		check(os.Remove(filepath.Join(r.dir, fresh)))
		look := ran("Bash", command)
		_, status := l.timed(r.dir, nil, nil, "git", "status", "--porcelain=v2", "-uall")
		if i >= warmUp {
			reads, edits, news = append(reads, read), append(edits, edit), append(news, create)
			commands, statuses = append(commands, look), append(statuses, status)
		}
	}
	heading()
	alone("PostToolBatch, tools that read", reads, "")
	compare("PostToolBatch, an edit, against that", edits, reads, map[bool]string{true: "cpu +15 ms", false: "cpu +25 ms"}[files == smallFiles])
	compare("PostToolBatch, a new file, against that", news, reads, "")
	compare("PostToolBatch, a command, against git status", commands, statuses, "")
	kept := bytes.Count(must(os.ReadFile(filepath.Join(r.dir, ".git", "agent", "steps"))), []byte{'\n'})
	fmt.Printf("%d B of objects for an edit of a file of %d B\n", grown/int64(len(edits)+warmUp), len(source(7, 1)))
	fmt.Printf("%d entries in the journal, %d B each\n", kept, must(os.Stat(filepath.Join(r.dir, ".git", "agent", "steps"))).Size()/int64(max(1, kept)))
}

// stored is how many bytes the object database has.
func (r *repository) stored() (size int64) {
	check(filepath.WalkDir(filepath.Join(r.dir, ".git", "objects"), func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += info.Size()
		}
		return err
	}))
	return size
}

// rest lets looks at the worktree follow each other at once: the journal tells of none that took time.
func (r *repository) rest() {
	name := filepath.Join(r.dir, ".git", "agent", "steps")
	data := must(os.ReadFile(name))
	check(os.WriteFile(name, bytes.ReplaceAll(data, []byte(`"cost":`), []byte(`"rest":`)), 0o600))
}
