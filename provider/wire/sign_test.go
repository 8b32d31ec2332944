package wire_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// signer signs with a word and the body, as vendors do that want no key.
func signer(sign func(req *http.Request, body []byte) (string, error)) func(context.Context) (*wire.Signature, error) {
	return func(context.Context) (*wire.Signature, error) {
		return &wire.Signature{Secrets: []string{"secret-access-5f1d7a0c93be", "session-token-8820aa61f0"}, Sign: sign}, nil
	}
}

// A request is signed when everything else of it is written, once more after a redirect, and neither what it is signed
// with nor the signature is in an error.
func TestSignatures(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		assert.Equal(t, "signed:"+r.URL.Path+":"+string(body)+":"+r.Header.Get("X-Client-Request-Id"), r.Header.Get("Authorization"))
		if r.URL.Path == "/v1/chat" {
			http.Redirect(w, r, "/moved", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("X-Amzn-Errortype", "ValidationException:http://internal.test/")
		w.Header().Set("X-Amzn-Requestid", "ca47a5ce")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"message":"we expected session-token-8820aa61f0, secret-access-5f1d7a0c93be and `+r.Header.Get("Authorization")+`"}`)
	}))
	defer server.Close()
	e := &wire.Endpoint{BaseURL: server.URL + "/v1", Signer: signer(func(req *http.Request, body []byte) (string, error) {
		signature := "signed:" + req.URL.Path + ":" + string(body) + ":" + req.Header.Get("X-Client-Request-Id")
		req.Header.Set("Authorization", signature)
		return signature, nil
	})}
	x, err := e.Open(t.Context(), "call-7")
	require.NoError(t, err)
	defer x.Close()
	var fault *provider.Error
	require.ErrorAs(t, x.Send(http.MethodPost, "chat", []byte("7")), &fault)
	assert.Equal(t, provider.KindValidation, fault.Kind)
	assert.Equal(t, "ValidationException", fault.Code)
	assert.Equal(t, "ca47a5ce", fault.RequestID)
	assert.Equal(t, "we expected [redacted], [redacted] and [redacted]", fault.Message)
}

// What cannot be signed is not sent. An error that says its kind keeps it, whether it is of a key or of a signature.
func TestNoSignature(t *testing.T) {
	broken := &wire.Endpoint{BaseURL: "http://model.test", Signer: signer(func(*http.Request, []byte) (string, error) {
		return "", errors.New("secret-access-5f1d7a0c93be")
	})}
	x, err := broken.Open(t.Context(), "")
	require.NoError(t, err)
	defer x.Close()
	var fault *provider.Error
	require.ErrorAs(t, x.Send(http.MethodPost, "chat", []byte("{}")), &fault)
	assert.Equal(t, &provider.Error{Kind: provider.KindAuthentication, Code: "signature", Message: "the request could not be signed", NotSent: true}, fault)

	for name, tt := range map[string]struct {
		err  error
		want provider.Kind
	}{
		"said":  {&provider.Error{Kind: provider.KindNetwork, Message: "no token"}, provider.KindNetwork},
		"plain": {errors.New("no file"), provider.KindAuthentication},
	} {
		for field, e := range map[string]*wire.Endpoint{
			"key":    {Key: func(context.Context) (string, error) { return "", tt.err }},
			"signer": {Signer: func(context.Context) (*wire.Signature, error) { return nil, tt.err }},
		} {
			e.BaseURL = "http://model.test"
			_, err := e.Open(t.Context(), "")
			require.ErrorAs(t, err, &fault, name)
			assert.Equal(t, tt.want, fault.Kind, "%s of a %s", name, field)
			assert.True(t, fault.NotSent, "%s of a %s", name, field)
		}
	}
}
