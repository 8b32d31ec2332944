package failure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Nobody knows whether a failure without a kind would pass: a provider or a judge that wants to be asked again says so.
func TestErrorsWithoutAKindAreFinal(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
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
		"a refused connection":        {refused, provider.KindNetwork, false},
		"within a client's error":     {&url.Error{Op: "Post", URL: "https://acme.test", Err: refused}, provider.KindNetwork, false},
		"a name that is not found":    {&net.DNSError{Err: "no such host", Name: "acme.test", IsNotFound: true}, provider.KindNetwork, false},
		"a connection that is slow":   {&net.DNSError{Err: "no answer", Name: "acme.test", IsTimeout: true}, provider.KindTimeout, false},
		"a reply that was cut":        {fmt.Errorf("reading: %w", io.ErrUnexpectedEOF), provider.KindNetwork, false},
		"a deadline of the context's": {fmt.Errorf("acme: %w", context.DeadlineExceeded), provider.KindTimeout, false},
	} {
		for _, judge := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/judge: %t", name, judge), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
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
					session, err := engine.Start(t.Context(), config)
					require.NoError(t, err)
					defer session.Close()
					_, err = session.Wait(t.Context())
					stage.RequireKind(t, err, tc.kind)
					if tc.final {
						assert.Equal(t, 1, attempts)
					} else {
						assert.Greater(t, attempts, 1)
					}
				})
			})
		}
	}
}
