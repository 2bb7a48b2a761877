package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// The bounds of a folder that is copied for a rehearsal.
const (
	maxCopiedFiles = 10_000
	maxCopiedBytes = 64 << 20
)

// furnish makes the folder that a rehearsal runs in: a copy of its folder, with its files written over it.
func furnish(one part, folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil {
		return err
	}
	to, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer to.Close()
	if one.Folder != "" {
		files, closeFolder, err := one.agency.OpenFolder()
		if err != nil {
			return err
		}
		defer closeFolder()
		if err := (&copier{from: files, top: one.Folder, to: to}).copyAll(); err != nil {
			return fmt.Errorf("copy the folder %s: %w", one.Folder, err)
		}
	}
	for name, content := range one.Files {
		local := filepath.FromSlash(name)
		if err := to.MkdirAll(filepath.Dir(local), 0o755); err != nil {
			return fmt.Errorf("write the file %s: %w", name, err)
		}
		if err := to.WriteFile(local, []byte(content), 0o644); err != nil {
			return fmt.Errorf("write the file %s: %w", name, err)
		}
	}
	return nil
}

// copier copies a folder. Links are copied as links, and only those that lead to something inside.
type copier struct {
	from  fs.FS
	top   string
	to    *os.Root
	files int
	bytes int64
}

func (c *copier) copyAll() error {
	return fs.WalkDir(c.from, c.top, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || name == c.top {
			return err
		}
		if c.files++; c.files > maxCopiedFiles {
			return fmt.Errorf("it holds more than %d files", maxCopiedFiles)
		}
		local := name // what is below the top has its name in front
		if c.top != "." {
			local = name[len(c.top)+1:]
		}
		switch mode := entry.Type(); {
		case entry.IsDir():
			return c.to.Mkdir(filepath.FromSlash(local), 0o755)
		case mode&fs.ModeSymlink != 0:
			return c.link(name, local)
		case mode.IsRegular():
			return c.file(name, local)
		default:
			return fmt.Errorf("%s is no regular file", local)
		}
	})
}

func (c *copier) link(name, local string) error {
	target, err := fs.ReadLink(c.from, name)
	if err != nil {
		return err
	}
	slashed := filepath.ToSlash(target)
	if path.IsAbs(slashed) || filepath.IsAbs(target) || !filepath.IsLocal(filepath.FromSlash(path.Join(path.Dir(local), slashed))) {
		return fmt.Errorf("the link %s leads outside", local)
	}
	return c.to.Symlink(target, filepath.FromSlash(local))
}

func (c *copier) file(name, local string) (err error) {
	in, err := c.from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	mode := fs.FileMode(0o644)
	if info, err := in.Stat(); err == nil && info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	out, err := c.to.OpenFile(filepath.FromSlash(local), os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	n, err := io.Copy(out, io.LimitReader(in, maxCopiedBytes-c.bytes+1))
	if c.bytes += n; c.bytes > maxCopiedBytes {
		return fmt.Errorf("it holds more than %d MiB", maxCopiedBytes>>20)
	}
	return err
}
