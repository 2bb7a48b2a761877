package builtin_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"bureau/engine/tool/builtin"
)

const secret = "SECRET-7f3a"

// newTrap is a folder beside which a secret lies, with every kind of link that leads to it.
func newTrap(tb testing.TB) (ts tools, outside string) {
	tb.Helper()
	ts = newTools(tb, builtin.Options{}, map[string]string{"inside.txt": "inside", "dir/file.txt": "in dir"})
	outside = tb.TempDir()
	check(tb, os.MkdirAll(filepath.Join(outside, "sub"), 0o755))
	check(tb, os.WriteFile(filepath.Join(outside, "secret.txt"), []byte(secret+"\n"), 0o644))
	check(tb, os.WriteFile(filepath.Join(outside, "sub", secret+".txt"), []byte(secret+"\n"), 0o644))
	up, err := filepath.Rel(ts.dir, outside)
	check(tb, err)
	for name, target := range map[string]string{
		"absolute":      filepath.Join(outside, "secret.txt"),
		"relative":      filepath.Join(up, "secret.txt"),
		"folder":        outside,
		"folderup":      up,
		"dir/chain":     "../folderup",
		"parent":        "..",
		"self":          "self",
		"dangling":      "nowhere",
		"good":          "inside.txt",
		"gooddir":       "dir",
		"absolute-in":   filepath.Join(ts.dir, "inside.txt"),
		"dir/upinside":  "../inside.txt",
		"dir/throughup": "../../" + filepath.Base(ts.dir) + "/inside.txt",
	} {
		if err := os.Symlink(target, filepath.Join(ts.dir, filepath.FromSlash(name))); err != nil {
			tb.Skipf("no links here: %v", err)
		}
	}
	return ts, outside
}

func TestNothingOutsideIsRead(t *testing.T) {
	t.Parallel()
	ts, outside := newTrap(t)
	up, err := filepath.Rel(ts.dir, outside)
	check(t, err)
	paths := map[string]string{
		"..":                                    "outside the working folder",
		"../..":                                 "outside the working folder",
		"/":                                     "outside the working folder",
		"/etc/passwd":                           "outside the working folder",
		"//etc/passwd":                          "outside the working folder",
		"/proc/self/environ":                    "outside the working folder",
		"dir/../../x":                           "outside the working folder",
		"dir/../..":                             "outside the working folder",
		"./../" + filepath.Base(ts.dir) + "/..": "outside the working folder",
		up + "/secret.txt":                      "outside the working folder",
		outside:                                 "outside the working folder",
		outside + "/secret.txt":                 "outside the working folder",
		ts.dir + "/..":                          "outside the working folder",
		ts.dir + "x/secret.txt":                 "outside the working folder",
		ts.dir + "/folder/secret.txt":           "link",
		"absolute":                              "link",
		"relative":                              "link",
		"folder":                                "link",
		"folder/secret.txt":                     "link",
		"folderup/sub":                          "link",
		"dir/chain/secret.txt":                  "link",
		"gooddir/chain/secret.txt":              "link",
		"parent":                                "link",
		"parent/" + filepath.Base(ts.dir) + "/inside.txt": "link",
		"dir/throughup":               "link",
		"absolute-in":                 "link",
		"self":                        "",
		"dangling":                    "there is no",
		"inside.txt\x00":              "NUL",
		"\x00":                        "NUL",
		"inside.txt/":                 "",
		"~/secret":                    "there is no",
		"file:///etc/passwd":          "there is no",
		"%2e%2e/secret.txt":           "there is no",
		"..%c0%af":                    "there is no",
		"…/secret.txt":                "there is no",
		strings.Repeat("a", 300):      "too long",
		strings.Repeat("a/", 3000):    "6000 bytes long",
		strings.Repeat("../", 1000):   "outside the working folder",
		strings.Repeat("dir/../", 90): "",
		"CON":                         "there is no",
		`\\.\pipe\x`:                  "there is no",
		`..\..\secret.txt`:            "there is no",
		`\\server\share\x`:            "there is no",
		`C:\Windows\win.ini`:          "there is no",
		`\\?\C:\x`:                    "there is no",
		"\xff\xfe":                    "",
	}
	for path, want := range paths {
		for name, arguments := range map[string]string{
			"read_file":      object("path", path),
			"list_directory": object("path", path, "depth", 3),
			"search_files":   object("path", path, "pattern", "."),
		} {
			out, err := ts.call(t.Context(), name, arguments)
			if strings.Contains(out, secret) {
				t.Fatalf("%s %q shows the secret: %s", name, path, out)
			}
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s %q: the error shows the secret: %v", name, path, err)
			}
			if want == "" {
				continue
			}
			if err == nil || runtime.GOOS != "windows" && !strings.Contains(err.Error(), want) {
				t.Errorf("%s %.80q = %.80q, %v, want an error with %q", name, path, out, err, want)
			}
			if err != nil && len(err.Error()) > 1000 {
				t.Errorf("%s %.80q: an error of %d bytes", name, path, len(err.Error()))
			}
		}
	}
}

