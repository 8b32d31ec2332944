package vertex_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"cloud.google.com/go/auth"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/vertex"
)

// account is the JSON key of a service account whose tokens come from url, with its private key.
func account(t *testing.T, url string) (key []byte, private string) {
	t.Helper()
	pair, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	der, err := x509.MarshalPKCS8PrivateKey(pair)
	require.NoError(t, err)
	private = string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	key, err = json.Marshal(map[string]string{
		"type": "service_account", "project_id": "debates", "private_key_id": "k1", "private_key": private,
		"client_email": "ada@debates.iam.gserviceaccount.com", "token_uri": url,
	})
	require.NoError(t, err)
	return key, private
}

// tokens is a token endpoint that answers with handle.
func tokens(t *testing.T, handle http.HandlerFunc) (key provider.Key, private string) {
	t.Helper()
	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	file, private := account(t, server.URL)
	key, err := vertex.ServiceAccount(file)
	require.NoError(t, err)
	return key, private
}

// TestServiceAccount: a signed claim is exchanged for a token, which is kept until shortly before it expires.
func TestServiceAccount(t *testing.T) {
	given := 0
	lifetime := 3599
	key, _ := tokens(t, func(w http.ResponseWriter, r *http.Request) {
		given++
		assert.Equal(t, "urn:ietf:params:oauth:grant-type:jwt-bearer", r.FormValue("grant_type"))
		parts := strings.Split(r.FormValue("assertion"), ".")
		if !assert.Len(t, parts, 3) {
			return
		}
		claims, err := base64.RawURLEncoding.DecodeString(parts[1])
		assert.NoError(t, err)
		var said struct{ Iss, Scope, Aud string }
		assert.NoError(t, json.Unmarshal(claims, &said))
		assert.Equal(t, "ada@debates.iam.gserviceaccount.com", said.Iss)
		assert.Equal(t, "https://www.googleapis.com/auth/cloud-platform", said.Scope)
		_, _ = fmt.Fprintf(w, `{"access_token":"ya29.token-%d","expires_in":%d,"token_type":"Bearer"}`, given, lifetime)
	})
	for range 3 {
		token, err := key(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "ya29.token-1", token)
	}

	given, lifetime = 0, 60 // less than what is left when a token is renewed
	key, _ = tokens(t, func(w http.ResponseWriter, _ *http.Request) {
		given++
		_, _ = fmt.Fprintf(w, `{"access_token":"ya29.token-%d","expires_in":%d,"token_type":"Bearer"}`, given, lifetime)
	})
	for n := range 3 {
		token, err := key(t.Context())
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprint("ya29.token-", n+1), token, "an expired token is renewed")
	}
}

// TestTokenFailures: whether a missing token can get better by itself. Nothing of the private key, of the claim or of
// what the server said is in the error, whatever it says.
func TestTokenFailures(t *testing.T) {
	answers := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, strings.ReplaceAll(body, "{{CLAIM}}", r.FormValue("assertion")))
		}
	}
	const leak = "ya29.canary-5f1d7a0c93be"
	for name, tt := range map[string]struct {
		handle http.HandlerFunc
		want   provider.Kind
		code   string
	}{
		"refused": {answers(400, `{"error":"invalid_grant","error_description":"Invalid JWT Signature. {{CLAIM}}"}`), provider.KindAuthentication, "invalid_grant"},
		"denied":  {answers(403, `{"error":"`+leak+`"}`), provider.KindAuthentication, "credentials"},
		"busy":    {answers(429, leak), provider.KindRateLimit, "credentials"},
		"down":    {answers(503, "<html>"+leak), provider.KindAPI, "credentials"},
		"no JSON": {answers(200, "<html>"+leak), provider.KindAPI, "credentials"},
		"empty":   {answers(200, `{"note":"`+leak+`"}`), provider.KindAuthentication, "credentials"},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.test/"+leak, http.StatusTemporaryRedirect)
		}, provider.KindAuthentication, "credentials"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := http.NewResponseController(w).Hijack()
			_ = c.Close()
		}, provider.KindNetwork, "credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			var claim atomic.Value
			key, private := tokens(t, func(w http.ResponseWriter, r *http.Request) {
				claim.Store(r.FormValue("assertion"))
				tt.handle(w, r)
			})
			p := vertex.New("debates", "global", key)
			_, err := p.Generate(t.Context(), request("gemini-2.5-flash"), func(provider.Chunk) {})
			e := failure(t, err, tt.want)
			assert.Equal(t, tt.code, e.Code)
			assert.True(t, e.NotSent)
			text := fmt.Sprintf("%v %+v %#v %+v %#v", err, err, err, p, p)
			assert.NotContains(t, text, leak)
			assert.NotContains(t, text, claim.Load().(string))
			assert.NotContains(t, text, strings.Split(private, "\n")[1])
		})
	}
	file, _ := account(t, "http://127.0.0.1:1/")
	key, err := vertex.ServiceAccount(file)
	require.NoError(t, err)
	_, err = key(t.Context())
	failure(t, err, provider.KindNetwork)
}

