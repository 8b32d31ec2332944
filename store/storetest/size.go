package storetest

import "github.com/agonist-dev/debate/internal/longform"

func crowdOfDebates() int { return size(1000, 300) }

func longLog() int { return size(3000, 900) } // events

func randomSteps() int { return size(150, 50) }

// size returns n in the long form. The race detector makes each conversation and event ten times slower, and finds the same in fewer.
func size(n, less int) int {
	if longform.Race {
		return less
	}
	return longform.Or(n, less)
}
