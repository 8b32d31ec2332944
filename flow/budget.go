package flow

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/text"
)

// A budget is kept because a call starts only if the most that it can cost fits. The files of the group:
//
//   - budget_limit warns, ends the rounds at a limit, and says with how much all of them would run.
//   - budget_start lets a call start, with a lower cap on its reply where little is left, or not.
//   - budget_reserve reserves what the conclusion needs, by how long replies usually are.
//   - budget_afford refuses, before a start, what could not pay for one round and the conclusion.
//   - budget_estimate foresees what a conversation uses.
//   - budget_account adds up what was used.
//
// Sums are whole numbers of 10⁻¹² USD, so that they are exact.

// Budget limits what a conversation may use.
//
//   - Warn, Soft and Hard limit the cost. They need a known price for every model of the conversation.
//   - The other limits apply to the whole conversation, failed attempts included.
//   - Hard limits also count what calls may have used that were broken off (see [Unsettled]). Soft limits and Warn
//     count of these only the attempts that have ended without a usage.
//   - A limit that is 0 does not limit. So a host program that computes one does not start when nothing is left.
//
//nolint:recvcheck // encoding/json asks a value for MarshalJSON
type Budget struct {
	// Warn gives one warning event when the spend reaches it.
	Warn Money `json:"warn,omitempty"`
	// Confirm makes the conversation wait at Warn until a person answers the inquiry
	// [InquiryCost] with [OptionContinue]. In an unattended conversation a [FailureRule] answers; without
	// one it goes to the error state, and Session.Retry confirms the warning.
	Confirm bool `json:"confirm,omitempty"`
	// Soft is the cost at which the rounds end, and the conclusion follows; SoftTokens, SoftCalls and SoftTime end them likewise. If
	// there is any soft limit, or Confirm, what the calls of the conclusion can use with usual replies is reserved within the hard
	// limits: the rounds end before that is used. So the same amount may be the soft and the hard limit.
	Soft       Money `json:"soft,omitempty"`
	SoftTokens int   `json:"softTokens,omitempty"` // input and output
	SoftCalls  int   `json:"softCalls,omitempty"`  // attempts
	// SoftTime and HardTime count from the start; pauses, and time without a process, included. Of a conversation that was reopened they
	// count from then. They are watched while a person is awaited too, and after a pause. At SoftTime the open questions of the rounds are
	// over.
	SoftTime time.Duration `json:"-"`
	// Hard is the cost that is never passed: no call starts whose worst case would pass a hard limit. Where little is left, calls are
	// made one after the other, and the caps on their replies are lowered as long as a usual reply still fits; see [Intent].Lowered. At
	// HardTime the calls in flight are aborted. Without a soft limit and Confirm, a hard limit stops the conversation with an error of
	// kind cost_limit, and there is no conclusion. With one of them, a limit of cost, tokens or calls does so only if the conclusion
	// does not fit either. Open questions stay open: an answer is recorded, and if it is the last thing that the conclusion lacks, the
	// conversation is completed.
	Hard       Money         `json:"hard,omitempty"`
	HardTokens int           `json:"hardTokens,omitempty"` // input and output
	HardCalls  int           `json:"hardCalls,omitempty"`  // attempts
	HardTime   time.Duration `json:"-"`
}

// budgetFields is Budget without its methods.
type budgetFields Budget

// budgetJSON writes durations as text.
type budgetJSON struct {
	budgetFields

	SoftTime Duration `json:"softTime,omitempty"`
	HardTime Duration `json:"hardTime,omitempty"`
}

// MarshalJSON writes the budget. Durations are strings such as "90s".
func (b Budget) MarshalJSON() ([]byte, error) {
	return json.Marshal(budgetJSON{budgetFields(b), Duration(b.SoftTime), Duration(b.HardTime)})
}

// UnmarshalJSON reads a budget strictly. Its errors are those of [DecodeStrict].
func (b *Budget) UnmarshalJSON(data []byte) error {
	var in budgetJSON
	if err := DecodeStrict("read budget", data, &in); err != nil {
		return err
	}
	*b = Budget(in.budgetFields)
	b.SoftTime, b.HardTime = time.Duration(in.SoftTime), time.Duration(in.HardTime)
	return nil
}

