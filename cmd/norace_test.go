//go:build !race

package cmd_test

const slowed = false
