package main

import (
	"strconv"

	w1 "github.com/agonist-dev/debate/internal/bench"
)

// The prompts of the floor and of eino; debate has its own.

func system(name string) string {
	if name == w1.Judge {
		return "You judge a debate on the question: " + w1.Topic
	}
	return "You are " + name + " and debate the question: " + w1.Topic
}

func instruction(asked w1.Kind, round int) string {
	switch asked {
	case w1.Assessing:
		return "Assess round " + strconv.Itoa(round) + "."
	case w1.Concluding:
		return "Give your verdict."
	default:
		return "Round " + strconv.Itoa(round) + ": answer the others."
	}
}
