//go:build race

package cmd_test

// slowed tells that the race detector is on: each run of the program then takes many times as long.
const slowed = true
