package storetest

import "github.com/agonist-dev/debate/internal/longform"

func crowdOfDebates() int { return longform.Sized(1000, 300, 120) }

func longLog() int { return longform.Sized(3000, 900, 900) } // events

func randomSteps() int { return longform.Sized(150, 50, 25) }

// manyEvents is more than most databases allow as parameters of one statement, unless the race detector looks on.
func manyEvents() int { return longform.Sized(20_000, 20_000, 500) }

func longText() int { return longform.Sized(1<<20, 1<<20, 1<<16) } // bytes

func sizesApart() int { return longform.Sized(8, 8, 100) } // bytes

// manySizes is how many texts there are of which each is longer than the one before it.
func manySizes() int { return longform.Sized(200, 200, 60) }
