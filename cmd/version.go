package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// version is set when a release is built: -ldflags "-X bureau/cmd.version=1.2.3".
var version = ""

// versionText is the version, or the revision that the program was built from.
func versionText() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "dev-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "dev"
}

func newVersionCommand(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return printJSON(p.out, map[string]string{
					"version": versionText(), "go": runtime.Version(), "os": runtime.GOOS, "arch": runtime.GOARCH,
				})
			}
			_, err := fmt.Fprintf(p.out, "bureau %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(escapeControls(b.Bytes()))
	return err
}

// escapeControls writes the control characters that JSON leaves as they are, DEL and those from U+0080 to U+009F, as \u00xx:
// the same JSON, and nothing that a terminal would obey.
func escapeControls(data []byte) []byte {
	first := bytes.IndexFunc(data, isControl)
	if first < 0 {
		return data
	}
	out := bytes.Clone(data[:first])
	for _, r := range string(data[first:]) {
		if isControl(r) {
			out = fmt.Appendf(out, `\u%04x`, r)
		} else {
			out = utf8.AppendRune(out, r)
		}
	}
	return out
}

func isControl(r rune) bool { return r >= 0x7f && r <= 0x9f }
