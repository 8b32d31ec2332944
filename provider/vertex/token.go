package vertex

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const (
	scope       = "https://www.googleapis.com/auth/cloud-platform"
	tokenBudget = 30 * time.Second // for one answer of a token endpoint
)

// Default returns a Provider with the application default credentials: those in the file that
// GOOGLE_APPLICATION_CREDENTIALS names, those of gcloud, or those of the machine on Google Cloud. The
// project is GOOGLE_CLOUD_PROJECT or else that of the credentials, the location GOOGLE_CLOUD_LOCATION or else
// "global". It reads files, and may ask the machine's metadata server for the project.
func Default(ctx context.Context) (*Provider, error) {
	c, err := credentials.DetectDefault(options())
	if err != nil {
		return nil, fmt.Errorf("vertex: %w", err)
	}
	project := os.Getenv("GOOGLE_CLOUD_PROJECT")
	if project == "" {
		if project, err = c.ProjectID(ctx); err != nil || project == "" {
			return nil, errors.New("vertex: the credentials name no project; set GOOGLE_CLOUD_PROJECT")
		}
	}
	location := os.Getenv("GOOGLE_CLOUD_LOCATION")
	if location == "" {
		location = "global"
	}
	return New(project, location, Tokens(c)), nil
}

// ServiceAccount returns access tokens for a service account, whose key is a JSON file of Google Cloud. Keys of other
// types are refused. The error does not hold the key.
func ServiceAccount(key []byte) (provider.Key, error) {
	c, err := credentials.NewCredentialsFromJSON(credentials.ServiceAccount, key, options())
	if err != nil {
		return nil, errors.New("vertex: the key is no JSON key of a service account")
	}
	return Tokens(c), nil
}

// options are how tokens are fetched: when they are needed, by nobody in the background, without a log that could
// hold them, and from nobody but the address that the credentials name.
func options() *credentials.DetectOptions {
	return &credentials.DetectOptions{
		Scopes: []string{scope}, DisableAsyncRefresh: true, Logger: slog.New(slog.DiscardHandler),
		Client: &http.Client{
			Timeout:       tokenBudget,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Tokens returns access tokens of credentials of Google's auth library, or of any other source of tokens.
// Its failures are [*provider.Error]: of kind authentication if the credentials are refused, and of kind
// network, timeout, rate_limit or api_error if the server that gives the tokens cannot be reached or fails.
// They repeat nothing of what it answered but its code. The source is asked for each request, by one caller
// at a time; it keeps a token until it expires, as those of the auth library do.
func Tokens(source auth.TokenProvider) provider.Key {
	turn := make(chan struct{}, 1)
	return func(ctx context.Context) (string, error) {
		// The library's own lock would make a caller wait that has long been canceled.
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return "", ctx.Err()
		}
		token, err := source.Token(ctx)
		switch {
		case err != nil && ctx.Err() != nil:
			return "", ctx.Err()
		case err != nil:
			return "", unavailable(err)
		case token == nil || token.Value == "":
			return "", refused("the server of the credentials gave an empty token")
		}
		return token.Value, nil
	}
}

func refused(message string) *provider.Error {
	return &provider.Error{Kind: provider.KindAuthentication, Code: "credentials", Message: message, NotSent: true}
}

var codeName = regexp.MustCompile(`^[a-z_]{1,40}$`)

// unavailable classifies a failure to get a token. An answer about a token may hold one, so that nothing of
// it is shown but its code.
func unavailable(err error) *provider.Error {
	e := refused("no access token")
	var answered *auth.Error
	var transfer *url.Error
	var network net.Error
	switch {
	case errors.As(err, &answered) && answered.Response != nil:
		status := answered.Response.StatusCode
		e.Message = fmt.Sprintf("no access token: the server of the credentials answered with status %d", status)
		var said struct {
			Error string `json:"error"`
		}
		if json.Unmarshal(answered.Body, &said) == nil && codeName.MatchString(said.Error) {
			e.Code = said.Error
		}
		switch {
		case status == http.StatusTooManyRequests:
			e.Kind = provider.KindRateLimit
		case status >= http.StatusInternalServerError:
			e.Kind = provider.KindAPI
		}
	case errors.As(err, &network) && network.Timeout():
		e.Kind, e.Message = provider.KindTimeout, "no access token: the server of the credentials did not answer in time"
	case errors.As(err, &transfer):
		for errors.As(err, &transfer) && transfer.Err != nil {
			err = transfer.Err // an address may hold a secret
		}
		e.Kind, e.Message = provider.KindNetwork, "no access token: "+wire.Clip(err.Error())
	case errors.As(err, &network):
		e.Kind, e.Message = provider.KindNetwork, "no access token: "+wire.Clip(err.Error())
	case errors.As(err, new(*json.SyntaxError)):
		e.Kind, e.Message = provider.KindAPI, "no access token: the server of the credentials did not answer in JSON"
	default:
		e.Message = "no access token: the credentials cannot be used"
	}
	return e
}
