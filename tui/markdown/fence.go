package markdown

import "strings"

// chunk is after how many bytes the colours of an open fence are settled.
const chunk = 1 << 10

// fenceRows are the rows of the fence that a growing text ends in, up to a line that has settled. Colouring code is slow,
// and a fence cannot be cut: without this a long one would cost its whole length with every piece.
type fenceRows struct {
	opening string // its first line
	settled string // the code that rows were made from
	rows    []string
}

// tail lays out what follows the cut.
func (d *Doc) tail(src string) rendered {
	c := &d.cutter
	if len(src) < chunk || c.fence == "" || c.fenceAt != c.cut || c.done || len(d.src) > maxText {
		return d.layout(src, d.stable.refs)
	}
	opening, code, _ := strings.Cut(src, "\n")
	if f := &d.fence; f.opening != opening || !strings.HasPrefix(code, f.settled) {
		*f = fenceRows{opening: opening}
	}
	d.settle(code)
	rest := d.layout(opening+"\n"+code[len(d.fence.settled):], d.stable.refs)
	rest.rows = append(d.fence.rows[:len(d.fence.rows):len(d.fence.rows)], rest.rows...)
	return rest
}

// settle moves code to the rows that stay, in whole lines and all but the last chunk or so. A piece does not end in a blank
// line: no row would be made of it.
func (d *Doc) settle(code string) {
	f := &d.fence
	for len(code)-len(f.settled) > chunk+chunk/2 {
		piece := code[len(f.settled):][:chunk]
		piece = piece[:strings.LastIndexByte(piece, '\n')+1]
		piece = strings.TrimRight(piece, "\n ")
		if piece == "" || code[len(f.settled)+len(piece)] != '\n' {
			return
		}
		f.rows = append(f.rows, d.layout(f.opening+"\n"+piece, nil).rows...)
		f.settled = code[:len(f.settled)+len(piece)+1]
	}
}
