package flow

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
)

// Money is an amount in pico-USD (10⁻¹² USD). The price of a single token is a whole number of them, so sums are
// exact. In JSON an amount is a decimal number of USD: 0.25 is 25 cents. The largest amount is about 9.2 million
// USD; larger sums stay at it.
type Money int64

// USD is one US dollar.
const USD Money = 1_000_000_000_000

// String returns the amount in USD, such as "$0.0042", with as many decimals as it has.
func (m Money) String() string {
	s := m.decimal()
	if strings.HasPrefix(s, "-") {
		return "-$" + s[1:]
	}
	return "$" + s
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
		return fmt.Errorf("%.40q is not an amount of USD", data)
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(string(number)), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n < -30 || n > 30 {
			return fmt.Errorf("%s USD is out of range", number)
		}
	}
	rat, ok := new(big.Rat).SetString(string(number))
	if !ok {
		return fmt.Errorf("%.40q is not an amount of USD", data)
	}
	rat.Mul(rat, new(big.Rat).SetInt64(int64(USD)))
	if !rat.IsInt() || !rat.Num().IsInt64() {
		return fmt.Errorf("%s USD does not fit: at most 12 decimals and 9.2 million", number)
	}
	*m = Money(rat.Num().Int64())
	return nil
}

// plus adds without overflow. A sum that is too large becomes the largest amount.
func (m Money) plus(n Money) Money {
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
