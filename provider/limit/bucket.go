package limit

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// mostDebt bounds what a bucket may be overdrawn by, in multiples of its size: a vendor that reports an
// absurd usage must not stop a model for ever.
const mostDebt = 10

// bucket is a [rate.Limiter] that is given back to and may be overdrawn: what a call has used is known
// only afterwards. A nil bucket has no limit.
type bucket struct {
	limiter *rate.Limiter
	minute  float64 // what flows in each minute, while nothing is slowed
	size    int     // what it holds, likewise
}

// newBucket makes a full bucket, nil if there is no limit.
func newBucket(minute, size int) *bucket {
	if minute <= 0 {
		return nil
	}
	perSecond := rate.Limit(float64(minute) / 60)
	return &bucket{limiter: rate.NewLimiter(perSecond, size), minute: float64(minute), size: size}
}

// wait yields how long it takes until n are there, or the bucket is full: what is larger than the bucket
// must get through as well.
func (b *bucket) wait(now time.Time, n int) time.Duration {
	if b == nil {
		return 0
	}
	missing := float64(min(n, b.limiter.Burst())) - b.limiter.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	// Who waits looks again when the time is over, so an hour is as good as more. Below half a nanosecond
	// there is nothing but what the arithmetic has lost.
	seconds := min(missing/float64(b.limiter.Limit()), 3600)
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// take takes n out, whether they are there or not; a negative n is put in.
func (b *bucket) take(now time.Time, n int) {
	if b == nil || n == 0 {
		return
	}
	// A reservation is not waited for: it is the way to write off what is not there, and in the negative
	// to write up. A limiter reserves no more than its burst, which therefore makes way.
	if burst := b.limiter.Burst(); n > burst {
		room := b.limiter.TokensAt(now) + mostDebt*float64(b.size)
		n = int(min(float64(n), max(0, room)))
		b.limiter.SetBurstAt(now, max(n, burst))
		defer b.limiter.SetBurstAt(now, burst)
	}
	b.limiter.ReserveN(now, n)
}

// slow makes a share of the usual flow in, and the bucket smaller in the same measure, so that it is full
// after the same time.
func (b *bucket) slow(now time.Time, share float64) {
	if b == nil {
		return
	}
	b.limiter.SetLimitAt(now, rate.Limit(b.minute*share/60))
	b.limiter.SetBurstAt(now, max(1, int(float64(b.size)*share)))
}

// drain takes out what is there. A debt stays.
func (b *bucket) drain(now time.Time) {
	if b == nil || b.limiter.TokensAt(now) <= 0 {
		return
	}
	// From a limiter only whole numbers can be taken, and what is there need not be one; a new one is full.
	burst := b.limiter.Burst()
	b.limiter = rate.NewLimiter(b.limiter.Limit(), burst)
	b.limiter.ReserveN(now, burst)
}
