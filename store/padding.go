package store

// A streaming row that has outgrown its page is brought up to date many times. SQLite writes a record whose size has
// changed anew, with every page of its text; one of the same size it compares page by page and writes those that differ.
// So such a row carries zeros behind its text, which give way as the text grows; when they are used up, it takes room for
// half as much again. The zeros are not read with the row, and stay when it is finished, unless they outweigh the text:
// to take them away would write all of it once more.
const (
	// padFrom is the size up to which a row fits in its page, so that bringing it up to date writes that page alone.
	padFrom = 1500
	// padMin is the least room that is made.
	padMin = 16 << 10
)

// padding returns how many zeros a row gets whose changing texts take need bytes, if the record had room for so many for
// texts and zeros together, zeros being pad of them.
func padding(need, had, pad int, finished bool) int {
	left := 0
	if pad > 0 {
		left = fill(had - need)
	}
	switch {
	case finished && left > need, finished && pad == 0, pad == 0 && need <= padFrom:
		return 0
	case left > 0 || finished:
		return left
	}
	return padMin + need/2
}

// fill returns the number of zeros that take exactly size bytes of a record; 0 if there is none.
func fill(size int) int {
	const longest = 9 // bytes of a number in a record's header
	for n := max(1, size-longest); n < size; n++ {
		if zerosSize(n) == size {
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

// zerosSize is what n zeros take in a record.
func zerosSize(n int) int { return n + varintSize(2*n+12) }

// varintSize is the number of bytes of a number in a record's header, seven bits in each.
func varintSize(n int) int {
	size := 1
	for ; n > 127; n >>= 7 {
		size++
	}
	return size
}
