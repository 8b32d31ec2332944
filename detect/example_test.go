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
		{Quality: 8, Novelty: 7, Words: 290},
		{Quality: 7.5, Novelty: 5, Words: 260},
		{Quality: 6, Novelty: 2.5, Words: 210},
	})
	fmt.Println(found.Found())
	fmt.Println(found.Evidence)
	// Output:
	// true
	// Returns diminish: quality fell from 8 to 6 and novelty from 7 to 2.5 over 3 rounds; speeches shrank from 290 to 210 words over 3 rounds.
}

func ExampleDrift() {
	found := detect.Drift(8, 7.5, 3)
	fmt.Println(found.Level)
	fmt.Println(found.Evidence)
	// Output:
	// noticeable
	// Relevance is 6.17 of 10 on average; 1 of 3 marks are below 5.
}
