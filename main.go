// Bureau runs agencies in a terminal: teams of LLM agents that delegate to one another and hand conversations over.
package main

import (
	"os"

	"bureau/cmd"
)

func main() { os.Exit(cmd.Main()) }
