package failure_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Nobody knows whether a failure without a kind would pass: a provider or a judge that wants to be asked again says so.
func TestErrorsWithoutAKindAreFinal(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	of := func(err error) error { return &url.Error{Op: "Post", URL: "https://acme.test/v1", Err: err} }
	_, unclear := http.NewRequest(http.MethodPost, "https://acme.test:port/v1", http.NoBody)
	_, bare := http.DefaultClient.Get("api.acme.test/v1") //nolint:bodyclose // there is none
	for name, tc := range map[string]struct {
		err   error
		kind  provider.Kind
		final bool
	}{
		"plain":                       {errors.New("there is no model of this name"), provider.KindUnknown, true},
		"wrapped":                     {fmt.Errorf("acme: %w", errors.New("the config is incomplete")), provider.KindUnknown, true},
		"of no kind":                  {&provider.Error{Message: "hm"}, provider.KindUnknown, true},
		"of a kind of its own":        {&provider.Error{Kind: "moody", Message: "hm"}, provider.KindUnknown, true},
		"of an error of ours":         {&debate.Error{Kind: "moody", Err: errors.New("hm")}, provider.KindUnknown, true},
		"a file that is missing":      {&fs.PathError{Op: "open", Path: "acme.json", Err: syscall.ENOENT}, provider.KindUnknown, true},
		"a file that cannot be moved": {&os.LinkError{Op: "rename", Old: "a", New: "b", Err: syscall.EXDEV}, provider.KindUnknown, true},
		"a URL without a scheme":      {bare, provider.KindUnknown, true},
		"a URL that is none":          {unclear, provider.KindUnknown, true},
		"a stranger's certificate":    {of(&tls.CertificateVerificationError{Err: errors.New("not for acme.test")}), provider.KindUnknown, true},
		"HTTP in place of HTTPS":      {of(http.ErrSchemeMismatch), provider.KindUnknown, true},
		"something else than HTTPS":   {of(tls.RecordHeaderError{Msg: "no handshake"}), provider.KindUnknown, true},
		"a refused connection":        {refused, provider.KindNetwork, false},
		"within a client's error":     {of(refused), provider.KindNetwork, false},
		"a server that hangs up":      {of(io.EOF), provider.KindNetwork, false},
		"a connection that is lost":   {of(errors.New("http2: client connection lost")), provider.KindNetwork, false},
		"a name that is not found":    {&net.DNSError{Err: "no such host", Name: "acme.test", IsNotFound: true}, provider.KindNetwork, false},
		"a connection that is slow":   {&net.DNSError{Err: "no answer", Name: "acme.test", IsTimeout: true}, provider.KindTimeout, false},
		"a reply that was cut":        {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), provider.KindNetwork, false},
		"a deadline of the context's": {fmt.Errorf("acme: %w", context.DeadlineExceeded), provider.KindTimeout, false},
	} {
		for _, judge := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/judge: %t", name, judge), stage.Bubbled(func(t *testing.T) {
				config, attempts := stage.TwoDebaters(), 0
				if judge {
					config.Judging.Judges[0] = debate.JudgeConfig{Judge: "own"}
				}
				engine, p := stage.Engine(config)
				engine.Judges = map[string]debate.Judge{"own": debate.JudgeFunc(func(context.Context, debate.JudgeTask) (json.RawMessage, error) {
					attempts++
					return nil, tc.err
				})}
				reply := p.Reply
				p.Reply = func(req *provider.Request) scripted.Reply {
					if judge || !strings.Contains(req.ID, "/r1.opening.Ada") {
						return reply(req)
					}
					attempts++
					return scripted.Reply{Err: tc.err}
				}
				session := stage.Started(t, engine, config)
				_, err := session.Wait(t.Context())
				stage.RequireKind(t, err, tc.kind)
				if tc.final {
					assert.Equal(t, 1, attempts)
				} else {
					assert.Greater(t, attempts, 1)
				}
			}))
		}
	}
}

// Of an adapter of somebody else, too, nothing is paid where nothing was sent, and the provider is not waited for where it was never
// reached.
func TestForeignErrorsOfConnecting(t *testing.T) {
	away := func(op string) error { return &net.OpError{Op: op, Net: "tcp", Err: syscall.ECONNREFUSED} }
	of := func(err error) error { return &url.Error{Op: "Post", URL: "https://acme.test/v1", Err: err} }
	for name, tc := range map[string]struct {
		err       error
		unreached bool
	}{
		"refused":                   {of(away("dial")), true},
		"by a proxy":                {of(away("proxyconnect")), true},
		"by a proxy of sockets":     {of(away("socks connect")), true},
		"a name that is not found":  {&net.DNSError{Err: "no such host", Name: "acme.test", IsNotFound: true}, true},
		"a name that is slow":       {&net.DNSError{Err: "no answer", Name: "acme.test", IsTimeout: true}, true},
		"a URL without a scheme":    {&url.Error{Op: "Post", URL: "acme.test/v1", Err: errors.New("unsupported protocol scheme")}, true},
		"a stranger's certificate":  {of(&tls.CertificateVerificationError{Err: errors.New("not for acme.test")}), true},
		"a server that hangs up":    {of(io.EOF), false},
		"a connection that is lost": {of(away("read")), false},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Patient(false)
			engine, p := stage.Engine(config)
			p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Err: tc.err} }
			began := time.Now()
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			require.Error(t, err)
			for _, f := range record.Failures {
				assert.Equal(t, tc.unreached, f.Unreached)
			}
			assert.Equal(t, tc.unreached, record.Spent().AtMost == 0)
			assert.Zero(t, record.Spent().Cost)
			assert.Equal(t, tc.unreached, time.Since(began) <= 20*time.Second)
			assert.Equal(t, tc.unreached, strings.Contains(err.Error(), "the provider test was not reached in "), err)
		}))
	}
}

// A provider that is broken asks one question, however many calls it breaks.
func TestOneBrokenProviderAsksOneQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Crew(5)
		config.Mode, config.Unattended = debate.Simultaneous, false
		engine, p := stage.Engine(config)
		stage.Abiding(p)
		reply, broken := p.Reply, true
		p.Reply = func(req *provider.Request) scripted.Reply {
			if broken {
				return scripted.Reply{Err: errors.New("the config of acme is incomplete")}
			}
			return reply(req)
		}
		session := stage.Started(t, engine, config)
		synctest.Wait()
		record, err := session.Wait(t.Context())
		q := stage.Question(t, record, err)
		assert.Len(t, q.About, 5)
		broken = false
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
		stage.Ended(t, session)
	})
}
