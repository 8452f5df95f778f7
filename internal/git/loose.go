package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// maxLoose is how many objects are written one by one: each git that starts
// looks at every pack.
const maxLoose = 32

// FlushLoose is [Objects.Flush] for objects that nothing refers to and that may
// soon go: a few are not written as a pack, which would be one more.
func (o *Objects) FlushLoose() error {
	o.flushMu.Lock()
	o.mu.Lock()
	staged := o.staged
	var list []*Object
	for _, h := range staged {
		list = append(list, o.known[h])
	}
	o.mu.Unlock()
	if len(list) > maxLoose {
		o.flushMu.Unlock()
		return o.Flush()
	}
	defer o.flushMu.Unlock()
	for _, obj := range list {
		if err := o.writeLoose(obj); err != nil {
			return fmt.Errorf("write object %s: %w", obj.Hash, err)
		}
	}
	o.mu.Lock()
	o.staged = o.staged[len(staged):]
	o.mu.Unlock()
	return nil
}

func (o *Objects) writeLoose(obj *Object) error {
	name := obj.Hash.String()
	dir := filepath.Join(o.dir, name[:2])
	if err := o.looseDir(dir); err != nil {
		return err
	}
	tmp, err := o.repo.tempFile(o.ctx, dir, "tmp_obj_", encodeLoose(obj))
	if err != nil {
		return err
	}
	return os.Rename(tmp, filepath.Join(dir, name[2:]))
}

// looseDir makes a directory of loose objects for all who may write to the
// database, as git does.
func (o *Objects) looseDir(dir string) error {
	err := os.Mkdir(dir, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	above, err := os.Stat(o.dir)
	if err != nil {
		return err
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return errors.Join(f.Chmod(above.Mode()), o.repo.giveFile(f))
}

func encodeLoose(obj *Object) []byte {
	text := fmt.Appendf(nil, "%s %d\x00", obj.Type, len(obj.Content))
	text = append(text, obj.Content...)
	var out bytes.Buffer
	new(deflater).deflate(&out, text, len(text) <= maxStored)
	return out.Bytes()
}
