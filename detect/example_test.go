package detect_test

import (
	"fmt"

	"github.com/agonist-dev/debate/detect"
)

func ExampleOverlap() {
	fmt.Printf("%.2f\n", detect.Overlap("Cars harm the city.", "Do cars harm the city?"))
	// Output: 0.67
}

// A speech is cut up once and compared with many.
func ExampleShingle() {
	now := detect.Shingle("Trams are cheaper than a tunnel.")
	for _, text := range []string{"A tunnel is cheap.", "Trams are cheaper than buses.", "Trams are cheaper than a tunnel!"} {
		fmt.Printf("%.2f\n", now.Jaccard(detect.Shingle(text)))
	}
	// Output:
	// 0.00
	// 0.40
	// 1.00
}

func ExampleRepetition() {
	earlier := []detect.Shingles{
		detect.Shingle("A congestion charge cuts traffic by a fifth, as London shows."),
		detect.Shingle("Shops gain more customers on foot than they lose by car."),
	}
	now := detect.Shingle("Once more: a congestion charge cuts traffic by a fifth, as London shows.")
	found := detect.Repetition(earlier, now)
	fmt.Println(found.Level)
	fmt.Println(found.Evidence)
	// Output:
	// strong
	// The overlap with the speaker's own speeches is 0.818 at most (2 speeches before); 0.12 is noticeable, 0.30 repetitive.
}

func ExampleDiminishing() {
	found := detect.Diminishing([]detect.Round{
		{Quality: 8, Novelty: 7},
		{Quality: 7.5, Novelty: 6.5},
		{Quality: 6, Novelty: 5},
		{Quality: 5, Novelty: 4},
		{Quality: 4.5, Novelty: 2.5},
	})
	fmt.Println(found.Found())
	fmt.Println(found.Evidence)
	// Output:
	// true
	// Returns diminish: quality fell by 0.95 a round over 5 rounds (t = 5.01, limit 4.54); novelty fell by 1.15 a round over 5 rounds (t = 6.06, limit 4.54).
}

func ExampleDrift() {
	found := detect.Drift(8, 7.5, 3)
	fmt.Println(found.Level)
	fmt.Println(found.Evidence)
	// Output:
	// noticeable
	// Relevance is 6.17 of 10 on average; 1 of 3 marks are below 5.
}
