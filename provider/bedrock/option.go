package bedrock

import (
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// body returns a request as it is sent, and whether the model has to answer by a tool. It fails if the API has no words for a part of it.
func (p *Provider) body(req *provider.Request, t *wire.Terms) (data []byte, answering bool, err error) {
	w, err := p.request(req, t)
	if err != nil {
		return nil, false, err
	}
	if data, err = wire.Body(w); err != nil {
		return nil, false, err
	}
	if o := req.Options; o != nil {
		if err := p.VetHeader(o.Header, "X-Amz-Date", "X-Amz-Security-Token", "X-Amz-Content-Sha256"); err != nil {
			return nil, false, err
		}
		data, err = wire.Extend(data, o.Extra)
	}
	return data, w.answering(), err
}

// options writes what a request asks for beyond its text.
func (w *converse) options(req *provider.Request) error {
	for i := range req.Messages {
		if parts := req.Messages[i].Parts; len(parts) > 0 {
			return wire.Untaken(&parts[0], "Bedrock's adapter")
		}
	}
	if parts := req.Last.Parts; len(parts) > 0 {
		return wire.Untaken(&parts[0], "Bedrock's adapter")
	}
	o := req.Options
	if o == nil {
		return nil
	}
	for _, ability := range o.Asks() {
		switch ability {
		case provider.AbilityTopP:
			w.InferenceConfig.TopP = o.TopP
		case provider.AbilityStop:
			w.InferenceConfig.StopSequences = o.Stop
		case provider.AbilityServiceTier:
			w.ServiceTier.Type = o.ServiceTier
		default:
			return wire.Unwritable(string(ability), "the Converse API has no field for it; extra can hold additionalModelRequestFields")
		}
	}
	return nil
}
