package main

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider/scripted"
)

// The debaters.
const ada, ben = "Ada", "Ben"

const (
	demoTopic = "Should cities ban private cars from their centres?"
	demoModel = "gpt-4.1-mini" // whose prices the demonstration shows
)

// demonstration returns a debate without a model: all its words are in this file. On a terminal it runs at
// the pace of a fast model.
func demonstration(o options, terminal bool) choice {
	rounds := min(o.rounds, len(rebuttals())+2)
	script := &scripted.Provider{VendorName: "openai", Replies: map[string][]scripted.Reply{}}
	for i, name := range []string{ada, ben} {
		for round := range rounds {
			reply := scripted.Reply{Text: speech(round, rounds)[i]}
			if terminal {
				reply.Delay, reply.ChunkSize = 300*time.Millisecond, 7
				reply.Interval = 80 * time.Millisecond / time.Duration(max(3, rounds))
			}
			script.Replies[name] = append(script.Replies[name], reply)
		}
	}
	for round := range rounds {
		script.Replies["judge"] = append(script.Replies["judge"], answer(assessment(round, rounds), terminal))
	}
	script.Replies["judge"] = append(script.Replies["judge"], answer(verdict(rounds), terminal))
	return choice{
		engine: &debate.Engine{Providers: map[string]debate.Provider{"demo": script}},
		config: debaters(demoTopic, rounds, "demo/"+demoModel, "demo/"+demoModel),
		note:   "No API key (see -help): this is a scripted demonstration" + limits(o, rounds) + ".",
		would:  demoModel,
	}
}

// limits says which of the flags a script cannot follow.
func limits(o options, rounds int) string {
	text := ""
	if o.rounds > rounds {
		text = fmt.Sprintf(" of %d rounds", rounds)
	}
	flags := slices.DeleteFunc(slices.Clone(o.set), func(flag string) bool { return flag == "-rounds" })
	if len(flags) > 0 {
		text += ", without " + strings.Join(flags, ", ")
	}
	return text
}

func answer(of any, terminal bool) scripted.Reply {
	text, err := json.Marshal(of)
	reply := scripted.Reply{Text: string(text), Err: err}
	if terminal {
		reply.Delay = 700 * time.Millisecond
	}
	return reply
}

// speech returns what Ada and Ben say in a round, counted from 0.
func speech(round, rounds int) [2]string {
	switch round {
	case 0:
		return openings()
	case rounds - 1:
		return closings()
	default:
		return rebuttals()[round-1]
	}
}

func openings() [2]string {
	return [2]string{
		"A city centre is the one place where room is dearer than speed, and we hand most of it to machines " +
			"that stand still for twenty-three hours of the day. Take private cars out of it and you gain three things " +
			"at once: air that the people above the street can breathe, buses that keep their timetable, and shops that " +
			"everybody can reach, not only whoever finds a space to park.\n\n" +
			"It has been done, and without waiting for a metro. Pontevedra closed its core to through traffic a " +
			"generation ago, and people moved back in. Ghent followed with a plan that it switched on over one weekend. " +
			"Deliveries and disabled drivers keep their way in. What goes is the habit of driving in because nobody asks why.",
		"Ada has the right aim and the wrong tool. A ban treats the night nurse, the plumber with two hundred " +
			"kilos of tools and the man who drives three streets out of laziness as one and the same person. A price tells " +
			"them apart. Stockholm put a charge on its cordon, traffic across it fell by about a fifth, and it stayed " +
			"down, with nobody in an office deciding whose errand counts.\n\n" +
			"Such an office is what a ban always grows. You have already named two exceptions, Ada, and you have " +
			"spoken for one minute. Each has to be applied for, checked and defended, and the permits end up with those who " +
			"know how to ask. A charge asks everybody the same question, pays for the buses you want, and is mended with " +
			"a new number if we got it wrong.",
	}
}

func rebuttals() [][2]string {
	return [][2]string{
		{
			"Ben says that a price asks everybody the same question. It does not. To a consultant it is small change, to " +
				"a cleaner it is an hour's wage, and so the street is cleared of those who could least afford another way. " +
				"If permits favour whoever knows how to ask, Ben, prices favour whoever need not ask at all.\n\n" +
				"And a fifth fewer cars is a quieter jam, not a square where a child can run. The gain does not come " +
				"with the fifth car that leaves but with the last one: only then can you take up the asphalt, plant trees and " +
				"lay a tram at street level. As for my two exceptions, a register and a few cameras handle them in Ghent; " +
				"no office weighs anybody's errand.",
			"The cleaner you speak for, Ada, does not drive to the centre today: she could never pay for the parking. " +
				"She rides the bus, and the bus is what the charge pays for. London is bound by law to spend its charge on " +
				"transport. A ban raises nothing, and gives her bus no driver.\n\n" +
				"I grant you the square. Some streets are worth most with no car in them, and I would close those " +
				"tomorrow. But you argue from the square to the whole centre, and your last car does not vanish at the " +
				"border: it circles in the next district, whose people nobody asked. A price can be set there too. A ban can " +
				"only move its line.",
		},
		{
			"Then let us follow that last car, Ben. When Ghent closed its core, the traffic did not simply move next door; " +
				"a good part of it was never driven again, because a short trip that becomes a detour becomes a bicycle ride. " +
				"Those are the trips that fill a centre, and no charge makes a detour of them.\n\n" +
				"You also count on money that a good charge destroys. The better it works, the fewer pay, and in the tenth " +
				"year the bus hangs on a tax that has talked its payers out of coming. Asphalt that is gone costs nothing to " +
				"keep closed.",
			"Ada, if trips vanish when they become a nuisance, they vanish when they become dear: it is the same driver " +
				"making the same sum. The difference is what we learn. A price shows every evening what the last trip was " +
				"worth to somebody. A detour shows nothing but the kilometres of those who had to come anyway, your " +
				"deliveries among them.\n\n" +
				"And a charge that has worked itself out of money has done its job; a bus line is kept by many hands. What I " +
				"would not do is lay a plan that cannot be corrected. You praise it that the asphalt is gone. I would " +
				"like to have been right first.",
		},
		{
			"Ben would like to be right first, and so every city has waited since the first traffic count. A plan can be " +
				"tried as well: a planter is moved with a forklift, in one morning. What cannot be moved back is a decade of " +
				"children who learned that the street is not for them.\n\n" +
				"We do not sell by the hour the right to smoke in a ward, although some would pay well. We decide what the " +
				"room is for. A centre is for staying, Ben, and I have yet to hear what a price per passage has to do " +
				"with that.",
			"It has this to do with it, Ada: somebody has to keep coming for the place to be worth staying in. The bakery " +
				"needs its flour at five and its customers from the villages at ten, and no bus leaves the villages at half " +
				"past nine. You answer each such case with one more exception; I answer all of them with one number.\n\n" +
				"Your planters please me more than your asphalt. Put them out, count for a year, charge for the streets " +
				"around them. If the square fills, we have both won; if it empties, only one of us can still change course.",
		},
	}
}

