package limit

import (
	"math"
	"time"

	"golang.org/x/time/rate"
)

// maxDebt bounds by how much a bucket may be overdrawn, in multiples of its size. A vendor that reports
// an absurd usage must not block a model for ever.
const maxDebt = 10

// bucket is a [rate.Limiter] that takes refunds and may be overdrawn, because what a call has used is
// known only afterwards. A nil bucket has no limit.
type bucket struct {
	limiter *rate.Limiter
	minute  float64 // the inflow per minute at full speed
	size    int     // the capacity at full speed
}

// newBucket returns a full bucket, or nil if there is no limit.
func newBucket(minute, size int) *bucket {
	if minute <= 0 {
		return nil
	}
	perSecond := rate.Limit(float64(minute) / 60)
	return &bucket{limiter: rate.NewLimiter(perSecond, size), minute: float64(minute), size: size}
}

// wait returns how long it takes until the bucket holds n or is full. A call that needs more than the
// capacity must get through as well.
func (b *bucket) wait(now time.Time, n int) time.Duration {
	if b == nil {
		return 0
	}
	missing := float64(min(n, b.limiter.Burst())) - b.limiter.TokensAt(now)
	if missing <= 0 {
		return 0
	}
	// A call that waits looks again at the end of the wait, so an hour is enough. Below half a
	// nanosecond, the amount missing is only a rounding error.
	seconds := min(missing/float64(b.limiter.Limit()), 3600)
	return time.Duration(math.Round(seconds * float64(time.Second)))
}

// take takes n out, even if the bucket holds less. A negative n is a refund.
func (b *bucket) take(now time.Time, n int) {
	if b == nil || n == 0 {
		return
	}
	// Nobody waits for the reservation: a reservation can overdraw the limiter or, if it is negative,
	// refund it. A limiter reserves at most its burst, so the burst is raised first.
	if burst := b.limiter.Burst(); n > burst {
		room := b.limiter.TokensAt(now) + maxDebt*float64(b.size)
		n = int(min(float64(n), max(0, room)))
		b.limiter.SetBurstAt(now, max(n, burst))
		defer b.limiter.SetBurstAt(now, burst)
	}
	b.limiter.ReserveN(now, n)
}

// slow reduces the inflow to a share of full speed. The capacity shrinks in proportion, so that the
// bucket still takes the same time to fill.
func (b *bucket) slow(now time.Time, share float64) {
	if b == nil {
		return
	}
	b.limiter.SetLimitAt(now, rate.Limit(b.minute*share/60))
	b.limiter.SetBurstAt(now, max(1, int(float64(b.size)*share)))
}

// drain empties the bucket. A debt stays.
func (b *bucket) drain(now time.Time) {
	if b == nil || b.limiter.TokensAt(now) <= 0 {
		return
	}
	// A limiter gives out whole numbers only, and it may hold a fraction. A new limiter is full, so
	// exactly its burst can be taken.
	burst := b.limiter.Burst()
	b.limiter = rate.NewLimiter(b.limiter.Limit(), burst)
	b.limiter.ReserveN(now, burst)
}
