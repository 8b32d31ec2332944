package wire

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryAfter reads how long the server asks to wait: Retry-After-Ms, then Retry-After. A value is a number of units, a
// duration such as "1m30s", a date, or the time at which the limit ends, in units since 1970. Times are taken relative to the server's
// own clock if the server reports that.
func (x *Exchange) retryAfter() time.Duration {
	if d := x.waiting(x.Header("Retry-After-Ms"), time.Millisecond); d > 0 { // Azure sends 0 beside a wait in seconds
		return d
	}
	return x.waiting(x.Header("Retry-After"), time.Second)
}

// waiting reads a wait; 0: it names none, or one that is over.
func (x *Exchange) waiting(value string, unit time.Duration) time.Duration {
	value = strings.TrimSpace(value)
	if d, ok := units(value, unit); ok {
		if at := epoch(value); at.After(x.now().Add(-day)) { // one long gone by is a number of units
			d = at.Sub(x.now())
		}
		return min(max(0, d), year)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return min(max(0, d), year)
	}
	for _, layout := range []string{http.TimeFormat, time.RFC850, time.ANSIC, time.RFC3339, time.RFC1123, time.RFC1123Z} {
		if date, err := time.Parse(layout, value); err == nil {
			return min(max(0, date.Sub(x.now())), year)
		}
	}
	return 0
}

const (
	day  = 24 * time.Hour
	year = 365 * day
)

// epoch reads a number as a time since 1970, in seconds, milliseconds, microseconds or nanoseconds, by its size. The zero time: it is
// too small for one.
func epoch(value string) time.Time {
	n, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || n < 1e8 || n > 1e19:
		return time.Time{}
	case n < 1e11:
		return time.UnixMilli(int64(n * 1e3))
	case n < 1e14:
		return time.UnixMilli(int64(n))
	case n < 1e17:
		return time.UnixMicro(int64(n))
	default:
		return time.Unix(0, int64(min(n, math.MaxInt64/2)))
	}
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
	n, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || n != n || n < 0 {
		return 0, false
	}
	return time.Duration(min(n*float64(unit), float64(year))), true
}

// saidWait returns the wait that a message names; 0: it names none.
func saidWait(words string) (wait time.Duration) {
	found := waitWords().FindStringSubmatch(words)
	if found == nil {
		return 0
	}
	for _, part := range waitPart().FindAllStringSubmatch(found[1], -1) {
		unit := time.Second
		switch {
		case strings.HasPrefix(part[2], "ms"), strings.HasPrefix(part[2], "mil"):
			unit = time.Millisecond
		case part[2][0] == 'm':
			unit = time.Minute
		case part[2][0] == 'h':
			unit = time.Hour
		case part[2][0] == 'd':
			unit = day
		}
		d, _ := units(part[1], unit)
		wait = min(wait+d, year)
	}
	return wait
}

// amount is a part of a wait: "7m", "37.8 seconds".
const amount = `(\d+(?:\.\d+)?) ?(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)`

// The wait that a message names, in lower case, and its parts.
//
//nolint:gochecknoglobals // read only
var (
	waitWords = pattern(`\b(?:try again|retry|wait)\W+(?:\w+\W+){0,3}?((?:` + amount + `[, ]*(?:and )?)+)\b`)
	waitPart  = pattern(amount)
)
