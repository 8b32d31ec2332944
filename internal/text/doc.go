// Package text cuts, compares, labels and fences words.
package text
