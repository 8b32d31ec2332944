package web

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
)

// forwarding are the headers that proxies add. A request with one comes from elsewhere, whatever its address says.
//
//nolint:gochecknoglobals // read only
var forwarding = []string{"Forwarded", "Via", "X-Real-Ip"}

// local returns why a request is none of this machine; nil: it is one. Without Options.Authorize no other is served. The host is
// checked too: a page elsewhere can give its own name this machine's address, and would read the answers then.
func local(r *http.Request) error {
	const mend = "set web.Options.Authorize to serve others"
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !peer.Addr().Unmap().IsLoopback() {
		return &DeniedError{Err: errors.New("only this machine is served: " + mend)}
	}
	if !r.ProtoAtLeast(1, 1) { // a proxy can be silent about itself, and nothing else speaks it any more
		return &DeniedError{Err: errors.New("HTTP/1.0 is spoken by proxies, and only this machine is served: " + mend)}
	}
	for name := range r.Header {
		if slices.Contains(forwarding, name) || strings.HasPrefix(name, "X-Forwarded-") {
			return &DeniedError{Err: fmt.Errorf("the header %s says that a proxy has sent this, and only this machine is served: %s",
				text.OneLine(name, 40), mend)}
		}
	}
	host := r.Host
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	switch strings.ToLower(host) {
	case "localhost", "127.0.0.1", "::1", "[::1]":
		return nil
	default:
		return &DeniedError{Err: fmt.Errorf("the host is %q: ask localhost, or %s", text.OneLine(host, 80), mend)}
	}
}
