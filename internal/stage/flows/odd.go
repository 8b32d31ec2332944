package flows

import "time"

// Oddity is what is wrong with a worker. The zero value: nothing.
type Oddity struct {
	Off  time.Duration // what its clock leads by; a test of it calls process.NeedsClock
	Poor bool          // it has no providers
}

// Odd returns what is wrong with the nth worker of a siege, from 0. The clock of one in three is right, that of the next an hour ahead,
// and that of the third an hour behind. Every fifth worker is poor. Nothing is wrong with the first.
func Odd(n int) Oddity {
	return Oddity{Off: [...]time.Duration{0, time.Hour, -time.Hour}[n%3], Poor: n%5 == 4}
}
