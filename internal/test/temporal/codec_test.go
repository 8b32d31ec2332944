package temporal_test

import (
	"crypto/aes"
	"crypto/cipher"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.temporal.io/api/common/v1"
	"google.golang.org/protobuf/proto"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/runtime/temporal"
)

// seal is a payload codec that encrypts payloads, with a key that everybody knows.
type seal struct{}

func (seal) cipher() (cipher.AEAD, error) {
	block, err := aes.NewCipher(make([]byte, 16))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Encode implements converter.PayloadCodec.
func (s seal) Encode(payloads []*common.Payload) ([]*common.Payload, error) {
	box, err := s.cipher()
	if err != nil {
		return nil, err
	}
	sealed := make([]*common.Payload, len(payloads))
	for i, payload := range payloads {
		data, err := proto.Marshal(payload)
		if err != nil {
			return nil, err
		}
		sealed[i] = &common.Payload{Metadata: map[string][]byte{"encoding": []byte("binary/sealed")}, Data: box.Seal(nil, nil, data, nil)}
	}
	return sealed, nil
}

// Decode implements converter.PayloadCodec.
func (s seal) Decode(sealed []*common.Payload) ([]*common.Payload, error) {
	box, err := s.cipher()
	if err != nil {
		return nil, err
	}
	payloads := make([]*common.Payload, len(sealed))
	for i, payload := range sealed {
		data, err := box.Open(nil, nil, payload.GetData(), nil)
		if err != nil {
			return nil, err
		}
		payloads[i] = new(common.Payload)
		if err := proto.Unmarshal(data, payloads[i]); err != nil {
			return nil, err
		}
	}
	return payloads, nil
}

// With a payload codec, workflows, queries, updates and signals work, and a history can be read by nobody else.
func TestACodec(t *testing.T) {
	t.Parallel()
	c := newCluster(t, order{Latency: 100 * time.Millisecond, Sealed: true})
	c.worker(t)
	config := stage.TwoDebaters()
	config.ID, config.Rounds = "sealed", 6
	_, err := c.client.Start(t.Context(), config)
	require.NoError(t, err)
	status, err := c.update(t, config.ID, temporal.Control{Action: temporal.ActionPause, Drain: true})
	require.NoError(t, err)
	assert.Equal(t, flow.StatePaused, status.State)
	status, err = c.client.Status(t.Context(), config.ID)
	require.NoError(t, err)
	assert.Equal(t, flow.StatePaused, status.State)
	require.NoError(t, c.client.Temporal.SignalWorkflow(t.Context(), config.ID, "", temporal.ControlName,
		temporal.Control{Action: temporal.ActionResume}))
	status, err = c.client.Wait(t.Context(), config.ID)
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, status.State)
	written := 0
	for _, event := range c.history(t, config.ID, "") {
		data, err := proto.Marshal(event)
		require.NoError(t, err)
		assert.NotContains(t, string(data), `"id"`)
		if payloadOf(event) > 0 {
			written++
		}
	}
	assert.Positive(t, written)
}
