package cmd

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"bureau/agencies"
	"bureau/engine/llm"
	"bureau/engine/llm/openai"
)

// listLimit is how long a server may take to list its models.
const listLimit = 5 * time.Second

// checkLimit is how long the probe of a model may take: a local server may have to load it.
const checkLimit = 5 * time.Minute

func newModelCommand(p *program) *cobra.Command {
	return group("model", "What the configured servers offer, and whether a model works", newModelListCommand(p), newModelCheckCommand(p))
}

// server is what is known of a provider when it was asked.
type server struct {
	Provider string   `json:"provider"`
	Address  string   `json:"address"`
	Models   []string `json:"models"`
	Error    string   `json:"error,omitempty"`
	Hint     string   `json:"hint,omitempty"`

	err error
}

// askServers asks the providers that can be asked for their models, all at once: local ones, and those with a key.
func (p *program) askServers(ctx context.Context, only string) []server {
	m := &models{config: p.config, env: p.env, agency: &agencies.Agency{}}
	ctx, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	var asked []openai.Provider
	for _, provider := range m.providers() {
		configured := provider.BaseURL != "" && (!provider.NeedsKey || m.key(provider) != "")
		if provider.Name == only || only == "" && configured {
			asked = append(asked, provider)
		}
	}
	servers := make([]server, len(asked))
	var wait sync.WaitGroup
	for i, provider := range asked {
		wait.Go(func() {
			v := server{Provider: provider.Name, Address: provider.BaseURL, Models: []string{}}
			list, err := openai.ListModels(ctx, openai.Config{
				Ref: llm.Ref{Provider: provider.Name}, Provider: provider, Key: func() string { return m.key(provider) },
			})
			for _, info := range list {
				v.Models = append(v.Models, provider.Name+"/"+info.ID)
			}
			if err != nil {
				v.Error, v.Hint, v.err = err.Error(), hintOf(err), err
			}
			servers[i] = v
		})
	}
	wait.Wait()
	return servers
}

func newModelListCommand(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "list [PROVIDER]", Short: "The models that the configured servers offer", Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.configure(); err != nil {
				return err
			}
			only := ""
			if len(args) == 1 {
				only = args[0]
				if _, err := (&models{config: p.config, env: p.env}).provider(only); err != nil {
					return err
				}
			}
			servers := p.askServers(c.Context(), only)
			var failed error // of the one that was asked for
			if only != "" {
				failed = servers[0].err
			}
			if asJSON {
				return cmp.Or(printJSON(p.out, servers), failed)
			}
			t := newTable("MODEL", "SERVER")
			for _, v := range servers {
				for _, ref := range v.Models {
					t.add(ref, v.Address)
				}
				if v.Error != "" {
					t.add("-", v.Error)
				}
			}
			return cmp.Or(t.print(p.out), failed)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

func newModelCheckCommand(p *program) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use: "check MODEL", Short: "Probe one model: is it reachable, does it stream, does it call tools", Args: cobra.ExactArgs(1),
		Example: "  bureau model check ollama/qwen3:8b",
		RunE: func(c *cobra.Command, args []string) error {
			if err := p.configure(); err != nil {
				return err
			}
			ref, err := parseRef(args[0])
			if err != nil {
				return err
			}
			if ref.Provider == "script" || ref.Provider == "replay" {
				return usagef("", "%s needs no server: there is nothing to probe", ref)
			}
			connection, err := (&models{config: p.config, env: p.env, agency: &agencies.Agency{}}).connection(ref)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), checkLimit)
			defer cancel()
			result := openai.Probe(ctx, connection)
			if asJSON {
				out := map[string]any{
					"model": ref.String(), "reachable": result.Reachable, "streams": result.Streams, "tools": result.Tools,
					"first_token_seconds": result.FirstToken.Seconds(),
				}
				if result.Err != nil {
					out["error"] = result.Err.Error()
				}
				if err := printJSON(p.out, out); err != nil {
					return err
				}
				return result.Err
			}
			yes := map[bool]string{true: "yes", false: "no"}
			fmt.Fprintf(p.out, "%s\n  reachable    %s\n", ref, yes[result.Reachable])
			if result.Err == nil {
				fmt.Fprintf(p.out, "  streams      %s\n  calls tools  %s\n  first token  %.1f s\n",
					yes[result.Streams], yes[result.Tools], result.FirstToken.Seconds())
			}
			return result.Err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}
