package openaicompat

import (
	"cmp"
	"errors"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// stops are the finish reasons of the protocol's servers with which a reply is one, in lower case, and those of vendors behind
// a router (native_finish_reason). Others are asked for what their words mean ([wire.Exchange.Ending]).
//
//nolint:gochecknoglobals // read only
var stops = map[string]provider.StopReason{
	"stop": provider.StopEnd, "eos": provider.StopEnd, "eos_token": provider.StopEnd, "stop_sequence": provider.StopEnd,
	"end_turn": provider.StopEnd, "end": provider.StopEnd, "complete": provider.StopEnd, "completed": provider.StopEnd,

	"length": provider.StopLength, "max_tokens": provider.StopLength, "model_length": provider.StopLength,
	"max_output_tokens": provider.StopLength, "incomplete": provider.StopLength,
	"repetition": provider.StopLength, // vLLM, where a request asks for it

	"tool_calls": provider.StopTool, "function_call": provider.StopTool, "tool_use": provider.StopTool,

	"recitation": provider.StopFilter, "spii": provider.StopFilter, // Gemini
}

const (
	// unusable says that the vendor could not use what the model wrote.
	unusable = "the vendor could not use what the model wrote"
	// unknownEnd is the code of a finish reason that nobody knows.
	unknownEnd = "finish_reason"
)

// means returns what a finish reason means, or how the reply failed. Gemini's endpoint adds its own reason behind a colon:
// "content_filter: RECITATION".
func (r *reply) means(finish string) (provider.StopReason, error) {
	reason, detail, _ := strings.Cut(finish, ": ")
	if stop, known := stops[reason]; known {
		return stop, nil
	}
	switch reason {
	case "function_call_filter", "malformed_function_call":
		return "", r.exchange.Invalid(cmp.Or(detail, reason), unusable)
	}
	return r.exchange.Ending(unknownEnd, reason)
}

// unknown reports whether nobody knows what a finish reason means.
func unknown(err error) bool {
	e, ok := errors.AsType[*provider.Error](err)
	return ok && e.Code == unknownEnd
}

// told returns the finish reason of a choice, in lower case; "": it has none. OpenRouter gives that of the vendor beside its
// own, which may hide that the reply was cut.
func (r *reply) told(c *choice) string {
	finish, native := named(string(c.FinishReason)), named(string(c.Native))
	if native == "" || finish != "" && stops[finish] != provider.StopEnd {
		return finish
	}
	switch stop, err := r.means(native); {
	case unknown(err), stop == provider.StopTool, stop == provider.StopEnd && finish != "":
		return finish
	}
	return native
}

// named returns a finish reason in lower case, and one that is known as it is written here. What stands for nothing in some
// servers' languages is none (iFlytek's agents send "null" with each piece).
func named(finish string) string {
	switch finish = strings.ToLower(strings.TrimSpace(finish)); finish {
	case "null", "none", "nil", "undefined", "unspecified", "finish_reason_unspecified":
		return ""
	}
	if plain := strings.ReplaceAll(finish, "-", "_"); stops[plain] != "" {
		return plain
	}
	return finish
}

// ends follows whether the reply is whole. added says that a chunk has some of it, counted that it has its price, and finish
// is its finish reason, if any.
//
// Servers give a finish with the last piece, or in a chunk of its own. Some give it early, or with each piece, where it says
// nothing. So one beside the first pieces counts only with what comes next. One with a price, or before anything was said,
// counts if nothing but the end of the answer follows, so a connection that stays open behind it is waited for. One that more of
// the reply follows was none: then only [DONE] ends the reply.
func (r *reply) ends(added, counted bool, finish string) {
	if added && (r.whole || r.begun && r.closing) {
		r.whole, r.early = false, true
		r.exchange.GoesOn()
	}
	if finish != "" && !r.decided { // a reason that says more than an end stays
		stop, err := r.means(finish)
		r.finish, r.decided = finish, stop != provider.StopEnd && !unknown(err)
	}
	if added {
		r.begun, r.closing = true, false
		r.divided = r.divided || finish == ""
	}
	switch {
	case r.early || r.whole || finish == "" && (r.finish == "" || added || !counted):
	case !r.begun && !r.decided, added && !r.divided:
		r.closing = !added || counted
	default:
		r.whole = true
		r.exchange.Ended()
	}
}

// stop translates the finish reason.
func (r *reply) stop() (provider.StopReason, error) {
	switch {
	case r.Refused:
		return provider.StopRefusal, nil
	case r.finish == "":
		return "", r.exchange.Invalid("no_choices", "the answer has no reply in it")
	}
	return r.means(r.finish)
}
