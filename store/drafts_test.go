package store_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestDrafts(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	look := func(text, queue string) {
		t.Helper()
		gotText, gotQueue, err := s.Draft(t.Context(), "new:/home")
		if err != nil || gotText != text || string(gotQueue) != queue {
			t.Errorf("%q, %q, %v", gotText, gotQueue, err)
		}
	}
	look("", "")
	for _, c := range [][2]string{{"a\x00\xff", ""}, {"b", `["x"]`}, {"", `["y"]`}, {"", ""}} {
		if err := s.SaveDraft(t.Context(), "new:/home", c[0], []byte(c[1])); err != nil {
			t.Fatal(err)
		}
		look(c[0], c[1])
	}
	var left int
	if err := s.Writer().QueryRowContext(t.Context(), "SELECT count(*) FROM drafts").Scan(&left); err != nil || left != 0 {
		t.Errorf("%d drafts left, %v", left, err)
	}
}

func TestInputs(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	for _, text := range []string{"one", "two", "two", "", "one", "one\n"} {
		if err := s.AddInput(t.Context(), text); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Inputs(t.Context(), 3); err != nil || strings.Join(got, "|") != "one\n|one|two" {
		t.Errorf("%q, %v", got, err)
	}
	_, err := s.Writer().ExecContext(t.Context(), `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 997)
		INSERT INTO inputs (text, created_at) SELECT i, 0 FROM n`)
	if err != nil {
		t.Fatal(err)
	}
	for i := 998; i < 1000; i++ {
		if err := s.AddInput(t.Context(), fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Inputs(t.Context(), 5000); err != nil || len(got) != 1000 || got[0] != "999" || got[999] != "0" {
		t.Errorf("%d inputs, %v", len(got), err)
	}
}
