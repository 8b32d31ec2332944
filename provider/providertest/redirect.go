package providertest

import (
	"fmt"
	"strconv"

	"github.com/agonist-dev/debate/provider"
)

// redirecting redirects the adapter elsewhere. Every exchange checks that nothing else is dialed.
func redirecting(h *HTTP) []check {
	whole := parse(h.Wholes[0].Answer).filled().plain().bytes()
	var list []check
	for _, status := range []int{301, 302, 303, 307, 308} {
		list = append(list, check{name: strconv.Itoa(status), run: func(x *bench) {
			for _, where := range []string{
				"http://elsewhere.test/v1?key=" + canary, "//elsewhere.test/v1", "http://" + home + "@elsewhere.test/",
				"http://" + home + ".elsewhere.test/", "https://" + home + "/v1", "http://" + home + ":8080/v1", "//" + home + ":443/",
				"", "http://%zz/", "ftp://" + home + "/", "/\x7f",
			} {
				out := x.play(refusal(status, "text/plain\n\nGo away.", "Location: "+where))
				x.wantOne(where, out.answer, provider.KindValidation, provider.KindNetwork, provider.KindAPI)
			}
			x.play(refusal(status, "text/plain\n\nGo away.")) // without a location
			out := x.try(exchange{most: 2, script: func(v *visit) {
				if v.number == 1 {
					v.send(refusal(status, "", "Location: /elsewhere"))
					return
				}
				v.send(whole)
			}})
			// On its own host it may follow, but only with the whole request.
			if n := len(out.visits); n > 1 && out.err == nil {
				first, last := out.visits[0], out.visits[n-1]
				if first.request.Method != last.request.Method || string(first.body) != string(last.body) {
					x.errorf("the answer to %s %s, without the prompt, was taken for the reply", last.request.Method, last.request.URL)
				}
			}
		}})
	}
	return append(list, check{name: "in a circle", run: func(x *bench) {
		out := x.try(exchange{most: 10, script: func(v *visit) {
			v.send(refusal(307, "", fmt.Sprintf("Location: /%d", v.number%2)))
		}})
		x.keyless(out.answer)
	}})
}
