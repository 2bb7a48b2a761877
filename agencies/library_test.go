package agencies_test

import (
	"testing"

	"bureau/agencies"
)

// everything that the shipped agencies refer to.
var everything = agencies.Known{
	Tools:     []string{"read_file", "list_directory", "search_files", "current_time"},
	Providers: []string{"openai", "ollama", "anthropic"},
}

func TestShippedAgenciesLoad(t *testing.T) {
	t.Parallel()
	listed := agencies.List(agencies.Places{}, everything)
	var names []string
	for _, l := range listed {
		names = append(names, l.Name)
		if l.Err != nil {
			t.Errorf("%s: %v", l.Name, l.Err)
		}
		if l.Description == "" || l.Origin != agencies.OriginShipped || l.Path != "" {
			t.Errorf("listed as %+v", l)
		}
		agency, err := agencies.Find(l.Name, agencies.Places{}, everything)
		if err != nil {
			t.Fatal(err)
		}
		if agency.Name != l.Name {
			t.Errorf("the file of %s calls itself %s", l.Name, agency.Name)
		}
	}
	if len(names) != 2 || names[0] != "newsroom" || names[1] != "tour" {
		t.Errorf("there ship %v", names)
	}
}