// Money is an amount in pico-USD (10⁻¹² USD). The price of a single token is a whole number of them, so sums are
// exact. In JSON an amount is a decimal number of USD: 0.25 is 25 cents. The largest amount is about 9.2 million
// USD; larger sums are capped at it.
type Money int64

// USD is one US dollar.
const USD Money = 1_000_000_000_000

// String returns the amount in USD, such as "$0.0042", with as many decimals as it has. Texts for people have [Money.Rounded].
func (m Money) String() string {
	s := m.decimal()
	if strings.HasPrefix(s, "-") {
		return "-$" + s[1:]
	}
	return "$" + s
}

// Rounded returns the amount in USD as people read it: four significant digits, halves away from zero, such as "$0.02043".
// Whole dollars are never rounded ("$12345"), and cents are written in full ("$0.30").
func (m Money) Rounded() string {
	sign, abs := "$", uint64(m) //nolint:gosec // of a negative amount the next lines take the complement back
	if m < 0 {
		sign, abs = "-$", -abs
	}
	unit := uint64(1)
	for abs/unit >= 10_000 && unit < uint64(USD) {
		unit *= 10
	}
	abs = (abs + unit/2) / unit * unit
	whole, part := strconv.FormatUint(abs/uint64(USD), 10), abs%uint64(USD)
	if part == 0 {
		return sign + whole
	}
	decimals := strings.TrimRight(fmt.Sprintf("%012d", part), "0")
	if len(decimals) == 1 {
		decimals += "0"
	}
	return sign + whole + "." + decimals
}

// decimal writes the amount in USD without rounding.
func (m Money) decimal() string {
	sign, abs := "", uint64(m) //nolint:gosec // of a negative amount the next lines take the complement back
	if m < 0 {
		sign, abs = "-", -abs
	}
	whole, part := abs/uint64(USD), abs%uint64(USD)
	if part == 0 {
		return sign + strconv.FormatUint(whole, 10)
	}
	return sign + strconv.FormatUint(whole, 10) + "." + strings.TrimRight(fmt.Sprintf("%012d", part), "0")
}

// MarshalJSON writes a decimal number of USD.
func (m Money) MarshalJSON() ([]byte, error) { return []byte(m.decimal()), nil }

// UnmarshalJSON reads a decimal number of USD. More than twelve decimals, or an amount out of range, is an error:
// money is never rounded silently.
func (m *Money) UnmarshalJSON(data []byte) error {
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil || number == "" || len(number) > 40 || data[0] == '"' {
		return fmt.Errorf("%s is not an amount of USD: write a number such as 1.5", text.OneLine(string(data), 40))
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(string(number)), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n < -30 || n > 30 {
			return fmt.Errorf("%s USD is out of range", number)
		}
	}
	rat, ok := new(big.Rat).SetString(string(number))
	if !ok {
		return fmt.Errorf("%s is not an amount of USD: write a number such as 1.5", text.OneLine(string(data), 40))
	}
	rat.Mul(rat, new(big.Rat).SetInt64(int64(USD)))
	if !rat.IsInt() || !rat.Num().IsInt64() {
		return fmt.Errorf("%s USD does not fit: at most 12 decimals and 9.2 million", number)
	}
	*m = Money(rat.Num().Int64())
	return nil
}

// roundedUp rounds an amount that is not negative up to so many significant digits. An amount that is too large for that stays as it is.
func roundedUp(m Money, digits int) Money {
	most, unit := Money(1), Money(1)
	for range digits {
		most *= 10
	}
	for m/unit >= most {
		unit *= 10
	}
	if rest := m % unit; rest > 0 && m <= math.MaxInt64-unit {
		m += unit - rest
	}
	return m
}

// Plus adds without overflow. A sum that is too large becomes the largest amount.
func (m Money) Plus(n Money) Money {
	if n > 0 && m > math.MaxInt64-n {
		return math.MaxInt64
	}
	return m + n
}

// times multiplies a price by a count without overflow. A product that is too large becomes the largest amount.
func (m Money) times(n int) Money {
	if m <= 0 || n <= 0 {
		return 0
	}
	if int64(n) > math.MaxInt64/int64(m) {
		return math.MaxInt64
	}
	return m * Money(n)
}
