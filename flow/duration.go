package flow

import (
	"fmt"
	"time"
)

// Duration is a time.Duration whose JSON is text such as "1m30s".
type Duration time.Duration

// MarshalText writes the duration as text such as "1m30s".
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads text such as "1m30s".
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		return fmt.Errorf("%.40q is not a duration such as \"90s\"", text)
	}
	*d = Duration(v)
	return nil
}
