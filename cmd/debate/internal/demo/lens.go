package demo

import "strings"

// lens is how an agent looks at any problem: what its role makes it say.
type lens struct {
	words []string // one of them stands in the agent's id or in what it is told of itself
	title string   // of its proposal
	cares string   // what it asks for first
	steps []string // what it proposes
	risk  string   // what it is afraid of
	asks  string   // what it would ask a person
	gives string   // what it learns from the critiques
}

// lenses returns those of the roles. The last one fits everybody.
func lenses() []lens {
	return []lens{
		{
			words: []string{"architect"}, title: "parts with one duty each", cares: "clear borders between the parts",
			steps: []string{
				"**Intake** takes a request in, checks it once, and gives it one form. Nothing behind it checks again.",
				"**Decision** holds the rules as plain functions without input or output, so that they can be read and tested alone.",
				"**Record** keeps what was decided, append-only; everything that is shown is made from it.",
			},
			risk:  "two parts come to share one piece of state, and neither can be changed alone",
			asks:  "Which part will have to change first once this is in use?",
			gives: "the border between decision and record is now a written contract with its own tests",
		},
		{
			words: []string{"performance", "scalab"}, title: "measure first, then spend", cares: "a number for every promise",
			steps: []string{
				"Write down the load that is expected, its peak, and the time within which the slowest one in a hundred is served.",
				"Keep the hot path short: one look-up, no call to another service, no lock that all share.",
				"Put a bound on every queue, and say what is refused when it is full.",
			},
			risk:  "the design is fast on average and slow at the very moment at which everybody needs it",
			asks:  "What is the peak load, and how late may an answer be at that time?",
			gives: "each step has a budget of its own, and a load test that fails when it is passed",
		},
		{
			words: []string{"simplicity", "kiss", "simple"}, title: "the least that does it", cares: "nothing that nobody has asked for",
			steps: []string{
				"Begin with one process, one store and one way in. That carries further than it looks.",
				"Use what the team knows already; a new tool has to pay for its first year.",
				"Write down what was left out, and the sign by which one sees that it is needed after all.",
			},
			risk:  "parts are built for a future that does not come, and have to be kept alive meanwhile",
			asks:  "Which of the requirements could be dropped for the first version?",
			gives: "two parts of the first draft are gone, and nothing that was required went with them",
		},
		{
			words: []string{"security"}, title: "trust nothing that comes in", cares: "who may do what, and how one would notice otherwise",
			steps: []string{
				"List what is worth protecting, and from whom: outsiders, tenants, one's own operators.",
				"Check identity and permission at the one way in, and deny what is not named.",
				"Keep secrets out of logs, give each a short life, and record each use of a right in a trail that cannot be edited.",
			},
			risk:  "something from outside is believed because it came through a door that was meant for friends",
			asks:  "Who could gain from breaking this, and what would that cost you?",
			gives: "the inner way in asks for the same proof as the outer one",
		},
		{
			words: []string{"testing", "quality", "test engineer"}, title: "a test for each promise", cares: "how one sees that it works",
			steps: []string{
				"Turn each requirement into an example with an input and an outcome, before anything is built.",
				"Let time, chance and the network come in as arguments, so that a test can set them.",
				"Break each part on purpose, once, and look whether a test notices.",
			},
			risk:  "the tests repeat what the code does and stay green when it is wrong",
			asks:  "By which observation would you call this finished?",
			gives: "the two requirements that had no example have one now, and one of them turned out to be unclear",
		},
		{
			words: []string{"data"}, title: "the data outlive the program", cares: "what is stored, who owns it, and for how long",
			steps: []string{
				"Name the few things that the domain talks about, and give each one owner and one identity.",
				"Store facts with their time, and derive the present state from them.",
				"Say for each field who may change it, and when it is deleted.",
			},
			risk:  "the same fact is stored in two places, and one day they disagree",
			asks:  "Which of these data must still be readable in five years?",
			gives: "the duplicate is now derived from its source, and can be rebuilt",
		},
		{
			title: "small steps that can be taken back", cares: "a result that somebody can use soon",
			steps: []string{
				"Write down for whom this is, and the one thing that has to be better for them afterwards.",
				"Build the smallest whole that they can use, and let them use it.",
				"Decide the next step by what they did, and make each step easy to take back.",
			},
			risk:  "much is decided early, when least is known",
			asks:  "Who uses the result first, and what do they do today instead?",
			gives: "the order of the steps is now by what they teach, not by what is easy",
		},
	}
}

// lensOf returns the lens that fits what an agent is told of itself.
func lensOf(about string) lens {
	all := lenses()
	about = strings.ToLower(about)
	for _, l := range all {
		if hasOne(about, l.words...) {
			return l
		}
	}
	return all[len(all)-1]
}
