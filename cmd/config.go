package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/agnivade/levenshtein"
	"go.yaml.in/yaml/v3"

	"bureau/engine/history"
	"bureau/engine/llm/price"
)

// config is the user's config.yaml.
type config struct {
	// Agency is the default one; empty is tour.
	Agency string `yaml:"agency"`
	// Model is the default for agents and agencies that name none.
	Model string `yaml:"model"`
	// Theme is auto, light or dark.
	Theme string `yaml:"theme"`
	// Mouse switches the mouse on at the start.
	Mouse bool `yaml:"mouse"`
	// TrustedFolders hold agencies that may start the programs that they name.
	TrustedFolders []string                  `yaml:"trusted_folders"`
	Providers      map[string]providerConfig `yaml:"providers"`
}

// providerConfig is a model server.
type providerConfig struct {
	BaseURL string `yaml:"base_url"`
	// APIKeyEnv is the name of the environment variable that holds the key.
	APIKeyEnv string `yaml:"api_key_env"`
	// API is the protocol of its models: chat_completions, which is the default, or responses.
	API history.Protocol `yaml:"api"`
	// APIVersion is for classic Azure deployments.
	APIVersion string                 `yaml:"api_version"`
	Timeouts   timeoutConfig          `yaml:"timeouts"`
	Models     map[string]modelConfig `yaml:"models"`
}

// timeoutConfig holds limits as durations like 30s; "off" for none, empty for the default.
type timeoutConfig struct {
	Connect   duration `yaml:"connect"`
	FirstByte duration `yaml:"first_byte"`
	Idle      duration `yaml:"idle"`
}

// modelConfig is what is known of one model.
type modelConfig struct {
	// API is the protocol of this model; empty is the server's.
	API history.Protocol `yaml:"api"`
	// Window is the context window in tokens.
	Window int `yaml:"window"`
	// Price in US dollars for a million tokens.
	Price *price.Price `yaml:"price"`
}

// duration is a time.Duration that is negative for "off".
type duration time.Duration

// UnmarshalYAML reads a duration like 90s, or off.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	if n.Value == "off" {
		*d = -1
		return nil
	}
	v, err := time.ParseDuration(n.Value)
	if err != nil || v <= 0 {
		return fmt.Errorf("line %d: a time like 90s or 5m is expected, or off, not %q", n.Line, n.Value)
	}
	*d = duration(v)
	return nil
}

// maxConfig bounds the file, in bytes.
const maxConfig = 1 << 20

// configFolder is the user's configuration folder of Bureau.
func configFolder() string { return filepath.Join(xdg.ConfigHome, "bureau") }

// configPath is where config.yaml is looked for. A project's .env file has no say in it.
func configPath(env environment) string {
	if path := env.own("BUREAU_CONFIG"); path != "" {
		return path
	}
	return filepath.Join(configFolder(), "config.yaml")
}

// readConfig reads the user's configuration. A file that is not there is an empty one, unless it was named.
func readConfig(path string, named bool) (config, error) {
	var c config
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return c, nil
	}
	if err != nil {
		return c, usagef("BUREAU_CONFIG names the file; unset it for the default place.", "the configuration cannot be read: %v", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxConfig+1))
	if err != nil {
		return c, usagef("", "the configuration cannot be read: %v", err)
	}
	if len(data) > maxConfig {
		return c, usagef("", "%s is larger than 1 MiB", path)
	}
	if faults := checkConfig(path, data, &c); len(faults) > 0 {
		return c, &usageError{message: "the configuration has faults:\n" + strings.Join(faults, "\n")}
	}
	return c, nil
}

// suggest names the nearest of the candidates that is a likely slip, or all of them.
func suggest(word string, candidates []string) string {
	best, distance := "", min(4, 1+max(2, len(word))/2)
	for _, c := range candidates {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), strings.ToLower(c)); d < distance {
			best, distance = c, d
		}
	}
	if best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	if len(candidates) == 0 {
		return ""
	}
	return "; there are " + strings.Join(candidates, ", ")
}
