package main

import (
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// script plays both, at the pace of a fast model. Its pages do not exist.
func script() *scripted.Provider {
	return &scripted.Provider{Replies: map[string][]scripted.Reply{
		"Ada": {
			reply(
				"What is the strongest ground? Cost is small since the lamps are LEDs. Sleep and insects are better documented. "+
					"The fear of crime will come: look for a county that has tried it.",
				"Light at night has a price that no bill shows. Moths under lamps visit fewer flowers, and people sleep worse. "+
					"And the dark hour is not the dangerous one: where lamps were switched off, crime did not rise.",
				page{"Moths under lamps", "Moths at lit sites", "https://meadow.example/moths-and-lamps", "Visits to flowers fell by about a half."},
				page{"crime did not rise", "Part-night lighting in eleven districts", "https://county.example/lighting/report.pdf", ""},
			),
			reply(
				"He has a point about the station. Do not deny it; take it into the proposal.",
				"Then leave the lamps on at the station and at crossings, and dim the rest. That is what towns do that have kept it up.",
				page{"what towns do", "Dark streets, five years on", "https://towns.example/dark-streets", "Every second lamp, and all at crossings."},
			),
		},
		"Ben": {
			reply(
				"Her report is an average of districts. Are there places inside it where it was worse? The walk from the last train.",
				"An average hides the places that matter. Thefts from cars moved to the streets that were dark, and "+
					"who comes from the last train walks home through them.",
				page{"Thefts from cars", "Where thieves go when it is dark", "https://streets.example/theft?y=24", "They followed the dark."},
			),
			reply(
				"She concedes the station. What is left is dimming: agree with it, and say that this is not the motion.",
				"I would vote for dimming. But it is not the motion, which puts the lights out.",
			),
		},
	}}
}

// page is a page on the web on which a passage rests.
type page struct{ passage, title, url, quote string }

// reply is a reply with its thoughts and its sources, as an adapter yields it.
func reply(thoughts, text string, pages ...page) scripted.Reply {
	r := scripted.Reply{Text: text, Reasoning: thoughts, Chunks: 10, Delay: 300 * time.Millisecond, Interval: 50 * time.Millisecond}
	for _, p := range pages {
		start := strings.Index(text, p.passage)
		r.Citations = append(r.Citations, provider.Citation{
			Title: p.title, URL: p.url, Quote: p.quote, Start: start, End: start + len(p.passage),
		})
	}
	return r
}
