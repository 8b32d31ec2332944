package main

import "strconv"

// The prompts of the floor and of eino; debate has its own.

func system(name string) string {
	if name == judge {
		return "You judge a debate on the question: " + topic
	}
	return "You are " + name + " and debate the question: " + topic
}

func instruction(asked kind, round int) string {
	switch asked {
	case assessing:
		return "Assess round " + strconv.Itoa(round) + "."
	case concluding:
		return "Give your verdict."
	default:
		return "Round " + strconv.Itoa(round) + ": answer the others."
	}
}
