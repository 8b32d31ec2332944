package bedrock_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/bedrock"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// secrets are different from each other, unlike those of the suites.
var secrets = aws.Credentials{
	AccessKeyID: "ASIAQCANARY7XK2M5RTN", SecretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYcanary01", SessionToken: "FwoGZXIvYXdzEJr//canary//8dE2hLm",
}

func with(c aws.Credentials, err error) aws.Config {
	return aws.Config{Region: "us-west-2", Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) { return c, err })}
}

// TestSignatures: a server that knows the secret comes to the same signature, over the body and the path as they were
// sent, and for the service's name.
func TestSignatures(t *testing.T) {
	p, bodies, requests := recording(t)
	p.Credentials = with(secrets, nil).Credentials
	adaptertest.Answer(t, p, request(claude))
	got := (*requests)[0]
	at, err := time.Parse("20060102T150405Z", got.Header.Get("X-Amz-Date"))
	require.NoError(t, err)
	again, err := http.NewRequestWithContext(t.Context(), got.Method, "http://"+got.Host+got.URL.EscapedPath(), strings.NewReader((*bodies)[0]))
	require.NoError(t, err)
	_, signed, _ := strings.Cut(got.Header.Get("Authorization"), "SignedHeaders=")
	signed, _, _ = strings.Cut(signed, ",")
	for name := range strings.SplitSeq(signed, ";") {
		if name != "host" && name != "content-length" {
			again.Header.Set(name, got.Header.Get(name))
		}
	}
	hash := sum((*bodies)[0])
	require.NoError(t, v4.NewSigner().SignHTTP(t.Context(), secrets, again, hash, "bedrock", "eu-central-1", at))
	assert.Equal(t, got.Header.Get("Authorization"), again.Header.Get("Authorization"))
	assert.Equal(t, secrets.SessionToken, got.Header.Get("X-Amz-Security-Token"))
	for _, name := range []string{"content-type", "x-amz-date", "x-amz-security-token", "x-client-request-id"} {
		assert.Contains(t, strings.Split(signed, ";"), name)
	}
}

// TestNoSecretInErrors: AWS repeats what it has signed in the message about a wrong signature.
func TestNoSecretInErrors(t *testing.T) {
	var signature string
	p := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, signature, _ = strings.Cut(r.Header.Get("Authorization"), "Signature=")
		w.Header().Set("X-Amzn-Errortype", "InvalidSignatureException:http://internal.amazon.com/coral/com.amazon.coral.service/")
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprintf(w, `{"message":"The signature %s of %s is wrong: 'x-amz-security-token:%s' %s"}`,
			signature, r.Header.Get("Authorization"), r.Header.Get("X-Amz-Security-Token"), secrets.SecretAccessKey)
	})
	p.Credentials = with(secrets, nil).Credentials
	_, err := ask(t, p, request(claude))
	e := failure(t, err, provider.KindAuthentication)
	assert.Equal(t, "InvalidSignatureException", e.Code)
	require.NotEmpty(t, signature)
	text := fmt.Sprintf("%v %+v %#v %+v %#v", err, err, err, p, p)
	for _, secret := range []string{signature, secrets.AccessKeyID, secrets.SecretAccessKey, secrets.SessionToken} {
		for at := range len(secret) - 12 {
			require.NotContains(t, text, secret[at:at+12])
		}
	}
}

