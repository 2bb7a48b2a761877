package tool

// Nearest returns up to n of the candidates that a model may have meant by a name that is not there, the likeliest first;
// none when nothing is close.
func Nearest(name string, candidates []string, n int) []string { return nearest(name, candidates, n) }