func TestWalksDoNotFollowLinks(t *testing.T) {
	t.Parallel()
	ts, _ := newTrap(t)
	if got := ts.must(t, "search_files", `{"pattern":"`+secret+`|inside|in dir"}`); got != "dir/file.txt:1: in dir\ninside.txt:1: inside\n" {
		t.Errorf("search_files = %q", got)
	}
	if got := ts.must(t, "list_directory", `{"depth":3}`); strings.Contains(got, secret) || !strings.Contains(got, "good -> inside.txt\n") || !strings.Contains(got, "dir/file.txt  6 bytes\n") {
		t.Errorf("list_directory = %q", got)
	}
	for arguments, want := range map[string]string{`{"path":"good"}`: "inside", `{"path":"gooddir/file.txt"}`: "in dir", `{"path":"dir/upinside"}`: "inside"} {
		if got := ts.must(t, "read_file", arguments); got != want {
			t.Errorf("read_file %s = %q, want %q", arguments, got, want)
		}
	}
	if got := ts.must(t, "list_directory", `{"path":"gooddir"}`); !strings.Contains(got, "file.txt") {
		t.Errorf("list_directory of a link inside = %q", got)
	}
}

// The folder may itself be named by way of a link, as temporary folders are on some systems.
func TestAbsolutePathThroughALink(t *testing.T) {
	t.Parallel()
	real := newTools(t, builtin.Options{}, map[string]string{"a/b.txt": "text"})
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(real.dir, link); err != nil {
		t.Skipf("no links here: %v", err)
	}
	root, err := os.OpenRoot(link)
	check(t, err)
	defer func() { _ = root.Close() }()
	ts := tools{link, nil}
	ts.set = mustSet(t, builtin.New(root, builtin.Options{}))
	for _, base := range []string{real.dir, link} {
		if got := ts.must(t, "read_file", object("path", filepath.Join(base, "a", "b.txt"))); got != "text" {
			t.Errorf("below %s: %q", base, got)
		}
	}
}

