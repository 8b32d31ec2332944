package bedrock

import (
	"errors"
	"net/http"
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

// overflowWords report a full window, in the words of Bedrock and of the makers of its models.
//
//nolint:gochecknoglobals // read only
var overflowWords = []string{
	"input is too long", "input tokens exceeded", "number of input tokens exceeds", "too many input tokens",
	"expected maxlength", "prompt is too long", "exceed context limit", "maximum context length",
}

// explain improves the classification of a failure in the cases that are particular to Bedrock: a
// validationException, which may mean a full window, and a limit that lasts for a day.
func explain(err error) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok || e.NotSent {
		return err
	}
	words := strings.ToLower(e.Message)
	invalid := strings.EqualFold(e.Code, "validationException")
	if e.Kind == provider.KindAPI && invalid {
		e.Kind = provider.KindValidation
	}
	switch {
	case e.Kind == provider.KindValidation && (invalid || e.Status == http.StatusBadRequest) && contains(words, overflowWords):
		e.Kind = provider.KindContextOverflow
	case e.Kind == provider.KindRateLimit && strings.Contains(words, "per day"):
		e.Kind = provider.KindQuota // a debate cannot wait that long
	case e.Kind == provider.KindValidation && strings.Contains(words, "content filtering policy"):
		e.Kind = provider.KindContentFilter
	}
	return err
}

func contains(words string, list []string) bool {
	for _, w := range list {
		if strings.Contains(words, w) {
			return true
		}
	}
	return false
}
