package weave

import (
	"fmt"
	"slices"

	"bureau/engine/llm"
)

// fit keeps the newest units that have room, from a user message on; the last user message and what follows it stay.
func fit(units []unit, room int) []unit {
	last := len(units) - 1
	for last > 0 && !units[last].begins {
		last--
	}
	if last > 0 && units[last-1].reminder {
		last--
	}
	if last < 0 {
		return units
	}
	turn := 0
	for _, u := range units[last:] {
		turn += u.tokens
	}
	if turn > room {
		return trimTurn(units[last:], room)
	}
	start, left := last, room-turn
	for i := last - 1; i >= 0; i-- {
		left -= units[i].tokens
		if left < 0 {
			break
		}
		if units[i].user {
			start = i
		}
	}
	return units[start:]
}

// trimTurn keeps the words of the user and the newest steps that have room, at least one.
func trimTurn(turn []unit, room int) []unit {
	words := 0
	for words < len(turn) && (turn[words].begins || turn[words].reminder) {
		room -= turn[words].tokens
		words++
	}
	room -= leftOut(len(turn) - words).tokens
	from := len(turn)
	for from > words {
		room -= turn[from-1].tokens
		if room < 0 && from < len(turn) {
			break
		}
		from--
	}
	if from == words {
		return turn
	}
	kept := slices.Clone(turn[:words])
	kept = append(kept, leftOut(from-words))
	return append(kept, turn[from:]...)
}

func leftOut(steps int) unit {
	return newUnit(llm.Message{
		Role:    llm.RoleSystem,
		Content: fmt.Sprintf("%d earlier steps of this turn are left out here, because the context window is full.", steps),
	})
}