func TestSpecialFilesDoNotBlock(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{"a.txt": "text\n"})
	special := map[string]string{}
	if makePipe(filepath.Join(ts.dir, "pipe")) == nil {
		special["pipe"] = "is a pipe"
	}
	// A socket's path has a short limit; a temporary folder's name may be longer.
	short, err := os.MkdirTemp("", "s")
	check(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(short) })
	listener, err := net.Listen("unix", filepath.Join(short, "s"))
	if err == nil {
		defer func() { _ = listener.Close() }()
		if os.Rename(filepath.Join(short, "s"), filepath.Join(ts.dir, "socket")) == nil {
			special["socket"] = "is a socket"
		}
	}
	if len(special) == 0 {
		t.Skip("no special files here")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for name, want := range special {
		if out, err := ts.call(ctx, "read_file", object("path", name)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("read_file of %s = %q, %v", name, out, err)
		}
		if out, err := ts.call(ctx, "search_files", object("path", name, "pattern", "x")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("search_files in %s = %q, %v", name, out, err)
		}
	}
	if got := ts.must(t, "search_files", `{"pattern":"text"}`); got != "a.txt:1: text\n" {
		t.Errorf("search_files beside special files = %q", got)
	}
	out := ts.must(t, "list_directory", "")
	for name := range special {
		if !strings.Contains(out, name+"  ("+name+")\n") {
			t.Errorf("list_directory = %q, without the %s", out, name)
		}
	}
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	ts := newTools(t, builtin.Options{}, map[string]string{"closed/a.txt": "needle\n", "closed.txt": "needle\n", "open.txt": "needle\n"})
	check(t, os.Chmod(filepath.Join(ts.dir, "closed.txt"), 0))
	check(t, os.Chmod(filepath.Join(ts.dir, "closed"), 0))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(ts.dir, "closed"), 0o755) })
	if _, err := os.ReadFile(filepath.Join(ts.dir, "closed.txt")); !errors.Is(err, os.ErrPermission) {
		t.Skip("this user may read everything")
	}
	if _, err := ts.call(t.Context(), "read_file", `{"path":"closed.txt"}`); err == nil || !strings.Contains(err.Error(), `"closed.txt" cannot be read: permission denied`) {
		t.Errorf("read_file: %v", err)
	}
	if got := ts.must(t, "list_directory", `{"depth":2}`); !strings.HasPrefix(got, "closed/  (cannot be read)\n") {
		t.Errorf("list_directory = %q", got)
	}
	if got := ts.must(t, "search_files", `{"pattern":"needle"}`); got != "open.txt:1: needle\n[2 files or folders could not be read]\n" {
		t.Errorf("search_files = %q", got)
	}
}

// A folder that turns into a link to the outside, and back, while it is walked.
func TestFolderThatBecomesALink(t *testing.T) {
	t.Parallel()
	ts, outside := newTrap(t)
	flips := filepath.Join(ts.dir, "flips")
	check(t, os.Mkdir(flips, 0o755))
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.Remove(flips)
			_ = os.Symlink(outside, flips)
			_ = os.Remove(flips)
			_ = os.Mkdir(flips, 0o755)
		}
	}()
	for range 300 {
		for name, arguments := range map[string]string{
			"read_file": `{"path":"flips/secret.txt"}`, "list_directory": `{"depth":3}`, "search_files": `{"pattern":"SECRET"}`,
		} {
			if out, _ := ts.call(t.Context(), name, arguments); strings.Contains(out, secret) {
				t.Errorf("%s shows the secret: %s", name, out)
			}
		}
	}
	close(stop)
	<-done
}

func FuzzPaths(f *testing.F) {
	ts, outside := newTrap(f)
	for _, seed := range []string{
		"..", "/", "folder/secret.txt", "dir/chain", "a/../../b", `..\..`, "inside.txt\x00", "parent/x", outside, outside + "/secret.txt",
		ts.dir + "/../" + filepath.Base(outside) + "/secret.txt", "self", "dir//./../dir", strings.Repeat("../", 50) + "etc/passwd",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, path string) {
		for name, arguments := range map[string]string{
			"read_file":      object("path", path),
			"list_directory": object("path", path, "depth", 3),
			"search_files":   object("path", path, "pattern", secret),
		} {
			out, err := ts.call(t.Context(), name, arguments)
			// A search that finds nothing repeats what was asked for.
			out = strings.ReplaceAll(out, `matches "`+secret+`"`, "")
			if strings.Contains(out, secret) {
				t.Fatalf("%s %q shows the secret: %s", name, path, out)
			}
			if err == nil && name == "read_file" {
				if _, rest, found := strings.Cut(out, "root:"); found {
					t.Fatalf("read_file %q shows %q", path, rest)
				}
			}
		}
	})
}
