package stage

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Dice draws for several goroutines. They get other numbers in another order.
type Dice struct {
	mu   sync.Mutex
	rand *rand.Rand
}

// NewDice returns dice that draw from r. Nobody else may use r any more.
func NewDice(r *rand.Rand) *Dice { return &Dice{rand: r} }

// Below draws a number from 0 to n-1.
func (d *Dice) Below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rand.IntN(n)
}

// UpTo draws a time below limit.
func (d *Dice) UpTo(limit time.Duration) time.Duration { return time.Duration(d.Below(int(limit))) }
