package storetest

import "github.com/agonist-dev/debate/internal/longform"

func crowdOfDebates() int { return longform.Sized(1000, 300, 300) }

func longLog() int { return longform.Sized(3000, 900, 900) } // events

func randomSteps() int { return longform.Sized(150, 50, 50) }

// manyEvents is more than most databases allow as parameters of one statement, unless the race detector looks on.
func manyEvents() int { return longform.Sized(20_000, 20_000, 2000) }

func longText() int { return longform.Sized(1<<20, 1<<20, 1<<17) } // bytes

func sizesApart() int { return longform.Sized(8, 8, 40) } // bytes