func closings() [2]string {
	return [2]string{
		"What stands is this: room in a centre is given to somebody in any case, and a debate about prices only settles " +
			"who may buy it. Ben has shown that exceptions need rules. He has not shown a city that regretted its car-free " +
			"core, and those that have one keep making it larger.\n\n" +
			"I accept that the districts at the edge must not pay for the middle, so the plan has to be drawn for " +
			"both. But a plan it must be. A fifth fewer cars leaves the street what it was, a road with a fee; none at all " +
			"makes it a place. That is the whole choice, and I would make it now.",
		"Ada has made the better picture, and I concede a part of it: where people stay, in the squares and the lanes, cars " +
			"have no business, and no price should let them in. That is where a ban is the honest tool.\n\n" +
			"For the rest of the centre my case stands. Needs differ, no list can follow them, and a charge does so " +
			"without asking for reasons while it pays for the way in that most people use. It can begin next spring, be " +
			"measured by summer and be corrected by autumn. Close the squares, price the streets, and let the count of " +
			"both tell us which of us was too careful.",
	}
}

// assessment returns the judge's assessment of a round, counted from 0.
func assessment(round, rounds int) debate.Judgement {
	marks := func(quality, a, b float64, reasoning string) debate.Judgement {
		j := debate.Judgement{
			ShouldContinue: round < rounds-1,
			QualityScore:   quality,
			Assessments: []debate.ParticipantMark{
				{Participant: ada, Strengths: []string{"cities by name"}, Weaknesses: []string{"thin on who pays"}, Score: a},
				{Participant: ben, Strengths: []string{"answers what was said"}, Weaknesses: []string{"leans on one city"}, Score: b},
			},
			Reasoning: reasoning,
		}
		if !j.ShouldContinue {
			j.Ending = "Both have conceded what they concede; what is left is a matter of which risk to bear."
		}
		return j
	}
	switch round {
	case 0:
		return marks(7.5, 7.5, 8, "Both name cities; Ben alone answers his opponent, on exceptions.")
	case rounds - 1:
		return marks(8, 8, 8, "Both concede a part and say exactly where they still differ.")
	case 1:
		return marks(8.5, 8.5, 8.5, "A real clash: fairness of money against fairness of permits.")
	case 2:
		return marks(8, 7.5, 8.5, "Ben turns the vanished trips to his side; Ada finds no reply.")
	default:
		j := marks(7, 7.5, 7, "Good images, but the arguments begin to come round again.")
		j.Flags.Repetitive, j.Flags.DiminishingReturns = true, true
		return j
	}
}

func verdict(rounds int) debate.FinalVerdict {
	v := debate.FinalVerdict{
		Summary: "Ada argued that a centre becomes a place only once the last car has left; Ben, that a charge reaches the same " +
			"relief without an office for exceptions and pays for the buses.",
		KeyPoints: []debate.KeyPoints{
			{Participant: ada, MainArguments: []string{"room is what a centre lacks", "cities have done it and keep at it"}},
			{Participant: ben, MainArguments: []string{"a price needs no list of exceptions", "it pays for the way in that most use"}},
		},
		AreasOfAgreement: []string{"cars have no business where people stay", "the districts around must not pay for the centre"},
		AreasOfDisagreement: []string{
			"whether the streets between the squares are closed or priced",
			"whether a price is fair to those with little",
		},
		Winner: &debate.Winner{
			Participant: ben,
			Reasoning:   "By a little: his concession made his case stronger, and Ada's made hers larger.",
		},
		Scores:       map[string]float64{ada: 80, ben: 83},
		Criteria:     map[string]string{"evidence": "cities by name on both sides, few figures", "engagement": "close and fair"},
		QualityScore: 81,
		Insights:     []string{"The quarrel is less about cars than about who decides: a rule or a price."},
	}
	if rounds == 1 { // there were no closings
		v.Winner.Reasoning = "By a little: Ada laid out a case, Ben laid out one and answered hers."
		v.AreasOfAgreement = []string{"there are too many cars in the centre"}
		return v
	}
	v.Summary += " They met on the squares and parted on the streets between them."
	return v
}
