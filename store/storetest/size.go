//go:build !race

package storetest

import "github.com/agonist-dev/debate/internal/longform"

func crowdOfDebates() int { return longform.Or(1000, 300) }

func longLog() int { return longform.Or(3000, 900) } // events

func randomSteps() int { return longform.Or(150, 50) }
