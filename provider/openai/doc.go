// Package openai speaks OpenAI's Responses API.
package openai
