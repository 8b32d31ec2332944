package storetest

import "github.com/agonist-dev/debate/internal/longform"

func crowdOfDebates() int { return longform.Sized(1000, 300, 100) }

func longLog() int { return longform.Sized(3000, 900, 300) } // events

func randomSteps() int { return longform.Or(150, 50) }
