package flow

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// RetryPolicy is the policy for calls that fail. It says how often each kind of failure is retried with the same
// model before a fallback takes over, and how long to wait. Fields that are zero have their default.
//
//nolint:recvcheck // encoding/json asks a value for MarshalJSON
type RetryPolicy struct {
	// Max is the number of retries by kind. Kinds that it does not name keep their default: network 3, rate_limit
	// 5, api_error 2, timeout 2, invalid_response 1, all others 0. (An answer that is not accepted is another thing: see
	// [Rejection].) Quota, authentication, refusal, content_filter, validation, context_overflow, tool_limit and unknown are never
	// retried; a number above 0 for one of them is an error.
	// After 1000 attempts at one call without a result, the conversation goes to the error state.
	//
	// When the retries are used up and no fallback model is left, the call waits for an outage to pass; see [Settings].Patience.
	Max map[Kind]int `json:"max,omitempty" redact:"-"`
	// Base is the first wait. Each further wait is twice as long, and none is shorter than the vendor asks. 0: 1 s.
	Base time.Duration `json:"-"`
	// Cap bounds a wait, without its jitter. If a vendor asks for a longer wait, the call goes to its fallback
	// models. If there is none, it waits as long as the vendor says, within [Settings].Patience. 0: 60 s.
	Cap time.Duration `json:"-"`
	// Jitter bounds the random time that is added to each wait. 0: 1 s.
	Jitter time.Duration `json:"-"`
	// RateLimit is the wait after a rate limit for which the vendor named no time. If it named one, RateLimit bounds what the engine
	// adds to that. 0: 60 s.
	RateLimit time.Duration `json:"-"`
}

// Clone returns a deep copy; nil of nil.
func (p *RetryPolicy) Clone() *RetryPolicy {
	out := CloneValue(p)
	if out != nil {
		out.Max = maps.Clone(out.Max)
	}
	return out
}

func retryDefaults(p *RetryPolicy) RetryPolicy {
	var out RetryPolicy
	if p != nil {
		out = *p
	}
	out.Base = cmp.Or(out.Base, time.Second)
	out.Cap = cmp.Or(out.Cap, 60*time.Second)
	out.Jitter = cmp.Or(out.Jitter, time.Second)
	out.RateLimit = cmp.Or(out.RateLimit, 60*time.Second)
	return out
}

// hopeless reports whether a retry of this kind of failure would always fail again.
func hopeless(kind Kind) bool {
	switch kind {
	case provider.KindQuota, provider.KindAuthentication, provider.KindRefusal, provider.KindContentFilter,
		provider.KindValidation, provider.KindContextOverflow, provider.KindToolLimit, provider.KindUnknown:
		return true
	default:
		return false
	}
}

// mostRetries returns how often a failure of this kind is retried.
func mostRetries(p *RetryPolicy, kind Kind) int {
	if hopeless(kind) {
		return 0
	}
	if p != nil {
		if n, ok := p.Max[kind]; ok {
			return n
		}
	}
	switch kind {
	case provider.KindNetwork:
		return 3
	case provider.KindRateLimit:
		return 5
	case provider.KindAPI, provider.KindTimeout:
		return 2
	case provider.KindInvalidResponse:
		return 1
	default:
		return 0
	}
}

// retryDelay returns how long to wait before the next attempt. false: there is none. tries are the failures of this call
// with this model so far, the last one included. after is the wait that the vendor asked for.
func retryDelay(p *RetryPolicy, tries []Kind, after time.Duration, bits uint64) (time.Duration, bool) {
	kind := tries[len(tries)-1]
	same := len(slices.DeleteFunc(slices.Clone(tries), func(k Kind) bool { return k != kind }))
	policy := retryDefaults(p)
	if same > mostRetries(p, kind) || after > policy.Cap {
		return 0, false
	}
	return backoff(&policy, kind, same, after) + jitterOf(&policy, bits), true
}

// backoff returns the nth wait, from 1, after failures of this kind. It is not shorter than after, for which the vendor has asked: a limit
// on calls that run side by side names a second, and lasts as long as the other call. The policy has its defaults.
func backoff(p *RetryPolicy, kind Kind, n int, after time.Duration) time.Duration {
	most, wait := p.Cap, p.Base
	if kind == provider.KindRateLimit {
		if most = min(p.RateLimit, p.Cap); after <= 0 {
			return most
		}
	}
	for range min(n-1, 63) { // of whole nanoseconds: by then every Cap is reached
		if wait > most/2 {
			wait = most
			break
		}
		wait *= 2
	}
	return max(after, min(wait, most))
}

// jitterOf returns a random part of Jitter.
func jitterOf(p *RetryPolicy, bits uint64) time.Duration {
	return time.Duration(bits % uint64(p.Jitter+1)) //nolint:gosec // checked: Jitter is not negative
}

// retryFields is RetryPolicy without its methods.
type retryFields RetryPolicy

// retryJSON writes durations as text.
type retryJSON struct {
	retryFields

	Base      Duration `json:"base,omitempty"`
	Cap       Duration `json:"cap,omitempty"`
	Jitter    Duration `json:"jitter,omitempty"`
	RateLimit Duration `json:"rateLimit,omitempty"`
}

// MarshalJSON writes the policy. Durations are strings such as "2s".
func (p RetryPolicy) MarshalJSON() ([]byte, error) {
	return json.Marshal(retryJSON{retryFields(p), Duration(p.Base), Duration(p.Cap), Duration(p.Jitter), Duration(p.RateLimit)})
}

// UnmarshalJSON reads a policy strictly. Its errors are those of [DecodeStrict].
func (p *RetryPolicy) UnmarshalJSON(data []byte) error {
	var in retryJSON
	if err := DecodeStrict("read retry policy", data, &in); err != nil {
		return err
	}
	*p = RetryPolicy(in.retryFields)
	p.Base, p.Cap, p.Jitter, p.RateLimit = time.Duration(in.Base), time.Duration(in.Cap), time.Duration(in.Jitter), time.Duration(in.RateLimit)
	return nil
}
