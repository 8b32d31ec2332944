package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// column is one figure of all sides, a value for each lap.
type column struct {
	name string
	unit string
	laps map[string][]float64
}

// figure is a line of JSON: one side in one column.
type figure struct {
	Column string  `json:"column"`
	Unit   string  `json:"unit"`
	Side   string  `json:"side"`
	Median float64 `json:"median"`
	Low    float64 `json:"low"`  // the lower quartile
	High   float64 `json:"high"` // the upper quartile
	Laps   int     `json:"laps"`
	// Ratio is the median of the ratios of debate to this side; 0: unknown.
	Ratio float64 `json:"ratio,omitempty"`
}

func (c column) figures() []figure {
	var list []figure
	for _, side := range []string{sideFloor, sideEino, sideDebate} {
		laps := c.laps[side]
		if quantile(laps, 0.5) == 0 {
			continue
		}
		list = append(list, figure{
			c.name, c.unit, side, quantile(laps, 0.5), quantile(laps, 0.25), quantile(laps, 0.75), len(laps),
			ratio(c.laps[sideDebate], laps),
		})
	}
	return list
}

// output writes each column as soon as it is measured.
type output struct {
	w     io.Writer
	lines bool // JSON lines in place of a table
}

func (o output) head() error {
	if o.lines {
		return nil
	}
	_, err := io.WriteString(o.w, "| | unit | floor | eino | debate | debate ÷ eino | debate ÷ floor |\n|---|---|---|---|---|---|---|\n")
	return err
}

func (o output) column(c column) error {
	medians, ratios := map[string]string{}, map[string]string{}
	for _, f := range c.figures() {
		if o.lines {
			if err := json.NewEncoder(o.w).Encode(f); err != nil {
				return err
			}
			continue
		}
		medians[f.Side] = strconv.FormatFloat(f.Median, 'g', 3, 64)
		if f.Ratio > 0 {
			ratios[f.Side] = strconv.FormatFloat(f.Ratio, 'f', 2, 64)
		}
	}
	if o.lines {
		return nil
	}
	_, err := fmt.Fprintf(o.w, "| %s | %s | %s | %s | %s | %s | %s |\n", c.name, c.unit,
		medians[sideFloor], medians[sideEino], medians[sideDebate], ratios[sideEino], ratios[sideFloor])
	return err
}
