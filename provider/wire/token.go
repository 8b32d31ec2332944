package wire

import "github.com/agonist-dev/debate/provider"

// Tokens are the counts in a usage object of OpenAI's protocols, as servers report them.
type Tokens struct {
	Input, Output, Total Count
	Cached, Written      Count // input tokens that were read from a cache, or written to it
	Reasoning            Count
	// Thinks means that the server counts thoughts in the total alone, where it reports no Reasoning: the rest of the total
	// is output.
	Thinks bool
}

// Usage returns the usage. Servers count cached tokens inside the input or beside it, and reasoning inside the output or
// beside it. The total shows which. Where it does not, they are inside, unless they are more than the input or the output: an
// adapter of a server that sends no total and counts them beside adds them to Input. If nothing adds up to the total, it
// returns the zero Usage (unknown): a rest that nobody explains must not be priced as output.
func (t Tokens) Usage() provider.Usage {
	input, output, total := int(t.Input), int(t.Output), int(t.Total)
	cached, written, reasoning := int(t.Cached), int(t.Written), int(t.Reasoning)
	known, beside := false, 0 // of the input
	for _, one := range []struct{ sum, cache, thoughts int }{
		{input + output, 0, 0},
		{input + output + reasoning, 0, reasoning},
		{input + output + cached + written, cached + written, 0},
		{input + output + cached, cached, 0},
		{input + output + cached + written + reasoning, cached + written, reasoning},
		{input - cached + output, 0, 0},
	} {
		if total == one.sum || total == 0 {
			known, beside = true, one.cache
			output += one.thoughts
			break
		}
	}
	switch rest := total - input - output; {
	case known:
	case t.Thinks && reasoning == 0 && input > 0 && rest > 0:
		output, reasoning = output+rest, rest
	default:
		return provider.Usage{}
	}
	if beside == 0 && cached > input {
		beside = cached + written
	}
	if reasoning > output {
		output += reasoning
	}
	input += beside
	cached = min(cached, input)
	return provider.Usage{
		Input: input, CachedInput: cached, CacheWrite: min(written, input-cached), Output: output, Reasoning: min(reasoning, output),
	}
}
