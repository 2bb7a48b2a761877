package composer_test

import (
	"testing"

	"bureau/tui/composer"
)

func TestHistory(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	k.SetHistory([]string{"newest", "two\nlines", "oldest"})
	k.keys("<up>")
	k.value("newest")
	k.keys("<up>")
	k.value("two\nlines")
	k.keys("<up>") // within it
	k.value("two\nlines")
	k.keys("<up><up>")
	k.value("oldest")
	k.keys("<down><down>")
	k.value("newest")
	k.keys("<down>")
	k.value("")
	k.keys("<down><up>x<up><up>")
	k.value("newestx")
	if got := k.Clear(); got != "newestx" {
		t.Errorf("Clear returns %q", got)
	}
	k.value("")
	k.keys("draft<up>")
	k.value("draft")
}

func TestSearch(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	k.SetHistory([]string{"deploy to staging", "Write the report", "deploy to production", "deploy to staging"})
	k.keys("draft<ctrl+r>")
	k.shows("search › words of an earlier message")
	k.keys("DEP")
	k.shows("search › DEP")
	k.offers("*deploy deploy")
	k.keys("<ctrl+r>")
	k.offers("deploy *deploy")
	k.value("draft")
	k.keys("<enter>")
	k.value("deploy to production")
	k.offers("")
	k.keys("<ctrl+r>zzz")
	if rows, open := k.Completion(); !open || len(rows) != 1 {
		t.Errorf("nothing found shows %q", rows)
	}
	k.keys("<enter>")
	k.value("deploy to production")
	k.keys("<ctrl+r>rep<backspace><ctrl+u>x<esc>")
	k.value("deploy to production")
	k.keys("<ctrl+r>")
	k.HandlePaste("re\nport")
	k.shows("search › re port")
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	k := newTypist(t)
	k.offers("")
	k.keys("@")
	k.offers("*@Editor @Editor @記者 @Checker")
	k.keys("chi")
	k.offers("*@Editor")
	k.keys("<tab>")
	k.value("@Editor in Chief ")
	k.offers("")

	k.SetValue("")
	k.keys("@e<down><tab>now")
	k.value("@Editor in Chief now")

	k.SetValue("")
	k.keys("/s")
	k.offers("*/sessions")
	if got := k.keys("<enter>"); got != (composer.Command{Name: "s"}) {
		t.Errorf("enter accepted what was not chosen: %v", got)
	}
	k.keys("/<up>")
	k.offers("/sessions /new */help")
	if got := k.keys("<enter>"); got != nil {
		t.Errorf("enter sent: %v", got)
	}
	k.value("/help ")
	if got := k.keys("<enter>"); got != (composer.Command{Name: "help"}) {
		t.Errorf("then enter gives %v", got)
	}

	k.keys("@<esc>")
	k.offers("")
	k.keys("E")
	k.offers("")
	k.keys("<backspace>")
	k.offers("*@Editor @Editor @記者 @Checker")
	k.keys("<backspace>x @")
	k.offers("")
	k.SetValue("")
	k.keys("ditor<ctrl+a>@<tab>")
	k.value("@Editor ")
	k.keys("/n")
	k.offers("")
	k.SetValue("/n")
	k.offers("")
}
