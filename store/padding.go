package store

// A streaming row that has outgrown its page is brought up to date many times. SQLite writes a record whose size has
// changed anew, with every page of its text; one of the same size it compares page by page and writes those that differ.
// So such a row carries zeros behind its text, which give way as the text grows, and take room ahead of it when they
// are used up. A finished row carries none.
const (
	// padFrom is the size up to which a row fits in a page, so that bringing it up to date writes that page alone.
	padFrom = 3000
	// padMin and half of the text are the room that is made: small replies cost little, and the room of a large one grows in proportion.
	padMin = 16 << 10
)

// padding returns how many zeros a streaming row gets whose changing texts have the new sizes. The old ones, and the zeros
// that it has, tell how much room its record takes now.
func padding(old []int, pad int, sizes []int) int {
	need := textsSize(sizes)
	if pad == 0 && need <= padFrom {
		return 0
	}
	if pad > 0 {
		if room := fill(textsSize(old) + zerosSize(pad) - need); room > 0 {
			return room
		}
	}
	return padMin + need/2
}

// fill returns the number of zeros that take exactly size bytes of a record, 0 if there is none.
func fill(size int) int {
	for n := size - 9; n <= size; n++ {
		if n > 0 && zerosSize(n) == size {
			return n
		}
	}
	return 0
}

// textsSize is what texts take in a record, in its header and in its body; an empty one is NULL.
func textsSize(sizes []int) (total int) {
	for _, n := range sizes {
		if n == 0 {
			total++
			continue
		}
		total += n + varintSize(2*n+13)
	}
	return total
}

func zerosSize(n int) int { return n + varintSize(2*n+12) }

// varintSize is the number of bytes of a number in a record's header, seven bits in each.
func varintSize(n int) int {
	size := 1
	for ; n > 127; n >>= 7 {
		size++
	}
	return size
}
