package storetest

import "github.com/agonist-dev/debate/internal/longform"

func crowdOfDebates() int { return longform.Sized(1000, 300, 300) }

func longLog() int { return longform.Sized(3000, 900, 900) } // events

func randomSteps() int { return longform.Sized(150, 50, 50) }
