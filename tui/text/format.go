package text

import (
	"fmt"
	"time"
)

// Tokens writes a count in at most five characters: 950, 1.2k, 34k, 3.4M.
func Tokens(n int64) string {
	switch {
	case n < 0:
		return "0"
	case n < 1000:
		return fmt.Sprint(n)
	case n < 9_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	case n < 999_500:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	case n < 99_950_000:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0fM", float64(n)/1e6)
}

// Elapsed writes how long something took: 0.4s, 12s, 3m05s, 2h10m, 3d04h.
func Elapsed(d time.Duration) string {
	d = max(d, 0)
	switch s := int64(d / time.Second); {
	case d < 9_950*time.Millisecond:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	default:
		return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
	}
}

// Bytes writes a size: 950 B, 1.2 KB, 34 MB; a kilobyte has 1024 bytes.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", max(n, 0))
	}
	v, unit := float64(n)/1024, 0
	for v >= 1023.5 && unit < 4 {
		v, unit = v/1024, unit+1
	}
	name := [...]string{"KB", "MB", "GB", "TB", "PB"}[unit]
	if v < 9.95 {
		return fmt.Sprintf("%.1f %s", v, name)
	}
	return fmt.Sprintf("%.0f %s", v, name)
}

// Ago writes how long ago something was: just now, 5m ago, 3h ago, 12d ago, 2y ago.
func Ago(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%dm ago", d/time.Minute)
	case d < day:
		return fmt.Sprintf("%dh ago", d/time.Hour)
	case d < 365*day:
		return fmt.Sprintf("%dd ago", d/day)
	}
	return fmt.Sprintf("%dy ago", d/(365*day))
}