// TestBadKeys: what is no key of a service account is refused at once, and not shown.
func TestBadKeys(t *testing.T) {
	for _, key := range []string{
		"", "{", "canary-5f1d7a0c93be", `{"type":"authorized_user","client_secret":"canary-5f1d7a0c93be","refresh_token":"x","client_id":"y"}`,
	} {
		_, err := vertex.ServiceAccount([]byte(key))
		require.Error(t, err, key)
		assert.NotContains(t, err.Error(), "canary")
	}
	key, err := vertex.ServiceAccount([]byte(`{"type":"service_account","private_key":"canary-5f1d7a0c93be","client_email":"a","token_uri":"http://127.0.0.1:1/"}`))
	require.NoError(t, err)
	_, err = key(t.Context())
	assert.NotContains(t, failure(t, err, provider.KindAuthentication).Error(), "canary")
}

// source is a source of tokens of a host program.
type source func(ctx context.Context) (*auth.Token, error)

func (s source) Token(ctx context.Context) (*auth.Token, error) { return s(ctx) }

// TestWaitingForATokenEnds: a call that is canceled does not wait for a token that another call has asked for.
func TestWaitingForATokenEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := vertex.Tokens(source(func(ctx context.Context) (*auth.Token, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}))
		p := vertex.New("debates", "global", key)
		slow, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { _, err := key(slow); ended <- err }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		_, err := p.Generate(ctx, request("claude-sonnet-4-5"), func(provider.Chunk) {})
		failure(t, err, provider.KindTimeout)
		assert.Equal(t, time.Second, time.Since(began))
		stop()
		require.ErrorIs(t, <-ended, context.Canceled)
	})
	_, err := vertex.Tokens(source(func(context.Context) (*auth.Token, error) { return nil, errors.New("canary-5f1d7a0c93be") }))(t.Context())
	assert.NotContains(t, failure(t, err, provider.KindAuthentication).Error(), "canary")
}

// TestDefault: the application default credentials, with the project and the location of the environment.
func TestDefault(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"access_token":"ya29.default","expires_in":3599,"token_type":"Bearer"}`)
	}))
	defer server.Close()
	file, _ := account(t, server.URL)
	path := filepath.Join(t.TempDir(), "key.json")
	require.NoError(t, os.WriteFile(path, file, 0o600))
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", path)
	t.Setenv("GOOGLE_CLOUD_PROJECT", "")
	t.Setenv("GOOGLE_CLOUD_LOCATION", "")
	p, err := vertex.Default(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "https://aiplatform.googleapis.com", p.Gemini.BaseURL)
	assert.Equal(t, "projects/debates/locations/global", p.Claude.Vertex)
	token, err := p.Claude.Key(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "ya29.default", token)

	t.Setenv("GOOGLE_CLOUD_PROJECT", "other")
	t.Setenv("GOOGLE_CLOUD_LOCATION", "europe-west4")
	p, err = vertex.Default(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "https://europe-west4-aiplatform.googleapis.com", p.Gemini.BaseURL)
	assert.Equal(t, "projects/other/locations/europe-west4", p.Gemini.Vertex)
	assert.Equal(t, "https://aiplatform.eu.rep.googleapis.com", vertex.New("p", "eu", nil).Gemini.BaseURL)

	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", filepath.Join(t.TempDir(), "none.json"))
	_, err = vertex.Default(t.Context())
	require.Error(t, err)
}
