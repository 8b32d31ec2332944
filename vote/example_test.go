package vote_test

import (
	"errors"
	"fmt"

	"github.com/agonist-dev/debate/vote"
)

func ExamplePlurality() {
	result := vote.Plurality([]string{"Ada", "Ada", "Ben", "Cy", ""})
	fmt.Println(result.Winner, result.Tally, result.Cast, result.Abstained)
	// Output: Ada [{Ada 2} {Ben 1} {Cy 1}] 4 1
}

// A panel of judges with a quorum of two: the votes say who, their number says whether it counts.
func ExampleMajority() {
	const quorum = 2
	result := vote.Majority([]string{"Ada", "Ada", "Ben", "", ""})
	fmt.Println(result.Winner, "needed", result.Needed, "of", result.Cast, result.Cast >= quorum)
	// Output: Ada needed 2 of 3 true
}

func ExampleSupermajority() {
	result, err := vote.Supermajority([]string{"adopt", "adopt", "adopt", "reject"}, 2, 3)
	fmt.Println(result.Winner, result.Needed, err)
	// Output: adopt 3 <nil>
}

func ExampleUnanimity() {
	result := vote.Unanimity([]string{"guilty", "guilty", "not guilty"})
	fmt.Printf("%q %v %v\n", result.Winner, result.Leaders, result.Tie())
	// Output: "" [guilty] false
}

func ExampleApproval() {
	result, err := vote.Approval([][]string{{"tram", "bus"}, {"bus"}, {"metro", "bus"}, {}})
	fmt.Println(result.Winner, result.Tally, err)
	// Output: bus [{bus 3} {metro 1} {tram 1}] <nil>
}

func ExampleBorda() {
	result, err := vote.Borda([][]string{
		{"tram", "bus", "metro"},
		{"tram", "bus", "metro"},
		{"bus", "metro", "tram"},
	})
	fmt.Println(result.Leaders, result.Tie(), result.Tally, err)
	// Output: [bus tram] true [{bus 8} {tram 8} {metro 2}] <nil>
}

func ExampleInstantRunoff() {
	result, err := vote.InstantRunoff([][]string{
		{"tram"},
		{"tram"},
		{"tram"},
		{"bus", "metro"},
		{"bus", "metro"},
		{"metro", "bus"},
		{"metro", "bus"},
		{"metro", "bus"},
	})
	for _, round := range result.Rounds {
		fmt.Println(round.Tally, "out:", round.Eliminated)
	}
	fmt.Println(result.Winner, err)
	// Output:
	// [{metro 3} {tram 3} {bus 2}] out: [bus]
	// [{metro 5} {tram 3}] out: []
	// metro <nil>
}

func ExampleCumulative() {
	result, err := vote.Cumulative([]map[string]int{{"tram": 5}, {"bus": 3, "metro": 2}, {"bus": 4}}, 5)
	fmt.Println(result.Winner, result.Tally, err)
	// Output: bus [{bus 7} {tram 5} {metro 2}] <nil>
}

func ExampleWeighted() {
	result, err := vote.Weighted([]vote.Choice{{"Ada", 0.9}, {"Ben", 0.4}, {"Ben", 0.35}})
	fmt.Println(result.Winner, result.Tally, err)
	// Output: Ada [{Ada 9000} {Ben 7500}] <nil>
}

// A broken ballot names its voter.
func ExampleBallotError() {
	voters := []string{"first juror", "second juror"}
	_, err := vote.Borda([][]string{{"Ada", "Ben"}, {"Ben", "Ben"}})
	if broken, ok := errors.AsType[*vote.BallotError](err); ok {
		fmt.Println("ask the", voters[broken.Ballot], "again: the ballot", broken.Reason)
	}
	// Output: ask the second juror again: the ballot names "Ben" twice
}
