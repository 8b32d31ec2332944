// Package google speaks Google's Gemini API.
package google