// TestCredentials: what keeps a request from being signed, and whether it can get better by itself. Nothing of what a
// service answered is shown.
func TestCredentials(t *testing.T) {
	operation := func(service string, err error) error {
		return fmt.Errorf("failed to refresh cached credentials, %w", &smithy.OperationError{ServiceID: service, OperationName: "AssumeRole", Err: err})
	}
	answered := func(status int, err error) error {
		return &smithyhttp.ResponseError{Response: &smithyhttp.Response{Response: &http.Response{StatusCode: status}}, Err: err}
	}
	dial := &url.Error{Op: "Post", URL: "https://sts.amazonaws.com/?token=" + secrets.SessionToken, Err: &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}}
	for name, tt := range map[string]struct {
		config  aws.Config
		want    provider.Kind
		code    string
		message string
	}{
		"refused": {
			with(aws.Credentials{}, operation("STS", answered(403, &smithy.GenericAPIError{Code: "ExpiredTokenException", Message: "the token " + secrets.SessionToken}))),
			provider.KindAuthentication, "ExpiredTokenException", "no credentials: STS AssumeRole refused it",
		},
		"down":          {with(aws.Credentials{}, operation("STS", answered(503, errors.New("html")))), provider.KindAPI, "credentials", "no credentials: STS AssumeRole failed"},
		"throttled":     {with(aws.Credentials{}, operation("STS", answered(429, errors.New("html")))), provider.KindRateLimit, "credentials", ""},
		"unreachable":   {with(aws.Credentials{}, operation("STS", dial)), provider.KindNetwork, "credentials", "no credentials: STS AssumeRole: dial: connection refused"},
		"no machine":    {with(aws.Credentials{}, operation("ec2imds", dial)), provider.KindAuthentication, "credentials", ""},
		"file":          {with(aws.Credentials{}, errors.New("failed to get shared config profile, debates")), provider.KindAuthentication, "credentials", "profile, debates"},
		"empty":         {with(aws.Credentials{AccessKeyID: "AKIA"}, nil), provider.KindAuthentication, "credentials", "empty"},
		"none":          {aws.Config{Region: "us-west-2"}, provider.KindAuthentication, "credentials", "no credentials are configured"},
		"without place": {with(secrets, nil), provider.KindValidation, "region", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "without place" {
				tt.config.Region = ""
			}
			p := bedrock.New(tt.config)
			_, err := ask(t, p, request(claude))
			e := failure(t, err, tt.want)
			assert.Equal(t, tt.code, e.Code)
			assert.Contains(t, e.Message, tt.message)
			assert.True(t, e.NotSent)
			assert.NotContains(t, fmt.Sprintf("%+v %#v", err, err), secrets.SessionToken)
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := bedrock.New(with(aws.Credentials{}, context.Canceled)).Generate(ctx, request(claude), func(provider.Chunk) {})
	failure(t, err, provider.KindCanceled)
}

// TestKeys: an API key is sent in place of a signature. Credentials are fetched for each request, so that they can be
// renewed.
func TestKeys(t *testing.T) {
	p, _, requests := recording(t)
	renewed := 0
	p.Credentials = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		renewed++
		return aws.Credentials{AccessKeyID: fmt.Sprint("AKIA", renewed), SecretAccessKey: "s"}, nil
	})
	for range 2 {
		adaptertest.Answer(t, p, request(claude))
	}
	assert.Contains(t, (*requests)[0].Header.Get("Authorization"), "Credential=AKIA1/")
	assert.Contains(t, (*requests)[1].Header.Get("Authorization"), "Credential=AKIA2/")

	keyed := bedrock.WithKey("us-west-2", "bedrock-api-key-canary")
	assert.Equal(t, "https://bedrock-runtime.us-west-2.amazonaws.com", keyed.BaseURL)
	keyed.BaseURL, keyed.Client = p.BaseURL, p.Client
	adaptertest.Answer(t, keyed, request(claude))
	assert.Equal(t, "Bearer bedrock-api-key-canary", (*requests)[2].Header.Get("Authorization"))
	assert.Empty(t, (*requests)[2].Header.Get("X-Amz-Date"))

	assert.Equal(t, "https://bedrock-runtime.cn-north-1.amazonaws.com.cn", bedrock.New(aws.Config{Region: "cn-north-1"}).BaseURL)
	private := "https://vpce-1.bedrock-runtime.us-west-2.vpce.amazonaws.com"
	assert.Equal(t, private, bedrock.New(aws.Config{Region: "us-west-2", BaseEndpoint: &private}).BaseURL)
}
