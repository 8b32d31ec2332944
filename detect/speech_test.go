package detect_test

import (
	"math/rand/v2"
	"strings"
)

// vocabulary are frequent words of a debate, the most frequent ones first.
var vocabulary = strings.Fields(`the of to and in that is it we for a not be on are this with as they but have what
cars city streets people can by who more their from will would an or at one has if than which do all cost public
transport space our centre residents shops evidence claim opponent argument because traffic air noise pollution
health children safe walking cycling bus tram parking drivers jobs business delivery weekend policy council vote
measure study show years fewer accidents emissions rent value price income poor rich fair unfair burden relief access
disabled elderly families suburb commute hour minute time money tax fund invest build road lane bridge tunnel rail
network plan pilot trial success failure example London Oslo Ghent Paris Madrid reduce increase change improve harm
benefit risk freedom choice right duty common good market demand supply trade turnover footfall visitors tourists
residents owners tenants evening night morning winter summer rain heat trees parks benches square history future`)

// sentence is 12 to 17 words, frequent ones more often, as in a language.
func sentence(random *rand.Rand) string {
	out := make([]string, 12+random.IntN(6))
	for i := range out {
		x := random.Float64()
		out[i] = vocabulary[int(x*x*float64(len(vocabulary)))]
	}
	out[0] = strings.ToUpper(out[0][:1]) + out[0][1:]
	return strings.Join(out, " ")
}

// speech is that many sentences; 20 of them are about 290 words.
func speech(random *rand.Rand, sentences int) []string {
	out := make([]string, sentences)
	for i := range out {
		out[i] = sentence(random)
	}
	return out
}

func text(speech []string) string { return strings.Join(speech, ". ") + "." }

// chinese is that many random characters.
func chinese(random *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteRune('一' + rune(random.IntN(3000)))
	}
	return b.String()
}
