// Package anthropic speaks Anthropic's Messages API.
package anthropic
