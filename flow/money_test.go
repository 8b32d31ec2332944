package flow_test

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
)

// amounts yields amounts of all magnitudes, the ends included.
func amounts(random *rand.Rand, n int) []flow.Money {
	out := []flow.Money{0, 1, -1, flow.USD, -flow.USD, flow.USD + 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1}
	for range n {
		out = append(out, flow.Money(random.Int64()>>random.IntN(63)), -flow.Money(random.Int64()>>random.IntN(63)))
	}
	return out
}

func TestMoneyIsText(t *testing.T) {
	for amount, want := range map[flow.Money]string{
		0: "$0", 1: "$0.000000000001", -1: "-$0.000000000001", flow.USD: "$1", 4_200_000_000: "$0.0042", -flow.USD / 4: "-$0.25",
		math.MaxInt64: "$9223372.036854775807", math.MinInt64: "-$9223372.036854775808",
	} {
		assert.Equal(t, want, amount.String())
	}
}

// TestMoneyIsRoundedForPeople: four significant digits, whole dollars in full, and two decimals of what has cents.
func TestMoneyIsRoundedForPeople(t *testing.T) {
	for amount, want := range map[flow.Money]string{
		0: "$0", 1: "$0.000000000001", -1: "-$0.000000000001", 123_400: "$0.0000001234", 123_449: "$0.0000001234", 123_450: "$0.0000001235",
		20_430_000_000: "$0.02043", 20_434_999_999: "$0.02043", 20_435_000_000: "$0.02044", -20_435_000_000: "-$0.02044",
		flow.USD / 100: "$0.01", 3 * flow.USD / 10: "$0.30", flow.USD - 1: "$1", flow.USD: "$1", flow.USD * 5 / 4: "$1.25",
		flow.USD * 12_345 / 1000: "$12.35", flow.USD * 125 / 10: "$12.50", flow.USD * 999_949 / 1000: "$999.90", flow.USD * 99_996 / 100: "$1000",
		flow.USD * 12_345: "$12345", flow.USD*12_345 + flow.USD/2: "$12346", flow.USD*12_345 + flow.USD/2 - 1: "$12345",
		math.MaxInt64: "$9223372", math.MinInt64: "-$9223372",
	} {
		assert.Equal(t, want, amount.Rounded(), "%d", int64(amount))
	}
}

func TestMoneyIsExactInJSON(t *testing.T) {
	for _, amount := range amounts(rand.New(rand.NewPCG(1, 2)), 2000) {
		data, err := json.Marshal(amount)
		require.NoError(t, err)
		var read flow.Money
		require.NoError(t, json.Unmarshal(data, &read), "%s", data)
		require.Equal(t, amount, read, "%s", data)
	}
}

func TestMoneyReads(t *testing.T) {
	for text, want := range map[string]flow.Money{
		"0": 0, "-0": 0, "0.25": flow.USD / 4, "25e-2": flow.USD / 4, "1E3": 1000 * flow.USD, "1e-12": 1, "0.0000000000010": 1, "9223372.036854775807": math.MaxInt64,
	} {
		var read flow.Money
		require.NoError(t, json.Unmarshal([]byte(text), &read), text)
		assert.Equal(t, want, read, text)
	}
	for _, text := range []string{
		"1e-13", "0.0000000000001", "9223372.036854775808", "-9223372.036854775809", "1e7", "1e31", "1e-31", "1e999999999", "1e99999999999999999999",
		`"ten"`, `""`, "null", "true", "[]", "{}", `"NaN"`, `"Infinity"`, `"0x10"`, `"1/3"`, `"1_000"`, `"$1"`, "0.00000000000000000000000000000000000000000000",
	} {
		read := flow.Money(7)
		assert.Error(t, json.Unmarshal([]byte(text), &read), text)
		assert.Equal(t, flow.Money(7), read, "%s leaves it alone", text)
	}
}

// Sums and products are exact, and stay at the largest amount where they do not fit.
func TestMoneySaturates(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	saturated := func(n *big.Int) flow.Money {
		if n.IsInt64() {
			return flow.Money(n.Int64())
		}
		return math.MaxInt64
	}
	all := amounts(random, 300)
	for _, m := range all {
		for _, n := range all {
			if m < 0 || n < 0 {
				continue
			}
			require.Equal(t, saturated(new(big.Int).Add(big.NewInt(int64(m)), big.NewInt(int64(n)))), m.Plus(n), "%d + %d", m, n)
			require.Equal(t, saturated(new(big.Int).Mul(big.NewInt(int64(m)), big.NewInt(int64(n)))), m.Times(int(n)), "%d × %d", m, n)
		}
	}
	assert.Zero(t, flow.USD.Times(-1), "nobody is paid for tokens")
	assert.Zero(t, (-flow.USD).Times(1))
}

func FuzzMoney(f *testing.F) {
	for _, seed := range []string{"0", "-0.5", "1e-12", "1e400", `"1"`, "null", "9223372.036854775807", "1e+5"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m flow.Money
		if m.UnmarshalJSON(data) != nil {
			return
		}
		written, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var again flow.Money
		if err := json.Unmarshal(written, &again); err != nil || again != m {
			t.Fatalf("%q: %v, %s, %v", data, m, written, err)
		}
	})
}
