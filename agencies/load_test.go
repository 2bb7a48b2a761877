package agencies_test

import (
	"testing"

	"bureau/agencies"
)

func TestParseSmallest(t *testing.T) {
	t.Parallel()
	agency, err := agencies.Parse("a.yaml", []byte("name: a\nagents:\n  One: {instructions: Answer.}\n"), nil, agencies.Known{})
	if err != nil {
		t.Fatal(err)
	}
	if len(agency.EntryPoints) != 1 || agency.EntryPoints[0] != "One" || agency.Limits != agencies.DefaultLimits {
		t.Errorf("got %+v", agency)
	}
}
