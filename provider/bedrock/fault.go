package bedrock

import (
	"errors"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// kinds returns the kinds of the vendor's exceptions that a status does not tell, or that come without
// one, in mid-stream. validationException has none, because it stands for a full window too.
func kinds() map[string]provider.Kind {
	return map[string]provider.Kind{
		"accessdeniedexception":         provider.KindAuthentication,
		"internalserverexception":       provider.KindAPI,
		"modelerrorexception":           provider.KindAPI, // under 424
		"modelnotreadyexception":        provider.KindRateLimit,
		"modelstreamerrorexception":     provider.KindAPI, // under 424
		"modeltimeoutexception":         provider.KindTimeout,
		"resourcenotfoundexception":     provider.KindValidation,
		"servicequotaexceededexception": provider.KindQuota,
		"serviceunavailableexception":   provider.KindAPI,
		"throttlingexception":           provider.KindRateLimit,
		"toomanyrequestsexception":      provider.KindRateLimit,
	}
}

// explain improves the classification of a failure in the cases that are particular to Bedrock: the bound of a text, which is that of
// the prompt, and a limit that lasts for a day.
func explain(err error) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.NotSent {
		return err
	}
	words := strings.ToLower(e.Message)
	switch {
	case e.Kind == provider.KindValidation && strings.Contains(words, "expected maxlength"):
		e.Kind = provider.KindContextOverflow
	case e.Kind == provider.KindRateLimit && strings.Contains(words, "per day"):
		e.Kind = provider.KindQuota // a debate cannot wait that long
	}
	return err
}
