package tui

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	tea "charm.land/bubbletea/v2"

	"bureau/tui/text"
	"bureau/tui/thread"
)

// environment is the environment of the terminal, as os.Environ gives it.
type environment []string

// get returns the value of a variable; the last one counts.
func (e environment) get(name string) string {
	value := ""
	for _, entry := range e {
		if k, v, ok := strings.Cut(entry, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// clipboardLimit is how much text terminals take for the clipboard; what is longer also goes to a file.
const clipboardLimit = 64 << 10

// copySelected copies what is selected: an item, or the last words of a pane.
func (m *model) copySelected() tea.Cmd {
	if e := m.current(); e != nil {
		return m.copy(e.copyText())
	}
	if m.focus == focusPanes && m.cursor < len(m.panes) {
		_, words := m.panes[m.cursor].data.LastText()
		return m.copy(text.Sanitise(words))
	}
	return nil
}

// copyLast copies the last answer of the user thread.
func (m *model) copyLast() tea.Cmd {
	for i := len(m.data.User.Items) - 1; i >= 0; i-- {
		if it := m.data.User.Items[i]; it.Kind == thread.Answer && it.Len() > 0 {
			return m.copy(text.Sanitise(it.Text()))
		}
	}
	m.say("there is no answer to copy yet")
	return nil
}

// copy gives text to the terminal's clipboard (OSC 52). Nobody tells whether it took it, so that a long one is also in a file.
func (m *model) copy(words string) tea.Cmd {
	if words == "" {
		m.say("there is nothing to copy")
		return nil
	}
	size := text.Bytes(int64(len(words)))
	if len(words) <= clipboardLimit {
		m.say("copied " + size)
		return tea.SetClipboard(words)
	}
	return tea.Batch(tea.SetClipboard(words), m.guard.cmd(func() tea.Msg {
		file, err := os.CreateTemp("", "bureau-copy-*.txt")
		if err != nil {
			return failedMsg{"the copy is not in a file", err}
		}
		_, err = file.WriteString(words)
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return failedMsg{"the copy is not in a file", err}
		}
		return noticeMsg("copied " + size + ", which many terminals do not take; it is also in " + file.Name())
	}))
}

// The messages of a visit to the editor: the file is ready, and what was in it afterwards.
type (
	editorMsg struct {
		path string
	}
	editedMsg struct {
		words string
		err   error
	}
)

// maxEdited is how long a text from the editor may be.
const maxEdited = 4 << 20

// openEditor writes the draft to a file, for the user's editor.
func (m *model) openEditor() tea.Cmd {
	words := m.composer.Value()
	return m.guard.cmd(func() tea.Msg {
		dir, err := os.MkdirTemp("", "bureau-")
		if err != nil {
			return failedMsg{"the editor does not open", err}
		}
		path := filepath.Join(dir, "message.md")
		if err := os.WriteFile(path, []byte(words), 0o600); err != nil {
			_ = os.RemoveAll(dir)
			return failedMsg{"the editor does not open", err}
		}
		return editorMsg{path}
	})
}

// runEditor gives the terminal to the editor, and reads what it left.
func (m *model) runEditor(path string) tea.Cmd {
	editor := m.env.get("VISUAL")
	if editor == "" {
		editor = m.env.get("EDITOR")
	}
	if editor == "" {
		editor = "vi"
		if runtime.GOOS == "windows" {
			editor = "notepad"
		}
	}
	words := strings.Fields(editor)
	command := exec.CommandContext(m.ctx, words[0], append(words[1:], path)...)
	command.Env = m.env
	return tea.ExecProcess(command, func(err error) tea.Msg {
		defer os.RemoveAll(filepath.Dir(path))
		if err != nil {
			return editedMsg{err: fmt.Errorf("%s: %w", words[0], err)}
		}
		info, err := os.Stat(path)
		if err != nil {
			return editedMsg{err: err}
		}
		if info.Size() > maxEdited {
			return editedMsg{err: fmt.Errorf("the text has %s, %s at most", text.Bytes(info.Size()), text.Bytes(maxEdited))}
		}
		raw, err := os.ReadFile(path)
		return editedMsg{words: string(raw), err: err}
	})
}

// edited puts what the editor left into the composer.
func (m *model) edited(msg editedMsg) {
	if msg.err != nil {
		m.fail("the text from the editor is not taken", msg.err)
		return
	}
	m.composer.SetValue(strings.TrimRight(text.Sanitise(msg.words), "\n"))
}
