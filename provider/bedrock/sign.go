package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// service is the name for which requests are signed. That of the host is another.
const service = "bedrock"

// signature fetches the credentials for one exchange. With an API key, requests are not signed.
func (p *Provider) signature(ctx context.Context) (*wire.Signature, error) {
	if p.Key != nil {
		return nil, nil //nolint:nilnil // wire.Endpoint.Signer says what it means
	}
	switch {
	case p.Region == "":
		return nil, &provider.Error{Kind: provider.KindValidation, Code: "region", Message: "the region is missing", NotSent: true}
	case p.Credentials == nil:
		return nil, refused("no credentials are configured")
	}
	c, err := p.Credentials.Retrieve(ctx)
	if err != nil {
		return nil, unavailable(err)
	}
	if c.AccessKeyID == "" || c.SecretAccessKey == "" {
		return nil, refused("the credentials are empty")
	}
	signer := v4.NewSigner()
	return &wire.Signature{
		Secrets: []string{c.AccessKeyID, c.SecretAccessKey, c.SessionToken},
		Sign: func(req *http.Request, body []byte) (string, error) {
			hash := sha256.Sum256(body)
			err := signer.SignHTTP(req.Context(), c, req, hex.EncodeToString(hash[:]), service, p.Region, time.Now())
			_, signed, _ := strings.Cut(req.Header.Get("Authorization"), "Signature=")
			return signed, err
		},
	}, nil
}

func refused(message string) *provider.Error {
	return &provider.Error{Kind: provider.KindAuthentication, Code: "credentials", Message: message, NotSent: true}
}

// unavailable classifies a failure to get credentials. It repeats nothing of what a service answered but
// its code, because an answer about credentials may hold some.
func unavailable(err error) *provider.Error {
	e := refused("no credentials")
	var operation *smithy.OperationError
	if errors.As(err, &operation) {
		e.Message += ": " + wire.Clip(operation.ServiceID+" "+operation.OperationName)
	}
	var api smithy.APIError
	var answered *smithyhttp.ResponseError
	var network net.Error
	switch {
	case errors.As(err, &answered) && answered.HTTPStatusCode() >= http.StatusInternalServerError:
		e.Kind = provider.KindAPI
		e.Message += " failed"
	case errors.As(err, &answered) && answered.HTTPStatusCode() == http.StatusTooManyRequests:
		e.Kind = provider.KindRateLimit
		e.Message += " has had too many requests"
	case errors.As(err, &api):
		e.Code = wire.Clip(api.ErrorCode())
		e.Message += " refused it"
	// A machine without a role has no such service, so that not reaching it is no outage.
	case operation != nil && operation.ServiceID == "ec2imds":
		e.Message += " cannot be reached, and nothing else gives any"
	case errors.As(err, &network):
		e.Kind = provider.KindNetwork
		for u := (*url.Error)(nil); errors.As(err, &u) && u.Err != nil; {
			err = u.Err // a URL may hold a token
		}
		e.Message += ": " + wire.Clip(err.Error())
	case operation == nil:
		e.Message += ": " + wire.Clip(err.Error()) // of this machine's files
	}
	return e
}
