package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	_ "time/tzdata" // systems without a zone database, Windows among them, get the same zones

	"bureau/engine/llm"
	"bureau/engine/tool"
)

type timeArgs struct {
	Timezone string `json:"timezone"`
}

func currentTimeTool(now func() time.Time) tool.Tool {
	return function[timeArgs]{
		definition: llm.Tool{
			Name:        "current_time",
			Description: "Tells the current date, time and weekday.",
			Parameters: json.RawMessage(`{
				"type": "object",
				"properties": {
					"timezone": {"type": "string", "description": "An IANA time zone such as Europe/Berlin, or UTC. Default: the user's own."}
				},
				"required": [],
				"additionalProperties": false
			}`),
		},
		run: func(_ context.Context, args timeArgs) (string, error) { return currentTime(now(), args.Timezone) },
	}
}

func currentTime(now time.Time, timezone string) (string, error) {
	timezone = strings.TrimSpace(timezone)
	zone := now.Location()
	if timezone != "" {
		found, err := time.LoadLocation(timezone)
		if err != nil {
			return "", fmt.Errorf("unknown time zone %s: give an IANA name such as Europe/Berlin, America/New_York or UTC", quote(timezone))
		}
		zone = found
	}
	now = now.In(zone)
	abbreviation, _ := now.Zone()
	name := zone.String()
	if name == "Local" || name == "" {
		name = "local time"
	}
	return fmt.Sprintf("%s\n%s, %s (%s, UTC%s)", now.Format(time.RFC3339), now.Weekday(), name, abbreviation, now.Format("-07:00")), nil
}
