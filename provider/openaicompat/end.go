package openaicompat

import (
	"cmp"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// ending is what a finish reason means.
type ending struct {
	stop   provider.StopReason // "": the reply is none
	broken string              // the server has broken it off; says how
}

// unusable says that the vendor could not use what the model wrote.
const unusable = "the vendor could not use what the model wrote"

// endings are the finish reasons of the protocol's servers, in lower case, and those of vendors behind a router
// (native_finish_reason). One that is not here could mean that the reply was broken off.
//
//nolint:gochecknoglobals // read only
var endings = map[string]ending{
	"stop": {stop: provider.StopEnd}, "eos": {stop: provider.StopEnd}, "eos_token": {stop: provider.StopEnd},
	"stop_sequence": {stop: provider.StopEnd}, "end_turn": {stop: provider.StopEnd}, "end": {stop: provider.StopEnd},
	"complete": {stop: provider.StopEnd}, "completed": {stop: provider.StopEnd},

	"length": {stop: provider.StopLength}, "max_tokens": {stop: provider.StopLength}, "model_length": {stop: provider.StopLength},
	"max_output_tokens": {stop: provider.StopLength}, "incomplete": {stop: provider.StopLength},

	"tool_calls": {stop: provider.StopTool}, "function_call": {stop: provider.StopTool}, "tool_use": {stop: provider.StopTool},

	"refusal": {stop: provider.StopRefusal},

	"content_filter": {stop: provider.StopFilter}, "safety": {stop: provider.StopFilter}, "recitation": {stop: provider.StopFilter},
	"blocklist": {stop: provider.StopFilter}, "prohibited_content": {stop: provider.StopFilter}, "spii": {stop: provider.StopFilter},
	"moderation": {stop: provider.StopFilter}, "sensitive": {stop: provider.StopFilter}, // Z.ai

	"function_call_filter": {}, "malformed_function_call": {},

	"model_context_window_exceeded": {broken: "the reply filled the model's window"},

	"error": {broken: brokenOff}, "abort": {broken: brokenOff}, "aborted": {broken: brokenOff}, "cancelled": {broken: brokenOff},
	"insufficient_system_resource": {broken: brokenOff}, "network_error": {broken: brokenOff}, // Z.ai
}

const brokenOff = "the server broke the reply off"

// means returns what a finish reason means. Gemini's endpoint adds its own reason behind a colon: "content_filter: RECITATION".
func means(finish string) (reason, detail string, e ending, known bool) {
	reason, detail, _ = strings.Cut(strings.ToLower(finish), ": ")
	e, known = endings[reason]
	return reason, detail, e, known
}

// plain reports whether a finish reason says only that the model finished.
func plain(finish string) bool {
	_, _, e, _ := means(finish)
	return e.stop == provider.StopEnd
}

// told returns the finish reason of a choice; "": it has none. OpenRouter gives that of the vendor beside its own, which may
// hide that the reply was cut.
func (c *choice) told() string {
	native := said(c.Native)
	_, _, e, known := means(native)
	switch {
	case !known, e.stop == provider.StopTool, c.FinishReason != "" && !plain(c.FinishReason), c.FinishReason != "" && plain(native):
		return c.FinishReason
	}
	return native
}

// ends follows whether the reply is whole. added says that a chunk has some of it, counted that it has its price, and finish
// is its finish reason, if any.
//
// Servers give a finish with the last piece, or in a chunk of its own. Some give it early, or with each piece, where it says
// nothing. So one beside the first piece counts only with a price or with what comes next, and one that more of the reply
// follows was none: then only [DONE] ends the reply.
func (r *reply) ends(added, counted bool, finish string) {
	if added && r.whole {
		r.whole, r.early = false, true
		r.exchange.GoesOn()
	}
	if finish != "" && (r.finish == "" || plain(r.finish)) { // a plain reason does not replace an earlier, specific one
		r.finish = finish
	}
	if added {
		r.divided = r.divided || finish == ""
	}
	ends := finish != "" && (!added || counted || r.divided) || counted && !added && r.finish != ""
	if ends && !r.early && !r.whole {
		r.whole = true
		r.exchange.Ended()
	}
}

// stop translates the finish reason.
func (r *reply) stop() (provider.StopReason, error) {
	reason, detail, e, known := means(r.finish)
	switch {
	case r.Refused:
		return provider.StopRefusal, nil
	case reason == "":
		return "", r.exchange.Invalid("no_choices", "the answer has no reply in it")
	case !known:
		return r.exchange.Ending("finish_reason", reason)
	case e.stop != "":
		return e.stop, nil
	case e.broken != "":
		return "", r.exchange.Broken(reason, e.broken)
	default:
		return "", r.exchange.Invalid(cmp.Or(detail, reason), unusable)
	}
}
