package bedrock_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws/protocol/eventstream"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider/providertest"
)

// encode writes a frame, with its headers in the vendor's order.
func encode(payload string, headers ...string) []byte {
	m := eventstream.Message{Payload: []byte(payload)}
	for i := 0; i < len(headers); i += 2 {
		m.Headers.Set(headers[i], eventstream.StringValue(headers[i+1]))
	}
	var b bytes.Buffer
	_ = eventstream.NewEncoder().Encode(&b, m)
	return b.Bytes()
}

func frame(kind, data string) []byte {
	return encode(data, ":event-type", kind, ":content-type", "application/json", ":message-type", "event")
}

func exception(kind, message string) []byte {
	return encode(fmt.Sprintf(`{"message":%q}`, message), ":exception-type", kind, ":content-type", "application/json", ":message-type", "exception")
}

// framed makes the frames of an answer. In a fixture they are lines, so that they can be read: "event",
// "exception" or "error", the type, and the JSON as it is sent. A line "cut N" keeps only N bytes of the frame
// before it, and a line "flip N" changes the bits of its Nth byte.
func framed(t *testing.T, answer []byte) []byte {
	t.Helper()
	head, body, ok := bytes.Cut(answer, []byte("\n\n"))
	if !ok || !bytes.Contains(bytes.ToLower(head), []byte("application/vnd.amazon.eventstream")) {
		return answer
	}
	out := append(bytes.ReplaceAll(head, []byte("\n"), []byte("\r\n")), "\r\n\r\n"...)
	var last []byte
	for line := range strings.Lines(string(body)) {
		form, rest, _ := strings.Cut(strings.TrimRight(line, "\n"), " ")
		kind, data, _ := strings.Cut(rest, " ")
		var n int
		if form == "cut" || form == "flip" {
			_, err := fmt.Sscan(kind, &n)
			require.NoError(t, err)
		}
		switch form {
		case "event":
			out, last = append(out, last...), frame(kind, data)
		case "exception":
			out, last = append(out, last...), encode(data, ":exception-type", kind, ":content-type", "application/json", ":message-type", "exception")
		case "error":
			out, last = append(out, last...), encode("", ":error-code", kind, ":error-message", data, ":message-type", "error")
		case "cut":
			last = last[:n]
		case "flip":
			last[n] ^= 0xff
		case "":
		default:
			require.Fail(t, "no such line", line)
		}
	}
	return append(out, last...)
}

func faults(t *testing.T) []providertest.Fault {
	t.Helper()
	all := providertest.Faults(t, "testdata/fault")
	for i := range all {
		all[i].Answer = framed(t, all[i].Answer)
	}
	return all
}

func wholes(t *testing.T) []providertest.Whole {
	t.Helper()
	all := providertest.Wholes(t, "testdata/whole")
	for i := range all {
		all[i].Answer = framed(t, all[i].Answer)
	}
	return all
}
