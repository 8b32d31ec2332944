package wire

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads how long the server asks to wait: Retry-After-Ms, then Retry-After, in seconds or as a
// date. A date is taken relative to the server's own clock if the server reports that.
func (x *Exchange) retryAfter() time.Duration {
	if d, ok := units(x.Header("Retry-After-Ms"), time.Millisecond); ok && d > 0 { // Azure sends 0 beside a wait in seconds
		return d
	}
	value := x.Header("Retry-After")
	if d, ok := units(value, time.Second); ok {
		return d
	}
	date, err := http.ParseTime(value)
	if err != nil {
		return 0
	}
	return max(0, date.Sub(x.now()))
}

// now returns the server's time if the server reports it.
func (x *Exchange) now() time.Time {
	if now, err := http.ParseTime(x.Header("Date")); err == nil {
		return now
	}
	return time.Now()
}

// units reads a number of units. It caps the result at a year, which keeps the product in range.
func units(s string, unit time.Duration) (time.Duration, bool) {
	const year = 365 * 24 * time.Hour
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || n != n || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(year))), true
}
