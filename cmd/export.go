package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"bureau/cmd/swarm"
	"bureau/engine/history"
	"bureau/store"
	"bureau/tui/text"
)

var exportFormats = []string{"markdown", "json", "agency-swarm"}

// exportPage is how many rows are read at a time.
const exportPage = 500

// exportVersion is the version of the JSON form.
const exportVersion = 1

var (
	agencyName = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	sessionID  = regexp.MustCompile(`^[a-z0-9]{12}$`)
)

// exported is the JSON form of a session: the rows of all threads, in order, with the names of the table's columns.
type exported struct {
	Bureau   int               `json:"bureau"`
	Session  history.Session   `json:"session"`
	Messages []history.Message `json:"messages"`
}

// export writes a session in a format.
func export(ctx context.Context, s *store.Store, v history.Session, format string, w io.Writer) error {
	var rows []history.Message
	for after := int64(0); ; {
		page, err := s.All(ctx, v.ID, after, exportPage)
		if err != nil {
			return err
		}
		rows = append(rows, page...)
		if len(page) < exportPage {
			break
		}
		after = page[len(page)-1].ID
	}
	switch format {
	case "json":
		return printJSON(w, exported{exportVersion, v, append([]history.Message{}, rows...)})
	case "agency-swarm":
		return printJSON(w, swarm.File(v, rows))
	default:
		out := bufio.NewWriter(w)
		writeMarkdown(out, v, rows)
		return out.Flush()
	}
}

// exportFile writes a session to a file that is not there yet; a failure leaves none behind.
func exportFile(ctx context.Context, s *store.Store, v history.Session, format, path string) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return usagef("Choose a file that is not there yet.", "the export cannot be written: %v", err)
	}
	if err != nil {
		return fmt.Errorf("the export cannot be written: %w", err)
	}
	err = errors.Join(export(ctx, s, v, format, file), file.Close())
	if err != nil {
		_ = os.Remove(path)
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// exportName is a file name for a session that is not taken in the folder.
func exportName(folder string, v history.Session, format string) string {
	ending := ".md"
	if format != "markdown" {
		ending = ".json"
	}
	base := filepath.Join(folder, fmt.Sprintf("%s-%s", v.Agency, v.ID))
	path := base + ending
	for n := 2; ; n++ {
		if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
			return path
		}
		path = fmt.Sprintf("%s-%d%s", base, n, ending)
	}
}

// writeMarkdown writes a session for readers: the user thread with each delegation where it happened, one level of quoting
// for each level of nesting.
func writeMarkdown(w *bufio.Writer, v history.Session, rows []history.Message) {
	fmt.Fprintf(w, "# %s\n\nAgency %s, session %s, begun %s.\n", text.Line(v.Title), v.Agency, v.ID,
		time.UnixMicro(v.CreatedAt).Format(time.RFC3339))
	depth := map[string]int{} // run → level
	for _, m := range rows {
		level := 0
		if m.ParentRunID != "" {
			level = depth[m.ParentRunID] + 1
		}
		depth[m.RunID] = level
		quote := strings.Repeat("> ", level)
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(quote, " "))
		for line := range strings.SplitSeq(text.Sanitise(markdownRow(m)), "\n") {
			fmt.Fprintf(w, "%s%s\n", quote, line)
		}
	}
}

func markdownRow(m history.Message) string {
	words := rowText(m)
	head, body, ok := strings.Cut(words, "\n")
	switch {
	case m.Type == history.TypeMessage && m.Role != history.RoleSystem && m.Origin != history.OriginError && ok:
		return "**" + head + "**\n\n" + body
	case m.Type == history.TypeOutput:
		fence := "```"
		for strings.Contains(m.Content, fence) {
			fence += "`"
		}
		return head + "\n\n" + fence + "\n" + body + "\n" + fence
	case m.Type == history.TypeCall:
		return fmt.Sprintf("%s calls `%s` `%s`", m.Agent, m.Name, strings.ReplaceAll(m.Arguments, "`", "'"))
	default:
		return "*" + strings.TrimSpace(head) + "*\n\n" + body
	}
}
